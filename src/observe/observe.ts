/**
 * Watches the runs of this process as the variables of the environment ask for it: `OTEL_…` for traces and metrics,
 * `OPENLINEAGE_URL` for lineage. Nothing of it fails a run; waiting for it has a limit.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { listenToStages } from '../core/stages.ts'
import { asksForLineage } from './lineage/lineage-settings.ts'
import type { Observer, ObserverOptions } from './observer.ts'
import { asksForTelemetry } from './telemetry/telemetry-settings.ts'

/** Longest wait for endpoints when the work is done, in milliseconds. */
const CLOSE_LIMIT_MS = 5000

export interface Observing {
  /** Waits until everything is sent, at most 5 seconds. @returns whether it is */
  readonly close: () => Promise<boolean>
}

/** Begins to watch. @throws nothing: what cannot be watched is said with `warn` */
export const startObserving = async (options: ObserverOptions): Promise<Observing> => {
  const { env, warn } = options
  const observers: Observer[] = []
  const add = async (what: string, open: () => Promise<Observer | undefined>): Promise<void> => {
    try {
      const observer = await open()
      if (observer) observers.push(observer)
    } catch (error) {
      warn(`${what} is not sent: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (asksForTelemetry(env))
    await add('OpenTelemetry', async () =>
      (await import('./telemetry/open-telemetry.ts')).openTelemetry(options),
    )
  if (asksForLineage(env))
    await add('OpenLineage', async () => (await import('./lineage/open-lineage.ts')).openLineage(options))
  const stops = observers.map(({ listener }) => listenToStages(listener))
  return {
    close: async () => {
      for (const stop of stops) stop()
      if (observers.length === 0) return true
      const closed = Promise.allSettled(observers.map((one) => one.close())).then(() => true)
      const timer = new AbortController()
      const late = delay(CLOSE_LIMIT_MS, false, { signal: timer.signal }).catch(() => false)
      const inTime = await Promise.race([closed, late])
      timer.abort()
      if (!inTime)
        warn(`telemetry was not received within ${CLOSE_LIMIT_MS / 1000} s, the rest of it is lost`)
      return inTime
    },
  }
}

/**
 * Does work that is watched as the variables of the environment ask for it: OpenTelemetry by `OTEL_…` (with
 * `@opentelemetry/api` and `@opentelemetry/sdk-node` installed), OpenLineage by `OPENLINEAGE_URL`. Without them the work is
 * done and nothing else. An endpoint that fails never fails the work, and is waited for at most 5 seconds at its end.
 *
 * @param env variables by name, such as `process.env`
 * @param work runs of any number
 * @param warn hears in one line why something is not sent. @default standard error
 * @example
 * import { convert, withTelemetry } from 'firmlake'
 *
 * const { snapshot } = await withTelemetry({}, () => convert({ from: ['batches/'], lake: './lake' }))
 * console.log(snapshot) // 1
 */
export const withTelemetry = async <T>(
  env: ObserverOptions['env'],
  work: () => Promise<T>,
  warn: ObserverOptions['warn'] = (text) => console.error(`warning: ${text}`),
): Promise<T> => {
  const observing = await startObserving({ env, warn })
  try {
    return await work()
  } finally {
    await observing.close()
  }
}
