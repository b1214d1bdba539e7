/**
 * The workflows of a run, as the engine replays them: no clock, no file, no network, only activities. A run works on its
 * units phase by phase, 500 to a child workflow, and then commits. What is done stands in the lake; lost histories cost
 * nothing but a look at it.
 */

import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow'
import type { EngineOutcome } from '../run-engine.ts'
import { type AttemptEnd, afterAttempt, NO_ATTEMPTS } from './attempts.ts'
import {
  type RequestCounters,
  type RunOrder,
  type RunPlace,
  type ShardOrder,
  type StepActivities,
  UNITS_OF_SHARD,
} from './requests.ts'

/** Child workflows side by side: while one waits for its last units the others go on. */
const SHARDS_AT_ONCE = 4

const NO_REQUESTS: RequestCounters = { requests: 0, retries: 0, throttled: 0, bytes: 0 }

const added = (a: RequestCounters, b: RequestCounters): RequestCounters => ({
  requests: a.requests + b.requests,
  retries: a.retries + b.retries,
  throttled: a.throttled + b.throttled,
  bytes: a.bytes + b.bytes,
})

/** Activities have a single attempt: how often and when again is decided here, by exit code. */
const stepsOf = ({ heartbeatMs }: RunOrder) =>
  proxyActivities<StepActivities>({
    startToCloseTimeout: '24 hours',
    heartbeatTimeout: heartbeatMs,
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  })

const endOf = (error: unknown): AttemptEnd => {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) return { kind: 'lost' }
  const [code] = cause instanceof ApplicationFailure ? (cause.details ?? []) : []
  return { kind: 'exit', code: typeof code === 'number' ? code : 1 }
}

/** A step until it succeeds, or as often as its failures allow. */
const tried = async <T>({ maxWaitMs }: RunOrder, step: () => Promise<T>): Promise<T> => {
  let attempts = NO_ATTEMPTS
  for (;;) {
    try {
      return await step()
    } catch (error) {
      const next = isCancellation(error) ? null : afterAttempt(attempts, endOf(error), maxWaitMs)
      if (next === null) throw error
      attempts = next.attempts
      await sleep(next.pauseMs)
    }
  }
}

/** Does work in several lanes; the first failure cancels what the others are at, and is thrown when they have ended. */
const inLanes = async (count: number, lane: () => Promise<void>): Promise<void> => {
  let first: { readonly error: unknown } | undefined
  await CancellationScope.cancellable(async () => {
    const scope = CancellationScope.current()
    await Promise.all(
      Array.from({ length: count }, () =>
        lane().catch((error: unknown) => {
          first ??= { error }
          scope.cancel()
        }),
      ),
    )
  })
  if (first) throw first.error
}

const isFull = (): boolean => workflowInfo().continueAsNewSuggested

/** Works on some units of a run. */
export async function firmlakeShard(shard: ShardOrder): Promise<RequestCounters> {
  const { order, from, to, lanes } = shard
  const { openUnits, work } = stepsOf(order)
  const units = await tried(order, () => openUnits(order, from, to))
  let { requests } = shard
  let next = 0
  await inLanes(Math.min(lanes, units.length), async () => {
    while (!isFull()) {
      const unit = units[next]
      if (unit === undefined) return
      next += 1
      const made = await tried(order, () => work(order, unit))
      if (made) requests = added(requests, made)
    }
  })
  const left = units[next]
  if (left !== undefined) await continueAsNew<typeof firmlakeShard>({ ...shard, from: left, requests })
  return requests
}

/** Works on a run and commits it, unless the one who asks does. */
export async function firmlakeRun(order: RunOrder, place?: RunPlace): Promise<EngineOutcome> {
  const { phases, unitsAtOnce, run } = order
  let requests = place?.requests ?? NO_REQUESTS
  for (let phase = place?.phase ?? 0; phase < phases.length; phase += 1) {
    const { first, count } = phases[phase] ?? { first: 0, count: 0 }
    const end = first + count
    let next = phase === place?.phase ? place.unit : first
    const side = Math.min(SHARDS_AT_ONCE, unitsAtOnce, Math.ceil((end - next) / UNITS_OF_SHARD))
    const lanes = Math.floor(unitsAtOnce / Math.max(1, side))
    await inLanes(side, async () => {
      while (next < end && !isFull()) {
        const from = next
        next = Math.min(end, from + UNITS_OF_SHARD)
        const shard: ShardOrder = { order, from, to: next, lanes, requests: NO_REQUESTS }
        const workflowId = `firmlake/${run}/${from}`
        requests = added(requests, await executeChild(firmlakeShard, { workflowId, args: [shard] }))
      }
    })
    if (next < end) await continueAsNew<typeof firmlakeRun>(order, { phase, unit: next, requests })
  }
  const { unloadedSources, commit } = stepsOf(order)
  const unloaded = await tried(order, () => unloadedSources(order))
  if (!order.commits) return { ...unloaded, snapshot: null, isOpen: true, requests }
  const { snapshot, report, requests: asked = NO_REQUESTS } = await tried(order, () => commit(order))
  return { ...unloaded, ...report, snapshot, requests: added(requests, asked) }
}
