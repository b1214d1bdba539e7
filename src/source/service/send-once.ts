/** One attempt of a request: its answer goes to the call's receiver, chunk by chunk, and comes to an outcome. */

import type { Dispatcher } from 'undici'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { isCertificateError } from '../../support/verified-fetch.ts'
import { type AnswerHead, type Call, type Outcome, type Receiver, Retry } from './answer.ts'
import { bodyPace } from './body-pace.ts'
import type { Policy } from './policy.ts'
import { statusOutcome } from './status-outcome.ts'
import { stepQueue } from './step-queue.ts'

/** What is read of the body of an answer that is not accepted. */
const MAX_REFUSAL_BYTES = 64 * 1024

/** Failures of this side: the service object is closed, or the request is no request. */
const OURS = /^UND_ERR_(?:DESTROYED|CLOSED|INVALID_ARG)$/

const reasonOf = (error: unknown): string => {
  const code = systemCode(error)
  const text = error instanceof Error ? error.message : String(error)
  return code === undefined || text.includes(code) ? text : `${text} (${code})`
}

/** What a failure of the connection, the body or its receiver comes to. */
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
        refusalBody.push(Buffer.from(chunk))
        if (received > MAX_REFUSAL_BYTES) stop(new Retry('the body of a refusal is too long'))
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
