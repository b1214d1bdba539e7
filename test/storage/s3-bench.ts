/** A server with a bucket, what stands between, and storages on it: what the tests of S3 alone begin with. */

import { join } from 'node:path'
import { inspect } from 'node:util'
import type { TestContext } from 'vitest'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { FileFacts, Storage } from '../../src/storage/storage.ts'
import { sha256Of } from '../../src/support/hash.ts'
import {
  type Environment,
  type S3Server,
  s3Environment,
  startS3Server,
  stubEnvironment,
} from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Fate, type LoopbackProxy, type Passing, startProxy } from './loopback-proxy.ts'

export const LAKE = 's3://lakes/deep/lake'

/** Where a file of the lake stands on the server's disk: what is done to it there, no client is told of. */
export const objectFile = ({ folder }: S3Server, path: string): string =>
  join(folder, LAKE.slice('s3://'.length), path)

export interface Bench {
  readonly server: S3Server
  readonly proxy: LoopbackProxy
  /** A new storage object on the lake, through the proxy. */
  readonly open: () => Storage
}

/** `decide` is asked about every request; without one all are passed on. */
export const s3Bench = async (
  context: TestContext,
  decide: (passing: Passing, server: S3Server) => Fate | Promise<Fate> = () => undefined,
  environment: Environment = {},
): Promise<Bench> => {
  const server = await startS3Server(context)
  await server.makeBucket('lakes')
  const proxy = await startProxy(server.endpoint, (passing) => decide(passing, server))
  const { accessKey, secretKey } = server
  const own = s3Environment({ endpoint: proxy.endpoint, accessKey, secretKey }, await temporaryFolder())
  stubEnvironment({ ...own, ...environment })
  return { server, proxy, open: () => openStorage(LAKE) }
}

export const factsOf = (path: string, data: string | Uint8Array): FileFacts => ({
  path,
  bytes: Buffer.byteLength(data),
  sha256: sha256Of(data),
})

/** All that an error tells, its causes and hidden members too. */
export const allOf = (error: unknown): string => inspect(error, { depth: 20, showHidden: true })
