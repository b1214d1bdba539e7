/** What a status means to the policy: ask again, wait, or give up with which error. */

import { ToolkitError } from '../../core/errors.ts'
import { dateOf, retryAfterMs } from '../../support/http-values.ts'
import type { AnswerHead, Call, Outcome } from './answer.ts'

/** The origin of a redirect's target: its path may hold anything. */
const targetOf = ({ headers }: AnswerHead): string => {
  const { location } = headers
  const url = typeof location === 'string' ? URL.parse(location) : null
  return url ? ` to "${url.origin}"` : ''
}

const finalError = (call: Call, head: AnswerHead, body: string): ToolkitError => {
  const { status } = head
  const error = (code: ConstructorParameters<typeof ToolkitError>[0], said: string): ToolkitError =>
    new ToolkitError(code, `${call.action}: ${said}`, { status })
  if (status < 300) return error('ANSWER_INVALID', `the service answered ${status}, expected 200`)
  if (status < 400)
    return error(
      'SERVICE_REDIRECTED',
      `the service answered ${status} with a redirect${targetOf(head)}, which is not followed`,
    )
  if (status === 400 && call.refusal) return call.refusal(body)
  if (status === 401) return error('TOKEN_REFUSED', 'the service does not accept the token (401)')
  if (status === 403) return error('SERVICE_FORBIDDEN', 'the token may not do this (403)')
  if (status === 404) return error('SERVICE_NOT_FOUND', 'the service has no such thing (404)')
  return error('REQUEST_REFUSED', `the service answered ${status}`)
}

/** @param body the first bytes of it @param now milliseconds since 1970, where the answer has no `Date` */
export const statusOutcome = (call: Call, head: AnswerHead, body: string, now: number): Outcome => {
  const { status, headers } = head
  const wait = retryAfterMs(headers['retry-after'], dateOf(headers.date) ?? now)
  if (status === 429 || (status === 503 && wait !== undefined)) {
    return { kind: 'throttled', status, retryAfterMs: wait }
  }
  // 408 is a server or proxy that grew tired of an idle connection, not of this request.
  if (status >= 500 || status === 408) {
    return { kind: 'transient', reason: `the service answered ${status}`, gained: false }
  }
  return { kind: 'final', error: finalError(call, head, body) }
}
