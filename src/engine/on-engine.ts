/**
 * The jobs that load, each worked on by an engine on many machines: planned here, then handed over; what is reported is read
 * from the lake, so that whoever attaches to a run late reports the same.
 */

import { absoluteAddress } from '../core/lake-address.ts'
import { DEFAULT_MEMORY_BYTES } from '../core/memory-shares.ts'
import { convertBy } from '../jobs/convert.ts'
import { pullBy } from '../jobs/pull.ts'
import { pullBatchFilesBy } from '../jobs/pull-batch-files.ts'
import { syncBy } from '../jobs/sync.ts'
import { recordedUnits } from '../manifest/runs/journal.ts'
import type {
  ConvertOptions,
  PullBatchFilesOptions,
  PullOptions,
  SyncOptions,
} from '../options/interfaces.ts'
import { MAX_GONE } from '../options/lake-jobs.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import type { Driver } from '../run/job-kind.ts'
import { readRunInLake } from '../run/run-in-lake.ts'
import { NOTHING_LOADED } from '../run/run-report.ts'
import { commitSharedRun } from '../shared-run/commit-shared-run.ts'
import { type PlannedRun, planSharedRun } from '../shared-run/plan-shared-run.ts'
import type { EngineOutcome, RunEngine } from './run-engine.ts'

/** How a job is handed to an engine. */
export interface OnEngine {
  readonly engine: RunEngine
  /** Stored bytes of the files of a unit. @default 64 MiB */
  readonly unitBytes?: number | undefined
  /** Requests a second of all workers together. */
  readonly maxRequestsPerSecond?: number | undefined
  /** Called when the run is planned, and each time units have been done since. */
  readonly onUnits?: ((progress: UnitProgress) => void) | undefined
}

/** How far a run is. */
interface UnitProgress {
  readonly run: string
  readonly units: number
  readonly done: number
  /** Whether it was begun before, by this command or another. */
  readonly attached: boolean
}

const PROGRESS_EVERY_MS = 2000

const limitText = (limit: QuarantineLimit): string =>
  limit.kind === 'count' ? String(limit.lines) : `${Number((limit.share * 100).toPrecision(12))}%`

/** Says how far a run is until it is stopped. */
const watchUnits = async (
  lake: string,
  { run, units, existing }: PlannedRun & { readonly run: string },
  onUnits: NonNullable<OnEngine['onUnits']>,
): Promise<() => void> => {
  let asking = false
  const say = async (): Promise<void> => {
    if (asking) return
    asking = true
    // The folder may be gone already; how far a run is must not end it.
    const done = await recordedUnits(lake, run).catch(() => new Set<number>())
    asking = false
    if (done.size > 0) onUnits({ run, units, done: done.size, attached: existing })
  }
  onUnits({ run, units, done: 0, attached: existing })
  const timer = setInterval(() => void say(), PROGRESS_EVERY_MS)
  return () => clearInterval(timer)
}

type Loads = Parameters<Driver>[2]

/** The limits of a commit, as the engine has them too. */
interface Limits {
  readonly maxQuarantined: QuarantineLimit
  readonly maxGone: QuarantineLimit
}

/** Commits here what workers have loaded. @returns the outcome as of a worker's commit, and the checks that fail as before */
const commitHere = async (
  lake: string,
  run: string,
  { memoryBytes, threads, changeCurrency, audit, signal, onEvent, service }: Loads,
  most: Limits,
): Promise<Partial<EngineOutcome> & Pick<LoadSummary, 'failing'>> => {
  const done = await commitSharedRun({
    ...{ lake, run, memoryBytes, threads, changeCurrency, audit, signal, onEvent, ...most },
    // The caller has opened it, and closes it.
    service: async (url) => ({ ...(await service(url)), close: async () => undefined }),
  })
  if (done.kind === 'already') return { snapshot: done.snapshot }
  const { snapshot, gone, currencyChange, failing, skipped, excluded } = done.summary
  return {
    ...{ snapshot: snapshot?.snapshot ?? null, skipped, excluded, ...(failing && { failing }) },
    ...(gone && { gone }),
    ...(currencyChange && { currencyChange }),
  }
}

/** An engine as the driver of jobs. What tells what a pull has brought is read before the commit removes it. */
const driveBy =
  ({ engine, unitBytes, maxRequestsPerSecond, onUnits }: OnEngine): Driver =>
  async (kind, job, options, { again = false, limits } = {}) => {
    const lake = absoluteAddress(options.lake)
    const { memoryBytes = DEFAULT_MEMORY_BYTES, signal, changeCurrency = false } = options
    const { maxQuarantined, maxGone = MAX_GONE.default.value } = options
    const prepared = await kind.prepare(job, options, again)
    if (prepared.nothing !== undefined) return { prepared, loaded: undefined }
    const asked = { ...options, lake, job, again, limits, prepared }
    const planned = await planSharedRun({ ...asked, unitBytes, maxRequestsPerSecond })
    // The files that the lake holds are named apart where a listing names them.
    const before = prepared.held ? [] : planned.skipped
    const { run, phases } = planned
    if (run === null) return { prepared, loaded: { ...NOTHING_LOADED, skipped: before, facts: [] } }
    const factsOf = await kind.facts?.({ lake, run }, job, options.service)
    const stop = onUnits && (await watchUnits(lake, { ...planned, run }, onUnits))
    const { unitsAtOnce, maxWaitMs } = engine
    const request = {
      ...{ lake, run, phases, memoryBytes, unitsAtOnce, maxWaitMs, changeCurrency },
      ...{ maxQuarantined: limitText(maxQuarantined), maxGone: limitText(maxGone) },
      commits: options.audit === undefined,
    }
    const worked = await engine.work(request, signal).finally(() => stop?.())
    const committed = worked.isOpen ? await commitHere(lake, run, options, { maxQuarantined, maxGone }) : {}
    const { failing } = committed
    const outcome = { ...worked, ...committed }
    const found = outcome.snapshot === null ? undefined : await readRunInLake(lake, run, outcome.snapshot)
    const { excluded, currencyChange, requests } = outcome
    const { snapshot, partitions = [], pulls = [] } = found ?? {}
    // A commit that another attempt at that step has made tells nothing: the lake does.
    const gone =
      outcome.gone?.map((one) => ({ search: JSON.stringify(pulls[0]?.search), ...one })) ?? found?.gone
    const facts = factsOf?.(partitions, pulls[0])
    const missing = facts?.missing
    const loaded = {
      ...{ run, snapshot, partitions, excluded, facts: [facts] },
      skipped: [...before, ...outcome.skipped],
      ...(currencyChange && { currencyChange }),
      ...(gone && { gone }),
      ...(missing && { missing: [missing] }),
      ...(failing && { failing }),
    }
    return { prepared, loaded, requests }
  }

/** The jobs that load, on an engine. @throws {ToolkitError} as the job, and as the engine */
export const convertOnEngine = (options: ConvertOptions, on: OnEngine) => convertBy(driveBy(on), options)
export const pullOnEngine = (options: PullOptions, on: OnEngine) => pullBy(driveBy(on), options)
export const syncOnEngine = (options: SyncOptions, on: OnEngine) => syncBy(driveBy(on), options)
export const batchFilesOnEngine = (options: PullBatchFilesOptions, on: OnEngine) =>
  pullBatchFilesBy(driveBy(on), options)
