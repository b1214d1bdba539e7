# An image of the package: npm pack && docker build -t firmlake .
# It runs as a user without rights, and with a read-only root where /tmp and /data can be written:
#   docker run --rm --read-only --tmpfs /tmp -v lake:/data -e FIRMLAKE_URL=… -e FIRMLAKE_TOKEN_FILE=… firmlake

FROM node:26.12.1-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# As the lock file has them; without tools and without optional parts.
RUN npm ci --omit=dev --omit=peer --ignore-scripts
# The parts that an image has: object storage and PostgreSQL (docs/dependencies.md). Modules of /app look in /node_modules too.
COPY etc/image-parts/package.json etc/image-parts/package-lock.json /parts/
RUN cd /parts && npm ci --ignore-scripts
COPY firmlake-*.tgz /tmp/
RUN tar -xzf /tmp/firmlake-*.tgz --strip-components=1 -C /app

FROM node:26.12.1-bookworm-slim
COPY --from=packages /app /app
COPY --from=packages /parts/node_modules /node_modules
# A copied folder would lose its mode.
RUN mkdir -m 0700 /data && chown 1000:1000 /data
ENV FIRMLAKE_LAKE=/data/lake FIRMLAKE_WORK_DIR=/tmp/firmlake HOME=/tmp
USER 1000:1000
WORKDIR /data
# V8 would let its young generation grow to 128 MiB.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/dist/cli/main.js"]
CMD ["nightly"]
