/** Address of Temporal's server and how it is reached: the address as given, TLS and API key from `TEMPORAL_…`. */

import { ServiceError } from '@temporalio/client'
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig'
import { ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'
import { VERSION } from '../../support/own-package.ts'

/** Server and queue to which runs are handed over. */
export interface TemporalPlace {
  /** `host:port`. @default `TEMPORAL_ADDRESS` */
  readonly address: string | undefined
  /** @default `TEMPORAL_NAMESPACE`, else `default` */
  readonly namespace: string | undefined
  /** @default `firmlake-` and the release: workflows and workers of one release belong together */
  readonly taskQueue: string | undefined
}

export interface TemporalAddress {
  readonly address: string
  readonly namespace: string
  readonly taskQueue: string
  readonly options: ClientConnectConfig['connectionOptions']
}

const TASK_QUEUE = `firmlake-${VERSION}`
export const CONNECT_WITHIN_MS = 10_000

/** @throws {ToolkitError} USAGE without an address, with an API key and no TLS, or where the environment cannot be read */
export const addressOf = (place: TemporalPlace): TemporalAddress => {
  const { connectionOptions, namespace } = settings()
  const address = place.address ?? connectionOptions.address
  if (!address)
    throw new ToolkitError(
      'USAGE',
      'Cannot reach Temporal: no address, give --temporal HOST:PORT or set TEMPORAL_ADDRESS',
    )
  if (connectionOptions.apiKey && !connectionOptions.tls && !isLoopback(address.replace(/:\d+$/, '')))
    throw new ToolkitError(
      'USAGE',
      `Cannot reach Temporal at ${address}: TEMPORAL_TLS=false would send TEMPORAL_API_KEY in the clear, expected TLS`,
    )
  return {
    address,
    namespace: place.namespace ?? namespace ?? 'default',
    taskQueue: place.taskQueue ?? TASK_QUEUE,
    options: { ...connectionOptions, address },
  }
}

/** Variables alone: a file in a home says what another program uses. */
const settings = (): ClientConnectConfig => {
  try {
    return loadClientConnectConfig({ disableFile: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ToolkitError('USAGE', `Cannot read the TEMPORAL_ variables: ${reason}`, {}, error)
  }
}

/** Codes of gRPC that a server answers a caller with whom it does not accept. */
const REFUSALS: ReadonlySet<unknown> = new Set([3, 5, 7, 16])

const grpcCode = (error: unknown): unknown => {
  const cause = error instanceof ServiceError ? error.cause : error
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

const REASON =
  /\b(NotFound|InvalidArgument|PermissionDenied|Unauthenticated)\b|Namespace [^ ]* (is )?not found/i

/** A failure to reach the server, as one of ours. It names the address, and never a key. */
export const connectError = (error: unknown, { address, namespace }: TemporalAddress): unknown => {
  if (error instanceof ToolkitError) return error
  const text = error instanceof Error ? error.message : String(error)
  const isRefused = REFUSALS.has(grpcCode(error)) || REASON.test(text)
  return isRefused
    ? new ToolkitError(
        'ENGINE_REFUSED',
        `Cannot use Temporal at ${address}: it does not accept this caller for namespace "${namespace}"`,
        { address },
        error,
      )
    : new ToolkitError(
        'ENGINE_UNREACHABLE',
        `Cannot reach Temporal at ${address}: nobody answers there`,
        { address },
        error,
      )
}
