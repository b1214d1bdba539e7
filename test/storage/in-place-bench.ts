/** A lake in a bucket behind a proxy that counts, and httpfs to read it in place: what tests of that begin with. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, type TestContext, vi } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { SAMPLE, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import { type CountingProxy, openCountingProxy } from '../support/counting-proxy.ts'
import { HTTPFS, missingHttpfs } from '../support/httpfs.ts'
import { needs } from '../support/needs.ts'
import { missingS3Server, openS3Server, type S3Server, s3Environment } from '../support/s3-server.ts'

export const PLACE = 's3://lakes/deep/lake'

export interface InPlaceBench {
  readonly server: S3Server
  readonly proxy: CountingProxy
}

const missing = (): string | undefined => missingS3Server() ?? missingHttpfs()

/** Five companies of the sample once more, so that these have two versions, and a line that is quarantined. */
const writeSecondFile = async (path: string): Promise<void> => {
  const lines = brotliDecompressSync(await readFile(SAMPLE_COMPANIES))
    .toString()
    .split('\n')
    .slice(0, 5)
  await writeFile(path, [...lines, '{"bad', ''].join('\n'))
}

const open = async (): Promise<InPlaceBench & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-in-place-'))
  const server = await openS3Server()
  await server.makeBucket('lakes')
  const proxy = await openCountingProxy(server.endpoint)
  const { accessKey, secretKey } = server
  // A name, as real endpoints have: whoever connects has to resolve it.
  const endpoint = proxy.endpoint.replace('127.0.0.1', 'localhost')
  const environment = s3Environment({ endpoint, accessKey, secretKey }, join(folder, 'work'))
  for (const [name, value] of Object.entries({ ...environment, FIRMLAKE_HTTPFS: HTTPFS }))
    vi.stubEnv(name, value)
  const second = join(folder, 'second.jsonl')
  await writeSecondFile(second)
  await convert({ from: [SAMPLE], lake: PLACE })
  await convert({ from: [second], lake: PLACE, maxQuarantined: '50%' })
  return {
    server,
    proxy,
    [Symbol.asyncDispose]: async () => {
      vi.unstubAllEnvs()
      await proxy[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * One server and one lake for all tests of a file: companies of two versions, relations, and a line in quarantine.
 *
 * @returns gives the bench to a test, or skips it where a tool is missing
 */
export const inPlaceBench = (): ((context: TestContext) => InPlaceBench) => {
  let bench: (InPlaceBench & AsyncDisposable) | undefined
  beforeAll(async () => {
    if (missing() === undefined) bench = await open()
  })
  afterAll(() => bench?.[Symbol.asyncDispose]())
  return (context) => {
    needs(context, "versitygw and DuckDB's httpfs, which .ci/install-tools installs", missing())
    if (bench === undefined) throw new TypeError('The bench was not opened')
    return bench
  }
}
