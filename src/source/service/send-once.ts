/** An attempt of a request: its answer goes to the call's receiver, chunk by chunk, and comes to an outcome. */

import type { Dispatcher } from 'undici'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { dateOf, readRetryAfter } from '../../support/http-values.ts'
import { isCertificateError } from '../../support/verified-fetch.ts'
import { type AnswerHead, type Call, type Outcome, type Receiver, Retry } from './answer.ts'
import type { Policy } from './policy.ts'

/** Longest part of the body of a refused answer that is read. */
const MAX_REFUSAL_BYTES = 64 * 1024

/** Failures of this side: the service object is closed, or the request is no request. */
const OURS = /^UND_ERR_(?:DESTROYED|CLOSED|INVALID_ARG)$/

const reasonOf = (error: unknown): string => {
  const code = systemCode(error)
  const text = error instanceof Error ? error.message : String(error)
  return code === undefined || text.includes(code) ? text : `${text} (${code})`
}

/** The outcome of a failure of the connection, the body or its receiver. */
const failureOutcome = (call: Call, error: unknown, isReceivers: boolean, gained: boolean): Outcome => {
  if (isReceivers && !(error instanceof Retry)) return { kind: 'final', error }
  if (isCertificateError(systemCode(error))) {
    const text =
      `${call.action}: TLS verification failed: ${reasonOf(error)}; ` +
      'NODE_EXTRA_CA_CERTS names a file of further authorities'
    return { kind: 'final', error: new ToolkitError('SERVICE_FAILED', text, {}, error) }
  }
  if (OURS.test(systemCode(error) ?? '')) {
    const text = `${call.action}: ${reasonOf(error)}`
    return { kind: 'final', error: new ToolkitError('SERVICE_FAILED', text, {}, error) }
  }
  return { kind: 'transient', reason: reasonOf(error), cause: error, gained }
}

type Dispatch = Dispatcher['dispatch']

/** Sends the request once. Always fulfils, when the socket is done with the answer. */
export const sendOnce = (
  { timing, counters }: Pick<Policy, 'timing' | 'counters'>,
  call: Call,
  dispatch: Dispatch,
  options: Parameters<Dispatch>[0],
): Promise<Outcome> => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const accepts = call.statuses ?? [200]
  const refusalBody: Buffer[] = []
  let controller: Dispatcher.DispatchController | undefined
  let head: AnswerHead | undefined
  let receiver: Receiver | undefined
  let stopped: { readonly by: unknown } | undefined
  let received = 0
  let flows = bodyPace(timing.now)

  const stop = (by: unknown): void => {
    stopped ??= { by }
    controller?.abort(by instanceof Error ? by : new Error(String(by)))
  }
  const onAbort = (): void => {
    stop(call.signal?.reason)
    // Still waiting for a connection: its end would not be reported for a while.
    if (!controller) finish({ kind: 'final', error: call.signal?.reason })
  }
  const finish = (outcome: Outcome): void => {
    call.signal?.removeEventListener('abort', onAbort)
    resolve(outcome)
  }
  const steps = stepQueue({
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    fail: stop,
  })
  const refused = (answer: AnswerHead): void =>
    finish(statusOutcome(call, answer, Buffer.concat(refusalBody).toString('utf8'), timing.now()))

  const fail = async (error: unknown): Promise<void> => {
    await steps.idle()
    receiver?.brokenOff?.()
    const gained = receiver?.gained?.() ?? false
    finish(failureOutcome(call, stopped ? stopped.by : error, stopped !== undefined, gained))
  }
  const end = async (answer: AnswerHead): Promise<void> => {
    await steps.idle()
    if (stopped) return fail(stopped.by)
    try {
      await receiver?.end()
      finish({ kind: 'done', head: answer })
    } catch (error) {
      stopped = { by: error }
      await fail(error)
    }
  }

  if (call.signal?.aborted) return Promise.resolve({ kind: 'final', error: call.signal.reason })
  call.signal?.addEventListener('abort', onAbort)
  dispatch(options, {
    onRequestStart: (started) => {
      controller = started
      if (stopped) stop(stopped.by)
    },
    onResponseStart: (_controller, status, headers) => {
      if (status < 200) return
      const answer = { status, headers }
      head = answer
      flows = bodyPace(timing.now)
      if (!accepts.includes(status)) return
      steps.run(() => {
        const made = call.receive(answer)
        if (!(made instanceof Promise)) {
          receiver = made
          return undefined
        }
        return made.then((later) => {
          receiver = later
        })
      })
    },
    onResponseData: (_controller, chunk) => {
      // undici gives an empty chunk after each resume; holding the socket for it would go on for ever.
      if (chunk.length === 0) return
      received += chunk.length
      counters.bytes += chunk.length
      if (!flows(chunk.length)) stop(new Retry('the answer comes too slowly'))
      else if (head && accepts.includes(head.status)) steps.run(() => receiver?.write(chunk))
      else {
        // A copy, so that a slice does not hold the socket's whole buffer.
        refusalBody.push(Buffer.from(chunk.subarray(0, MAX_REFUSAL_BYTES - (received - chunk.length))))
        // The status and beginning of the answer say all there is to say: the rest is not read.
        if (received >= MAX_REFUSAL_BYTES && head) {
          refused(head)
          stop(new Retry('the body of a refusal is too long'))
        }
      }
    },
    onResponseEnd: () => {
      if (!head) void fail(new Retry('the service answered nothing'))
      else if (accepts.includes(head.status)) void end(head)
      else refused(head)
    },
    onResponseError: (_controller, error) => {
      // The status of a refusal says all there is to say, also where its body breaks off; a 400 needs its text.
      const isReported =
        head && !accepts.includes(head.status) && head.status !== 400 && !call.signal?.aborted
      if (head && isReported) refused(head)
      else void fail(error)
    },
  })
  return promise
}

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

