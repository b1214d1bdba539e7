# An image of the package: npm pack && docker build -t firmlake .
# It runs as a user without rights, and with a read-only root where /tmp and /data can be written:
#   docker run --rm --read-only --tmpfs /tmp -v lake:/data -e FIRMLAKE_URL=… -e FIRMLAKE_TOKEN_FILE=… firmlake

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# As the lock file has them; without tools and without optional parts.
RUN npm ci --omit=dev --omit=peer --ignore-scripts
COPY firmlake-*.tgz /tmp/
RUN tar -xzf /tmp/firmlake-*.tgz --strip-components=1 -C /app && mkdir -m 0700 /data && chown 1000:1000 /data

FROM node:24-bookworm-slim
COPY --from=packages /app /app
COPY --from=packages --chown=1000:1000 /data /data
ENV FIRMLAKE_LAKE=/data/lake FIRMLAKE_WORK_DIR=/tmp/firmlake HOME=/tmp
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["nightly"]
