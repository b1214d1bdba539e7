/** Loads the jobs of a run: decode → load → the Parquet lake → one commit. The same for every kind of source. */

import { randomBytes } from 'node:crypto'
import { ToolkitError, writeError } from '../../core/errors.ts'
import type { Sink, SinkRun } from '../../core/sink.ts'
import type { Source } from '../../core/source.ts'
import { UNKNOWN_LIMITS } from '../../core/unknown-names.ts'
import { BlockMemory } from '../../decode/block-memory.ts'
import { decodeBlocks } from '../../decode/decode-blocks.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import { Engine, type EngineOptions } from '../../lake/duckdb/engine.ts'
import { inLake, runPath } from '../../lake/lake/layout.ts'
import { openCheckers } from '../../load/block-checker.ts'
import { DEFAULT_MAX_DEPTH } from '../../load/check-options.ts'
import { openLoader } from '../../load/loader.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { TOOL } from '../../support/tool-version.ts'
import { commitLoaded, type LoadSummary } from './commit-loaded.ts'
import type { LoadParts } from './load-source.ts'
import { interrupted, loadSources } from './load-sources.ts'
import { DEFAULT_MEMORY_BYTES, defaultThreads, divideMemory } from './memory-shares.ts'
import type { OpenedJob } from './opened-job.ts'
import type { RunEvent } from './progress.ts'
import type { QuarantineLimit } from './quarantine-limit.ts'
import { pipelineOf, type RunLimits, type RunPlan } from './run-plan.ts'
import type { RunScope } from './with-run.ts'

export interface RunOptions {
  readonly lake: string
  readonly memoryBytes?: number | undefined
  /** Partitions loaded side by side, each on one thread. @default as many as cores, and as there is memory for */
  readonly threads?: number | undefined
  /** Threads that check lines; 0: the main thread does it. @default 0 on two cores, else one for three partitions */
  readonly checkThreads?: number | undefined
  readonly limit: QuarantineLimit
  /** Leaves damaged and unreadable files out and loads the others. @default false */
  readonly skipBadFiles?: boolean | undefined
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them in the drift of a snapshot. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  /** Where rows go. @default the Parquet lake */
  readonly sink?: Sink | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/** Default limits of a plan. */
const DEFAULT_LIMITS = {
  maxLineBytes: DECODE_LIMITS.maxLineBytes,
  maxRatio: DECODE_LIMITS.maxRatio,
  maxDepth: DEFAULT_MAX_DEPTH,
} as const

type LimitOptions = Pick<RunOptions, 'memoryBytes' | 'threads' | 'maxUnknownPerRecord' | 'maxUnknownNames'>

const sharesOf = ({ memoryBytes = DEFAULT_MEMORY_BYTES, threads }: LimitOptions) =>
  divideMemory(memoryBytes, threads)

/** Limits of a plan where a person gave none. */
export const defaultLimits = (options: LimitOptions): Required<RunLimits> => {
  const { blockBytes } = sharesOf(options)
  return {
    ...DEFAULT_LIMITS,
    blockBytes,
    maxUnknownPerRecord: options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord,
    maxUnknownNames: options.maxUnknownNames ?? UNKNOWN_LIMITS.names,
  }
}

const spoolFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spool`)

/** Makes room for a run and starts DuckDB for it. */
const openEngine = async (lease: RunLease, options: EngineOptions): Promise<Engine> => {
  try {
    // Another machine may have begun the run.
    await makeFolder(spoolFolder(lease), { within: inLake(lease.lake, '') })
    return await Engine.open(options)
  } catch (error) {
    throw writeError(`Cannot make room for run "${lease.run}"`, error)
  }
}

/** What a run works with; nothing of it is kept between its work and its commit but what stands in the lake. */
interface RunTools extends LoadParts {
  readonly sink: SinkRun
}

const withTools = async <T>(
  lease: RunLease,
  { limits }: RunPlan,
  options: RunOptions,
  use: (tools: RunTools) => Promise<T>,
): Promise<T> => {
  const { lake, signal } = options
  const { engineBytes, checkThreads } = sharesOf(options)
  const { maxLineBytes, maxRatio, maxDepth, blockBytes, maxUnknownPerRecord, maxUnknownNames } = limits
  const engine = await openEngine(lease, {
    memoryBytes: engineBytes,
    // One thread a partition and partitions side by side: a tenth less work than two threads in one query.
    threads: 1,
    spillFolder: inLake(lake, `${runPath(lease.run)}/spill`),
  })
  const checkers = openCheckers({
    ...{ maxDepth, maxUnknownPerRecord, maxUnknownNames },
    threads: options.checkThreads ?? checkThreads,
  })
  try {
    const memory = new BlockMemory((options.checkThreads ?? checkThreads) > 0)
    return await use({
      decode: (source, onInput) =>
        source.blocks?.() ??
        decodeBlocks(() => source.open(signal), {
          name: source.decodeName ?? source.name,
          ...{ blockBytes, maxLineBytes, maxRatio, memory, onInput, signal },
        }),
      checkers,
      loader: await openLoader(engine, { spoolFolder: spoolFolder(lease) }),
      sink: await (options.sink ?? parquetLake({ lake })).open(lease.run),
    })
  } finally {
    await checkers.close()
    engine.close()
  }
}

/** The sources of all jobs, in their order. Equal keys of different jobs name different units of work. */
const sourcesOf = (jobs: readonly OpenedJob[]): readonly Source[] =>
  jobs.flatMap(({ sources }, job) =>
    sources.map((source) =>
      job > 0 && source.key !== undefined ? { ...source, key: `${job} ${source.key}` } : source,
    ),
  )

/**
 * Loads the jobs of a plan and commits them at once.
 *
 * @throws {ToolkitError} QUARANTINE_LIMIT, CURRENCY_CHANGED (the run stays and can be resumed with a higher limit,
 *   with `changeCurrency`), INTERRUPTED, and whatever the sources throw; nothing of the run is then visible
 */
export const loadIntoLake = async (
  run: RunScope,
  plan: RunPlan,
  jobs: readonly OpenedJob[],
  options: RunOptions,
): Promise<LoadSummary> => {
  const { limit, changeCurrency, skipBadFiles, signal, onEvent } = options
  const { memoryBytes = DEFAULT_MEMORY_BYTES, threads = defaultThreads(memoryBytes) } = options
  const { again, limits } = plan
  const common = { lease: run, again, maxUnknownNames: limits.maxUnknownNames, signal, onEvent }
  const sources = sourcesOf(jobs)
  run.keep()
  try {
    return await withTools(run, plan, options, async (tools) => {
      await loadSources(
        { ...tools, sources, pulls: () => jobs.flatMap(({ pulls }) => pulls?.() ?? []) },
        { ...common, skipBadFiles, sideBySide: threads },
      )
      return commitLoaded(tools, {
        ...{ ...common, limit, changeCurrency, pipeline: pipelineOf(plan), tool: TOOL },
        ...{ now: () => new Date(), random: randomBytes },
      })
    })
  } catch (error) {
    throw signal?.aborted && !(error instanceof ToolkitError) ? interrupted(run.run) : error
  } finally {
    // Whoever takes the run over writes the prefetched files.
    await Promise.allSettled(sources.map((source) => source.stop?.()))
  }
}