/** More than an HTTP date has. */
const SHOWN_CHARACTERS = 64

/** @param body the first bytes of it @param now milliseconds since 1970, where the answer has no `Date` */
const statusOutcome = (call: Call, head: AnswerHead, body: string, now: number): Outcome => {
  const { status, headers } = head
  const asked = readRetryAfter(headers['retry-after'], dateOf(headers.date) ?? now)
  if (status === 429 || (status === 503 && asked !== undefined)) {
    const retryAfter = [headers['retry-after'] ?? []].flat().join(', ').slice(0, SHOWN_CHARACTERS)
    const guessed = asked?.unreadable !== undefined && ({ guessed: true } as const)
    return { kind: 'throttled', status, pause: asked && { ms: asked.ms, retryAfter, ...guessed } }
  }
  // 408 is a server or proxy that grew tired of an idle connection, not of this request.
  if (status >= 500 || status === 408) {
    return { kind: 'transient', reason: `the service answered ${status}`, gained: false }
  }
  return { kind: 'final', error: finalError(call, head, body) }
}

/** Steps one after the other, some of them slow; the stream that brings them is held while one is under way. */

interface StepQueue {
  /** Does the step now, or after those under way. Nothing is done any more after one has failed. */
  readonly run: (step: () => Promise<void> | undefined) => void
  /** Fulfilled when nothing is under way; never rejected. */
  readonly idle: () => Promise<void>
}

const stepQueue = (on: {
  readonly pause: () => void
  readonly resume: () => void
  readonly fail: (error: unknown) => void
}): StepQueue => {
  let work: Promise<void> = Promise.resolve()
  let underWay = 0
  let broken = false
  const fail = (error: unknown): void => {
    if (!broken) on.fail(error)
    broken = true
  }
  const done = (): void => {
    underWay -= 1
    if (underWay === 0) on.resume()
  }
  const follow = (promise: Promise<void>): void => {
    underWay += 1
    on.pause()
    work = promise.catch(fail).then(done)
  }
  return {
    run: (step) => {
      if (broken) return
      if (underWay > 0) return follow(work.then(() => (broken ? undefined : step())))
      try {
        const promise = step()
        if (promise) follow(promise)
      } catch (error) {
        fail(error)
      }
    },
    idle: () => work,
  }
}

/** Detects a body that trickles: the timeouts between chunks do not. */

/** A body must bring so many bytes in each interval of so many milliseconds. */
const INTERVAL_MS = 60_000
const MIN_BYTES = 60 * 1024

/** Returns false once a whole interval brought too little. Call it for each chunk, with its length in bytes. */
const bodyPace = (now: () => number): ((sizeBytes: number) => boolean) => {
  let from = now()
  let bytes = 0
  return (sizeBytes) => {
    bytes += sizeBytes
    if (now() - from <= INTERVAL_MS) return true
    if (bytes < MIN_BYTES) return false
    from = now()
    bytes = 0
    return true
  }
}
