/**
 * The policy as an undici interceptor: what is above it sees one request and one sound answer, or one error.
 * The body goes to the call's receiver, so the answer that is passed on has none.
 */

import type { Dispatcher } from 'undici'
import type { Call } from './answer.ts'
import { type Policy, withRetries } from './policy.ts'
import { sendOnce } from './send-once.ts'

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

export const policyInterceptor =
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
