/** Loads the jobs of a run: decode → load → the Parquet lake → one commit. The same for every kind of source. */

import { DEFAULT_MAX_DEPTH } from '../check/drift/check-options.ts'
import type { SnapshotAudit } from '../commit/check-before.ts'
import { checkStaged } from '../commit/files-of-run.ts'
import { DECODE_LIMITS } from '../core/decode-limits.ts'
import { isFinal, ToolkitError } from '../core/errors.ts'
import { DEFAULT_MEMORY_BYTES, defaultThreads, MIN_BLOCK_BYTES } from '../core/memory-shares.ts'
import type { PartitionEntry, PullEntry } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import { isAskedAgain } from '../core/source-kinds.ts'
import { UNKNOWN_LIMITS } from '../core/unknown-names.ts'
import { compressionOfName } from '../decode/decompress.ts'
import { beginLakeFiles, type LakeFilesAhead } from '../manifest/lake-file/lake-file.ts'
import { openJournal, readJournal } from '../manifest/runs/journal.ts'
import type { DoneWork } from '../manifest/runs/journal-lines.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { newestRoot } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import { commitLoaded, type LoadSummary, loadedIn, missingOf, withViews } from './commit-loaded.ts'
import type { OpenedJob, PullFacts } from './opened-job.ts'
import type { ProjectionOptions } from './projection-of-run.ts'
import { planOf, type RunLimits } from './run-plan.ts'
import { sharesOf, type ToolOptions, withTools } from './run-tools.ts'
import type { RunScope } from './with-run.ts'
import {
  interruptedOr,
  type LoadSourcesOptions,
  type LoadSourcesParts,
  loadSources,
} from './work/load-sources.ts'
import type { RunEvent } from './work/progress.ts'

export interface RunOptions extends ToolOptions, ProjectionOptions {
  readonly maxQuarantined: QuarantineLimit
  /** Leaves damaged and unreadable files out and loads the others. @default false */
  readonly skipBadFiles?: boolean | undefined
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them in the drift of a snapshot. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /** Most companies of a search that one whole listing may say are gone. @default 2% */
  readonly maxGone?: QuarantineLimit | undefined
  /** Checks the snapshot before it is shown. @default it is shown */
  readonly audit?: SnapshotAudit | undefined
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Makes no snapshot where no line came: then pulls are not recorded either. @default false */
  readonly onlyRows?: boolean | undefined
}

/** Decoded bytes for a compressed one: data of companies has 4 to 30. */
const MIN_RATIO = 5

type Sized = Pick<Source, 'name' | 'decodeName' | 'sizeBytes'>

const decodedBytes = ({ name, decodeName = name, sizeBytes = Number.POSITIVE_INFINITY }: Sized): number =>
  sizeBytes * (compressionOfName(decodeName) === undefined ? 1 : MIN_RATIO)

/**
 * The size of blocks for sources, in bytes: of a small input it is smaller, so that its blocks are loaded side by side, too.
 *
 * @param most what there is memory for, and how many partitions are loaded side by side
 */
export const inputBlockBytes = (
  sources: readonly Sized[],
  { mostBytes, threads }: { readonly mostBytes: number; readonly threads: number },
): number => {
  const inputBytes = sources.reduce((sum, source) => sum + decodedBytes(source), 0)
  // With twice as many a small input would take a tenth more CPU: each file costs something by itself.
  const share = Math.ceil(inputBytes / threads)
  return Math.min(mostBytes, Math.max(share, MIN_BLOCK_BYTES))
}

/** Default limits of a plan. */
const DEFAULT_LIMITS = {
  maxLineBytes: DECODE_LIMITS.maxLineBytes,
  maxRatio: DECODE_LIMITS.maxRatio,
  maxDepth: DEFAULT_MAX_DEPTH,
} as const

type LimitOptions = Pick<RunOptions, 'memoryBytes' | 'threads' | 'maxUnknownPerRecord' | 'maxUnknownNames'>

/**
 * Limits of a plan where a person gave none.
 *
 * @param sources what is loaded, where that is known. @default a large input
 */
