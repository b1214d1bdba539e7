/**
 * Works on units of a run that nobody owns. Each attempt has files and a folder of its own; what it has loaded it puts in
 * place and records, if no other attempt was first: then it removes its own files, and only those.
 */

import { randomBytes } from 'node:crypto'
import { discardFiles } from '../commit/files-of-run.ts'
import { ToolkitError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { jobKind, loadOf } from '../kinds/kinds.ts'
import { sumOf } from '../manifest/form/totals.ts'
import { startBeats, workerName } from '../manifest/runs/heartbeat.ts'
import { isRecorded, recordedUnits, recordUnit, removeUnit } from '../manifest/runs/journal.ts'
import { type JournalEntry, loadedPartitions } from '../manifest/runs/journal-lines.ts'
import { isSharedRun, type SeenRun } from '../manifest/runs/run-lease.ts'
import { lookUpRun } from '../manifest/runs/runs.ts'
import { recordRemoved } from '../manifest/runs/shared-commits.ts'
import type { KindOptions } from '../run/job-kind.ts'
import { type RunOptions, workOptions } from '../run/load-into-lake.ts'
import type { OpenedJob } from '../run/opened-job.ts'
import { type RunTools, withTools } from '../run/run-tools.ts'
import { withScratch } from '../run/scratch.ts'
import { loadSources } from '../run/work/load-sources.ts'
import type { RunEvent } from '../run/work/progress.ts'
import { openServices } from '../source/service/open-services.ts'
import type { Service, ServiceCounters } from '../source/service/service.ts'
import { broughtIds, storeIds } from './brought-ids.ts'
import {
  checkRelease,
  hasNothing,
  type NumberedUnit,
  notFound,
  openOf,
  type SharedRun,
  takeStep,
} from './shared-run.ts'

/** Units by their ids, or every one of `of` from a place on: all that many workers have each unit once. */
export type UnitChoice =
  | { readonly units: readonly number[] }
  | { readonly shard: { readonly index: number; readonly of: number } }

export interface WorkOptions
  extends Pick<RunOptions, 'lake' | 'memoryBytes' | 'threads' | 'checkThreads' | 'hashKey' | 'signal'>,
    Pick<KindOptions, 'concurrency'> {
  readonly run: string
  readonly choice: UnitChoice
  /** Opens the service at an address; it is closed when the work ends. @param share requests a second of this worker */
  readonly service: (url: string, share: number | undefined) => Promise<Service>
  /** Workers at once, which share the requests a second. @default as many as there are shards, else 1 */
  readonly workers?: number | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Called with what became of each unit. */
  readonly onUnit?: ((outcome: UnitOutcome) => void) | undefined
}

/** The outcome of a unit. `there`: it had been done; `lost`: another attempt at it was first. */
export interface UnitOutcome {
  readonly unit: number
  readonly kind: 'done' | 'already-done' | 'lease-lost'
  readonly partitions: number
  readonly records: number
  readonly quarantined: number
}

/** The report of a worker. */
export interface WorkSummary {
  readonly run: string
  /** The snapshot that shows the run: it was committed already. */
  readonly snapshot: number | null
  readonly units: readonly UnitOutcome[]
  /** The requests to a service; absent without any. */
  readonly requests?: ServiceCounters
}

const chosenOf = ({ units, seen: { run } }: SharedRun, choice: UnitChoice): readonly NumberedUnit[] => {
  if ('shard' in choice) {
    const { index, of } = choice.shard
    return units.filter(({ id }) => id % of === index)
  }
  return choice.units.map((id) => {
    const unit = units[id]
    if (unit) return unit
    throw new ToolkitError(
      'USAGE',
      `Cannot work on unit ${id} of run "${run}": its units are 0 to ${units.length - 1}`,
      {
        run,
        unit: id,
      },
    )
  })
}

/** @throws {ToolkitError} RUN_INCOMPLETE where units of an earlier phase are not done */
const checkPhase = async (shared: SharedRun, phase: number): Promise<void> => {
  const { run } = shared.seen
  const before = shared.units.filter((unit) => unit.phase < phase)
  const open = before.length === 0 ? [] : await openOf(shared, before)
  if (open.length === 0) return
  throw new ToolkitError(
    'RUN_INCOMPLETE',
    `Cannot begin phase ${phase} of run "${run}": ${open.length} of ${before.length} units before it are not done`,
    { run, units: open.length, first: open[0] ?? 0 },
  )
}

const filesOf = (entries: readonly JournalEntry[]): readonly FileEntry[] =>
  entries.flatMap(({ partition }) => partition.files)

const outcomeOf = (
  unit: number,
  kind: UnitOutcome['kind'],
  entries: readonly JournalEntry[] = [],
): UnitOutcome => ({
  ...{ unit, kind, partitions: entries.length },
  records: sumOf(entries, ({ partition }) => partition.counts.records),
  quarantined: sumOf(entries, ({ partition }) => partition.counts.quarantined),
})

/** The run was removed while a unit was loaded: committed with another attempt, cancelled, or taken for dead. */
const leaveUnit = async (id: number, { lake, run }: SeenRun): Promise<UnitOutcome> => {
  const { snapshot } = await lookUpRun(lake, run)
  await removeUnit(lake, run, id)
  // The run's files are left to gc: its journal may have been just in time for a commit that is still under way.
  if (snapshot) return outcomeOf(id, 'already-done')
  await recordRemoved(lake, run)
  throw notFound(run, 'it was removed while its units were worked on')
}

/** Loads a unit and records it. @param opened with its sources from `at` on */
const workUnit = async (
  { plan, seen, skipBadFiles }: SharedRun,
  { id, sources }: NumberedUnit,
  tools: RunTools,
  opened: OpenedJob,
  at: number,
  options: WorkOptions,
): Promise<UnitOutcome> => {
  const { lake, run } = seen
  const own = opened.sources.slice(at, at + sources.length)
  if (await isRecorded(lake, run, id)) {
    for (const source of own) await source.release?.()
    return outcomeOf(id, 'already-done')
  }
  const attempt = randomBytes(4).toString('hex')
  const entries: JournalEntry[] = []
  const result = await loadSources(
    { ...tools, sources: own, inLake: null },
    {
      ...{ run, attempt, ...workOptions({ ...options, skipBadFiles }, plan.limits) },
      record: { finished: [], keep: async (entry) => void entries.push(entry) },
    },
  )
  const loaded = loadedPartitions(result)
  const counted = entries.filter(({ partition }) => loaded.has(partition.id))
  // A file may turn out to be bad behind its first blocks: nothing of it counts.
  const left = entries.filter(({ partition }) => !loaded.has(partition.id))
  await tools.sink.commit(filesOf(counted))
  const ids = own.map((_, index) => opened.idsPath?.(at + index)).find((path) => path !== undefined)
  if (ids !== undefined) await storeIds(seen, id, attempt, ids)
  const work = { entries: counted, result: { ...result, attempt, by: workerName() } }
  const won = await recordUnit(lake, run, id, work)
  await discardFiles(lake, filesOf(won ? left : entries))
  if (!won) return outcomeOf(id, 'lease-lost')
  return (await isSharedRun(lake, run)) ? outcomeOf(id, 'done', counted) : leaveUnit(id, seen)
}

/** Opens what units of one phase have to load; nothing is fetched before it is asked for. */
const openUnits = async (
  { plan, seen, units: all }: SharedRun,
  units: readonly NumberedUnit[],
  scratch: string,
  options: KindOptions,
): Promise<OpenedJob> => {
  const job = loadOf(seen.run, plan.jobs[0])
  // The windows that close a gap are the last phase.
  const last = all.at(-1)?.phase
  const before = all.filter(({ phase }) => phase !== last).map(({ id }) => id)
  const kind = await jobKind(job)
  return kind.open({ ...seen, scratch, keep: () => undefined }, job, plan.limits, options, {
    units,
    brought: () => broughtIds(seen, before),
  })
}

/** Works on units of one phase one after the other; what the next has to fetch is fetched meanwhile. */
const workPhase = async (
  shared: SharedRun,
  units: readonly NumberedUnit[],
  scratch: string,
  options: WorkOptions,
  service: KindOptions['service'],
): Promise<readonly UnitOutcome[]> => {
  const { run } = shared.seen
  const outcomes: UnitOutcome[] = []
  const { lake, concurrency, signal } = options
  const { skipBadFiles } = shared
  const opening = { lake, concurrency, skipBadFiles, signal, service }
  const opened = await openUnits(shared, units, scratch, opening)
  try {
    await withTools({ run, scratch }, shared.plan, options, async (tools) => {
      let at = 0
      for (const unit of units) {
        options.signal?.throwIfAborted()
        const outcome = await workUnit(shared, unit, tools, opened, at, options)
        outcomes.push(outcome)
        options.onUnit?.(outcome)
        at += unit.sources.length
      }
    })
    return outcomes
  } finally {
    await Promise.allSettled(opened.sources.map((source) => source.stop?.()))
  }
}

/** Opens the service of a run with this worker's share of its rate. */
const servicesOf = ({ requestsPerSecond }: SharedRun, { choice, workers, service }: WorkOptions) => {
  const atOnce = workers ?? ('shard' in choice ? choice.shard.of : 1)
  const share = requestsPerSecond === undefined ? undefined : requestsPerSecond / atOnce
  return openServices((url) => service(url, share))
}

const workOpen = async (
  shared: SharedRun,
  options: WorkOptions,
): Promise<Pick<WorkSummary, 'units' | 'requests'>> => {
  const { lake, run } = shared.seen
  const { onUnit } = options
  checkRelease(shared)
  const outcomes: UnitOutcome[] = []
  const done = await recordedUnits(lake, run)
  const chosen = chosenOf(shared, options.choice)
  for (const { id } of chosen.filter((unit) => done.has(unit.id))) {
    outcomes.push(outcomeOf(id, 'already-done'))
    onUnit?.(outcomeOf(id, 'already-done'))
  }
  const open = chosen.filter(({ id }) => !done.has(id))
  const services = servicesOf(shared, options)
  const beats = startBeats(lake, run)
  try {
    for (const [phase, units] of Map.groupBy(open, (unit) => unit.phase)) {
      await checkPhase(shared, phase)
      const worked = await withScratch((scratch) => workPhase(shared, units, scratch, options, services.open))
      outcomes.push(...worked)
    }
    const requests = await services.counters()
    return { units: outcomes, ...(requests && { requests }) }
  } finally {
    await beats.stop()
    await services.close()
  }
}

/**
 * Works on units of a run. Those that are done already are left alone; a unit that others work on at the same time is done
 * once.
 *
 * @throws {ToolkitError} RUN_NOT_FOUND, RUN_INCOMPLETE (units of an earlier phase), RUN_OTHER_RELEASE, SOURCE_CHANGED,
 *   USAGE for a unit that there is none of, INTERRUPTED, and whatever the sources throw; what is recorded by then stays
 */
export const workSharedRun = async (options: WorkOptions): Promise<WorkSummary> => {
  const { run, signal } = options
  const taken = await takeStep(options, (shared) => workOpen(shared, options)).catch((error: unknown) => {
    throw signal?.aborted && !(error instanceof ToolkitError) ? interruptedWork(run) : error
  })
  if (taken.kind === 'ended' || taken.kind === 'cancelled') throw hasNothing(run, taken.kind)
  if (taken.kind === 'committed') return { run, snapshot: taken.snapshot.snapshot, units: [] }
  return { run, snapshot: null, ...taken.result }
}

const interruptedWork = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Work on run "${run}" was interrupted, the same command resumes it`, {
    run,
  })
