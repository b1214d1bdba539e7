/**
 * The way to the service: undici's connections, with the token on every request and the retry policy as an
 * interceptor. Its caller sees one request and one sound answer, or one error; bodies go to the call's receiver.
 */

import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { ToolkitError } from '../../core/errors.ts'
import { VERSION } from '../../support/own-package.ts'
import type { Address } from './address.ts'
import type { AnswerHead, Call } from './answer.ts'
import { type Policy, withRetries } from './policy.ts'
import { sendOnce } from './send-once.ts'
import type { ServiceClock } from './service-clock.ts'
import type { Timing } from './timing.ts'
import { errorWithoutToken } from './token.ts'

/** The answer is over when it is passed on: there is nothing left to stop or to hold. */
const FINISHED: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

const policyInterceptor =
  (policy: Policy, call: Call): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const attempt = () =>
      sendOnce(policy, call, dispatch, {
        ...options,
        headers: { ...headersOf(options), ...call.headers?.() },
      })
    withRetries(policy, call, attempt).then(
      ({ status, headers }) => {
        handler.onRequestStart?.(FINISHED, {})
        handler.onResponseStart?.(FINISHED, status, { ...headers })
        handler.onResponseEnd?.(FINISHED, {})
      },
      (error: unknown) => handler.onResponseError?.(FINISHED, asError(error)),
    )
    return true
  }

/** Only plain objects of headers are given in this room. */
const headersOf = ({ headers }: Dispatcher.DispatchOptions): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )

export interface Timeouts {
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
}

export interface Request {
  readonly method: 'GET' | 'POST'
  /** Below the base address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ServiceConnection {
  readonly timing: Timing
  readonly clock: ServiceClock
  readonly token: string
  /** Address of the service with the path that stands before all others. */
  readonly base: string
  /** Largest body that is held whole, decompressed, in bytes. */
  readonly maxBodyBytes: number
  /** Largest listing, decompressed, in bytes. */
  readonly maxListingBytes: number
  /** Sends a request until the call's receiver has taken an answer. @throws {ToolkitError} */
  readonly send: (request: Request, call: Call) => Promise<AnswerHead>
  readonly close: () => Promise<void>
}

const agentOf = ({ loopback }: Address, connections: number, timeouts: Timeouts): Dispatcher => {
  // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not turn it off.
  const tls = { rejectUnauthorized: true }
  const options = {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeouts.headersTimeoutMs,
    bodyTimeout: timeouts.bodyTimeoutMs,
    connect: { ...tls, timeout: timeouts.connectTimeoutMs },
  }
  // A proxy could not reach this machine, and would see the token where the address is plain http.
  return loopback ? new Agent(options) : proxyAgent(options, timeouts)
}

/** @throws {ToolkitError} ADDRESS_REFUSED where the environment's proxy has no usable address */
const proxyAgent = (options: Agent.Options, { connectTimeoutMs }: Timeouts): Dispatcher => {
  const tls = { rejectUnauthorized: true, timeout: connectTimeoutMs }
  try {
    return new EnvHttpProxyAgent({
      ...options,
      requestTls: tls,
      proxyTls: tls,
      // A proxy that takes the connection and says nothing would else be waited for for five minutes, each attempt.
      clientFactory: (proxy, more) => new Pool(proxy, { ...more, headersTimeout: connectTimeoutMs }),
    })
  } catch {
    // The address itself is not repeated: it may hold a password.
    const text = 'Cannot use the proxy that HTTPS_PROXY or HTTP_PROXY names: it is no web address'
    throw new ToolkitError('ADDRESS_REFUSED', text)
  }
}

export const openConnection = (
  address: Address,
  policy: Policy,
  options: Timeouts & {
    readonly token: string
    readonly concurrency: number
    readonly maxBodyBytes: number
    readonly maxListingBytes: number
    readonly clock: ServiceClock
  },
): ServiceConnection => {
  const agent = agentOf(address, options.concurrency, options)
  const shared = {
    authorization: `Bearer ${options.token}`,
    accept: 'application/json',
    'user-agent': `firmlake/${VERSION}`,
  }
  return {
    timing: policy.timing,
    clock: options.clock,
    token: options.token,
    base: address.origin + address.prefix,
    maxBodyBytes: options.maxBodyBytes,
    maxListingBytes: options.maxListingBytes,
    send: async ({ method, path, headers, body }, call) => {
      const answer = await agent
        .compose(policyInterceptor(policy, call))
        .request({
          origin: address.origin,
          path: address.prefix + path,
          method,
          headers: { ...shared, ...headers },
          ...(body !== undefined && { body }),
        })
        .catch((error: unknown) => {
          throw errorWithoutToken(error, options.token)
        })
      // The body went to the receiver; what is left here is empty, and has to be said to be read.
      await answer.body.dump()
      return { status: answer.statusCode, headers: answer.headers }
    },
    close: () => agent.destroy(),
  }
}