export const defaultLimits = (
  options: LimitOptions,
  sources?: readonly Source[] | undefined,
): Required<RunLimits> => {
  const { blockBytes: mostBytes } = sharesOf(options)
  const { memoryBytes = DEFAULT_MEMORY_BYTES, threads = defaultThreads(memoryBytes) } = options
  const blockBytes = sources ? inputBlockBytes(sources, { mostBytes, threads }) : mostBytes
  return {
    ...DEFAULT_LIMITS,
    blockBytes,
    maxUnknownPerRecord: options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord,
    maxUnknownNames: options.maxUnknownNames ?? UNKNOWN_LIMITS.names,
  }
}

/** Two searches of one content have windows of the same name, and counts of a run are kept by name. */
const nameApart = (source: Source, job: number, names: ReadonlySet<string>): Source =>
  isAskedAgain(source) && names.has(source.name)
    ? { ...source, name: `${source.name} (${job + 1})`, decodeName: source.decodeName ?? source.name }
    : source

/** The sources of each job. Equal keys of different jobs name different units of work. */
export const sourcesByJob = (
  jobs: readonly Pick<OpenedJob, 'sources' | 'place'>[],
): readonly (readonly Source[])[] => {
  const names = new Set<string>()
  return jobs.map(({ sources, place }, at) => {
    const job = place ?? at
    const apart = sources.map((source) =>
      nameApart(
        job > 0 && source.key !== undefined ? { ...source, key: `${job} ${source.key}` } : source,
        job,
        names,
      ),
    )
    for (const { name } of apart) names.add(name)
    return apart
  })
}

/** How the sources of a run are loaded. */
export const workOptions = (
  options: Pick<RunOptions, 'memoryBytes' | 'threads' | 'skipBadFiles' | 'signal' | 'onEvent'>,
  { maxUnknownNames }: RunLimits,
): Omit<LoadSourcesOptions, 'run' | 'record' | 'attempt'> => {
  const { memoryBytes = DEFAULT_MEMORY_BYTES, threads = defaultThreads(memoryBytes) } = options
  const { skipBadFiles, signal, onEvent } = options
  return { skipBadFiles, maxUnknownNames, sideBySide: threads, signal, onEvent }
}

interface JournaledWork extends Omit<LoadSourcesOptions, 'run' | 'record' | 'attempt'> {
  readonly lease: RunLease
  readonly sources: readonly Source[]
  /** Loads sources that the lake holds already. @default false */
  readonly again?: boolean | undefined
  /** Called when a partition is recorded. */
  readonly onRecorded?: (() => void) | undefined
}

/**
 * Loads all sources, each partition recorded in the run's journal, so that an interrupted run resumes after its last finished
 * one. The journal then ends with what became of each source.
 *
 * @throws {ToolkitError} INTERRUPTED, and whatever the parts throw
 */
export const workWithJournal = async (
  tools: Omit<LoadSourcesParts, 'sources' | 'inLake'>,
  { lease, sources, again = false, onRecorded, ...options }: JournaledWork,
): Promise<DoneWork> => {
  const { lake, run } = lease
  const { signal, onEvent } = options
  const { entries } = await readJournal(lake, run)
  const { whole, damaged } = await checkStaged(lease, entries, signal)
  onEvent?.({ kind: 'started', run, resumed: lease.number > 1, finished: whole.length })
  for (const { id } of damaged) onEvent?.({ kind: 'again', partition: id })
  const inLake = again ? null : new SourceIndex(lake, await newestRoot(lake))
  const journal = await openJournal(lease)
  try {
    const known = new Map(whole.map((entry) => [entry.partition.id, entry]))
    const keep: typeof journal.append = async (entry) => {
      onRecorded?.()
      known.set(entry.partition.id, entry)
      await journal.append(entry)
    }
    const record = { finished: whole, keep }
    const result = await loadSources({ ...tools, sources, inLake }, { ...options, run, record })
    await journal.finish(result)
    return { result, entries: [...known.values()] }
  } finally {
    await journal.close()
  }
}

/**
 * The work of a run that an earlier attempt has done to its end, where its files are still what it recorded: the run can be
 * committed without its sources. @throws as `readJournal`
 */
export const workDone = async (run: RunLease, signal?: AbortSignal): Promise<DoneWork | undefined> => {
  const { entries, result } = await readJournal(run.lake, run.run)
  if (result === undefined) return undefined
  const { damaged } = await checkStaged(run, entries, signal)
  return damaged.length === 0 ? { entries, result } : undefined
}

