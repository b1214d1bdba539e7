/** Sends events of OpenLineage: when an attempt at a run begins, and when it ends. */

import type { CommittedWork, RunStage, Stage, StageListener } from '../core/stages.ts'
import { verifiedFetch } from '../support/verified-fetch.ts'
import { completeEvent, failEvent, startEvent } from './lineage-events.ts'
import { lineageSettings, type Observer, type ObserverOptions } from './settings.ts'

/** Longest wait for an answer to one event, in milliseconds. */
const TIMEOUT_MS = 3000

/** An attempt: a run of this process, or the commit of one that other processes have worked on. */
const attemptOf = (stage: Stage, parent: Stage | undefined): Omit<RunStage, 'stage'> | undefined => {
  if (stage.stage === 'run') return stage
  return stage.stage === 'commit' && parent?.stage !== 'run' ? stage : undefined
}

/** @throws {Error} settings that cannot be used */
export const openLineage = async ({ env, warn }: ObserverOptions): Promise<Observer> => {
  const { address, headers, namespace } = lineageSettings(env)
  const committed = new Map<string, CommittedWork>()
  let failed = false
  const send = async (body: string): Promise<void> => {
    const reason = await verifiedFetch(address, {
      ...{ method: 'POST', headers, body },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).then(
      async ({ ok, status, body: answer }) => {
        await answer?.cancel()
        return ok ? undefined : `it answers with ${status}`
      },
      () => `it does not answer`,
    )
    if (reason !== undefined && !failed) {
      failed = true
      warn(`OpenLineage could not be sent to ${address.origin}: ${reason}`)
    }
  }
  // Events are sent in turn, so that a start is there before its end; the work does not wait for them.
  let last = Promise.resolve()
  const queue = (event: object): void => {
    const body = JSON.stringify(event)
    last = last.then(() => send(body))
  }
  const listener: StageListener = (stage, parent) => {
    const attempt = attemptOf(stage, parent)
    if (stage.stage !== 'run' && stage.stage !== 'commit') return undefined
    if (attempt) queue(startEvent(attempt, namespace, new Date()))
    const { run } = stage
    return (outcome, error) => {
      if (outcome.committed) committed.set(run, outcome.committed)
      if (!attempt) return
      queue(
        error === undefined
          ? completeEvent(attempt, namespace, new Date(), committed.get(run))
          : failEvent(attempt, namespace, new Date(), error),
      )
      committed.delete(run)
    }
  }
  return { listener, close: () => last }
}
