/**
 * The connection to a bucket of S3, opened at its first use, and what each command needs of it. The SDK is loaded
 * then, with its own configuration and what a lake needs beyond it.
 */

import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { ToolkitError } from '../../core/errors.ts'
import { requirePart } from '../../core/optional-parts.ts'
import { isLoopback } from '../../support/http-values.ts'
import { homeFolder } from '../../support/work-base.ts'
import { nameOf, type Patience } from '../object-store.ts'
import { keyOf, type S3Address } from './s3-address.ts'
import { storageError } from './storage-error.ts'

/** The SDK's module and a client of it. */
export interface S3 {
  readonly sdk: typeof import('@aws-sdk/client-s3')
  readonly client: S3Client
}

/** About a quarter of a minute of waiting in all, in the mean: a server that starts again is back by then. */
const ATTEMPTS = 10
const CONNECT_TIMEOUT_MS = 5_000
/** Longest silence on a connection. Ending a large multipart upload is the slowest answer there is. */
const SILENCE_TIMEOUT_MS = 60_000
const DEFAULT_REGION = 'us-east-1'

/** The number of attempts: the caller's, else that of AWS's variable, else the one for loads. */
const attemptsOf = (patience: Patience | undefined): Pick<S3ClientConfig, 'maxAttempts'> => {
  if (patience) return { maxAttempts: patience.attempts }
  return process.env.AWS_MAX_ATTEMPTS ? {} : { maxAttempts: ATTEMPTS }
}

const settings = (patience?: Patience): S3ClientConfig => ({
  retryMode: 'standard',
  ...attemptsOf(patience),
  requestHandler: {
    connectionTimeout: Math.min(CONNECT_TIMEOUT_MS, patience?.silenceMs ?? CONNECT_TIMEOUT_MS),
    socketTimeout: patience?.silenceMs ?? SILENCE_TIMEOUT_MS,
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not turn it off.
    httpsAgent: { rejectUnauthorized: true },
  },
  followRegionRedirects: true,
  // Table files are checked by SHA-256 and snapshots by their own hash: a changed one is to be reported, not retried.
  responseChecksumValidation: 'WHEN_REQUIRED',
})

/** @throws {ToolkitError} `STORAGE_REFUSED` where rows and session tokens would go by plain http beyond this machine */
const checkEndpoint = (endpoint: string): void => {
  const url = URL.parse(endpoint)
  if (url?.protocol !== 'http:' || isLoopback(url.hostname) || process.env.AWS_ALLOW_HTTP === 'true') return
  throw new ToolkitError(
    'STORAGE_REFUSED',
    `Cannot use the object storage at "${url.host}": plain http is only for this machine, expected an endpoint with https; ` +
      'AWS_ALLOW_HTTP=true allows it, and others may read and change what is sent',
  )
}

/**
 * Opens a client as the environment and the AWS profile say: endpoint, region, credentials. An endpoint of one's
 * own is addressed by path, since few have a host name for each bucket, and needs no region.
 *
 * @throws {ToolkitError} `STORAGE_REFUSED` where no region is known, or the endpoint is plain http; `PACKAGE_MISSING`
 */
const openS3 = async (patience?: Patience): Promise<S3> => {
  requirePart('s3')
  const sdk = await import('@aws-sdk/client-s3')
  // The SDK asks for a home whatever is configured, and fails where the user has none.
  process.env.HOME ||= homeFolder()
  const configured = new sdk.S3Client(settings(patience))
  const endpoint = await configured.config.serviceConfiguredEndpoint?.()
  const region = (await configured.config.region().catch(() => undefined)) || undefined
  if (endpoint === undefined && region !== undefined) return { sdk, client: configured }
  configured.destroy()
  if (endpoint === undefined)
    throw new ToolkitError(
      'STORAGE_REFUSED',
      'Cannot use the object storage: no region is configured, set AWS_REGION',
    )
  checkEndpoint(endpoint)
  const own = { ...settings(patience), endpoint, forcePathStyle: true, region: region ?? DEFAULT_REGION }
  return { sdk, client: new sdk.S3Client(own) }
}

export class S3Connection {
  readonly address: S3Address
  #opening: Promise<S3> | undefined

  readonly #patience: Patience | undefined

  constructor(address: S3Address, patience?: Patience) {
    this.address = address
    this.#patience = patience
  }

  /** `s3://bucket/prefix/path`, as messages name it. */
  name(path: string): string {
    return nameOf(this, path)
  }

  /** Bucket and key of a path, as every command takes them. */
  at(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.address.bucket, Key: keyOf(this.address, path) }
  }

  open(): Promise<S3> {
    // A failure is not kept: the next call may find a region or credentials.
    this.#opening ??= openS3(this.#patience).catch((error: unknown) => {
      this.#opening = undefined
      throw storageError(`Cannot open "${this.address.uri}"`, error)
    })
    return this.#opening
  }

  /** Runs commands; what goes wrong becomes the toolkit's error. */
  async run<T>(action: string, work: (s3: S3) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const s3 = await this.open()
    try {
      return await work(s3)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ToolkitError) throw error
      throw storageError(action, error)
    }
  }
}