/** The partitions of a job's sources, by the names that the job has for these. @param apart as the run names them */
const partitionsOf = (
  partitions: readonly PartitionEntry[],
  { sources }: Pick<OpenedJob, 'sources'>,
  apart: readonly Pick<Source, 'name'>[],
): readonly PartitionEntry[] => {
  const names = new Map(apart.map(({ name }, at) => [name, sources[at]?.name ?? name]))
  return partitions.flatMap((one) => {
    const name = names.get(one.source.name)
    return name === undefined ? [] : [{ ...one, source: { ...one.source, name } }]
  })
}

/**
 * The outcomes of the pulls among some jobs; `undefined` of the other jobs.
 *
 * @param recorded the entries of the pulls, where an earlier call has committed them
 */
const factsOf = <Facts extends PullFacts>(
  jobs: readonly OpenedJob<Facts>[],
  byJob: readonly (readonly Source[])[],
  partitions: readonly PartitionEntry[],
  recorded: readonly PullEntry[] = [],
): readonly (Facts | undefined)[] => {
  const left = [...recorded]
  const ownOf = (job: OpenedJob, at: number): readonly PartitionEntry[] =>
    jobs.length === 1 ? partitions : partitionsOf(partitions, job, byJob[at] ?? [])
  return jobs.map((job, at) => job.facts?.(ownOf(job, at), left.shift()))
}

/** The outcomes of the jobs of a run that are pulls. */
export const factsOfJobs = <Facts extends PullFacts>(
  jobs: readonly OpenedJob<Facts>[],
  partitions: readonly PartitionEntry[],
): readonly (Facts | undefined)[] => factsOf(jobs, sourcesByJob(jobs), partitions)

/** A run that was loaded, and what each of its jobs has brought where it is a pull. */
export type Loaded<Facts extends PullFacts> = LoadSummary & { readonly facts: readonly (Facts | undefined)[] }

/**
 * Loads the jobs of a run's plan and commits them at once, in this process: with one worker, which owns the run. Of a run that
 * was committed before nothing is loaded again.
 *
 * @throws {ToolkitError} QUARANTINE_LIMIT, CURRENCY_CHANGED (the run stays and can be resumed with a higher limit,
 *   with `changeCurrency`), INTERRUPTED, and whatever the sources throw; nothing of the run is then visible
 */
export const loadIntoLake = async <Facts extends PullFacts>(
  run: RunScope,
  jobs: readonly OpenedJob<Facts>[],
  options: RunOptions,
): Promise<Loaded<Facts>> => {
  const { signal, onEvent } = options
  const byJob = sourcesByJob(jobs)
  const sources = byJob.flat()
  let facts: Loaded<Facts>['facts'] = []
  // If there are several sources, the others can be loaded, with `skipBadFiles` too.
  let isEmpty = run.committed === undefined && sources.length === 1
  let ahead: LakeFilesAhead | undefined
  try {
    if (run.committed !== undefined) {
      const { committedBefore } = await import('./run-in-lake.ts')
      const before = await committedBefore(run, run.committed, onEvent)
      facts = factsOf(jobs, byJob, before.partitions, before.already?.pulls)
      return { ...before, ...missingOf(facts), facts }
    }
    // A run keeps to its own plan: what is finished of it was cut by that.
    const { again, limits, take } = await planOf(run.lake, run.run)
    const summary = await withTools(run, { limits, take }, options, async (tools) => {
      const { result, entries } = await workWithJournal(tools, {
        ...{ lease: run, sources, again, ...workOptions(options, limits) },
        onRecorded: () => (isEmpty = false),
      })
      isEmpty = false
      if (entries.length > 0) ahead = beginLakeFiles(run.lake)
      const work = { sources: result.sources, entries }
      facts = factsOf(jobs, byJob, loadedIn(work))
      return commitLoaded(tools, run, work, facts, options)
    })
    return { ...(await withViews(run.lake, summary, ahead)), facts }
  } catch (error) {
    // A single source that nobody can load leaves nothing to resume.
    if (!isEmpty || !(error instanceof ToolkitError) || !isFinal(error)) run.keep()
    throw interruptedOr(error, run.run, signal)
  } finally {
    await ahead?.close()
    // The process that takes the run over writes the prefetched files.
    await Promise.allSettled(sources.flatMap((source) => (source.stop ? [source.stop()] : [])))
  }
}
