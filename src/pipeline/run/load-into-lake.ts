/** Works on a leased run: decode → load → the Parquet lake → one commit. The same for every kind of source. */

import { randomBytes } from 'node:crypto'
import { CONTENT, type Content } from '../../contract/objects.ts'
import type { Block } from '../../core/block.ts'
import { writeError } from '../../core/errors.ts'
import type { PullEntry } from '../../core/partition.ts'
import type { Source } from '../../core/source.ts'
import { UNKNOWN_LIMITS } from '../../core/unknown-names.ts'
import { BlockMemory } from '../../decode/block-memory.ts'
import { decodeBlocks } from '../../decode/decode-blocks.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import { Engine, type EngineOptions } from '../../lake/duckdb/engine.ts'
import { inLake, runPath } from '../../lake/lake/layout.ts'
import { DEFAULT_MAX_DEPTH, RecordChecker } from '../../load/check-record.ts'
import { openLoader } from '../../load/loader.ts'
import { newSeenSets } from '../../load/seen-sets.ts'
import { type RunLease, releaseRun } from '../../manifest/run-lease.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { TOOL } from '../../support/tool-version.ts'
import { type LoadSummary, loadSources } from './load-sources.ts'
import { DEFAULT_MEMORY_BYTES, DEFAULT_THREADS, divideMemory } from './memory-shares.ts'
import type { RunEvent } from './progress.ts'
import type { QuarantineLimit } from './quarantine-limit.ts'
import type { RunPlan } from './start-run.ts'

export interface RunOptions {
  readonly lake: string
  readonly memoryBytes?: number | undefined
  /** Partitions loaded side by side, each on one thread. @default 2 */
  readonly threads?: number | undefined
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

/** Limits of a plan where a person gave none. */
export const defaultLimits = (options: LimitOptions) => {
  const { blockBytes } = divideMemory(options.memoryBytes ?? DEFAULT_MEMORY_BYTES, options.threads)
  return {
    ...DEFAULT_LIMITS,
    blockBytes,
    maxUnknownPerRecord: options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord,
    maxUnknownNames: options.maxUnknownNames ?? UNKNOWN_LIMITS.names,
  }
}

export interface WorkOptions extends RunOptions {
  /** Blocks of a source that are not decoded from its bytes. */
  readonly blocks?: ((source: Source) => AsyncIterable<Block>) | undefined
  /** Asked for at the commit: what was pulled. */
  readonly pulls?: (() => readonly PullEntry[]) | undefined
}

const spoolFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/spool`)

/** Makes room for a run and starts DuckDB for it; where that fails, the run is given up for another try. */
const openEngine = async (lease: RunLease, options: EngineOptions): Promise<Engine> => {
  try {
    // Another machine may have begun the run.
    await makeFolder(spoolFolder(lease), { within: inLake(lease.lake, '') })
    return await Engine.open(options)
  } catch (error) {
    const failed = writeError(`Cannot make room for run "${lease.run}"`, error)
    await releaseRun(lease, failed).catch(() => undefined)
    throw failed
  }
}

/** Works on a run that is already leased. */
export const loadIntoLake = async (
  lease: RunLease,
  plan: RunPlan,
  sources: readonly Source[],
  options: WorkOptions,
): Promise<LoadSummary> => {
  const { lake, limit, signal, onEvent, blocks, pulls } = options
  const { engineBytes } = divideMemory(options.memoryBytes ?? DEFAULT_MEMORY_BYTES, options.threads)
  const { maxLineBytes, maxRatio, maxDepth, blockBytes, maxUnknownPerRecord, maxUnknownNames } = plan.limits
  const engine = await openEngine(lease, {
    memoryBytes: engineBytes,
    // One thread a partition and partitions side by side: a tenth less work than two threads in one query.
    threads: 1,
    spillFolder: inLake(lake, `${runPath(lease.run)}/spill`),
  })
  try {
    const seen = newSeenSets()
    const memory = new BlockMemory()
    const loader = await openLoader(engine, {
      spoolFolder: spoolFolder(lease),
      seen,
    })
    return await loadSources(
      {
        sources,
        decode: (source, onInput) =>
          blocks?.(source) ??
          decodeBlocks(() => source.open(signal), {
            name: source.decodeName ?? source.name,
            blockBytes,
            maxLineBytes,
            maxRatio,
            memory,
            onInput,
            signal,
          }),
        checker: (content) =>
          new RecordChecker(content, seen, { maxDepth, maxUnknownPerRecord, maxUnknownNames }),
        loader,
        sink: parquetLake({ lake }),
      },
      {
        lease,
        pipeline: plan.pipeline,
        tool: TOOL,
        content: contentNamed(plan.content),
        limit,
        changeCurrency: options.changeCurrency,
        maxUnknownNames,
        skipBadFiles: options.skipBadFiles,
        again: plan.again,
        dropEmpty: blocks !== undefined,
        pulls,
        sideBySide: options.threads ?? DEFAULT_THREADS,
        now: () => new Date(),
        random: randomBytes,
        signal,
        onEvent,
      },
    )
  } finally {
    engine.close()
  }
}

const contentNamed = (name: string | undefined): Content | undefined =>
  (Object.keys(CONTENT) as Content[]).find((content) => content === name)
