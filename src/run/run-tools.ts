/** The tools of the work and the commit of a run. They keep nothing of the run but what is in the lake. */

import { openCheckers } from '../check/block-checker.ts'
import { brotliOriginOf } from '../core/brotli.ts'
import { writeError } from '../core/errors.ts'
import { DEFAULT_MEMORY_BYTES, divideMemory } from '../core/memory-shares.ts'
import type { Sink, SinkRun } from '../core/sink.ts'
import { inStage } from '../core/stages.ts'
import { BlockMemory } from '../decode/cut-blocks.ts'
import { decodeBlocks } from '../decode/decode-blocks.ts'
import { Engine, type EngineOptions } from '../lake/duckdb/engine.ts'
import { inLake, runPath } from '../lake/files/layout.ts'
import { type Loader, type LoaderOptions, openLoader } from '../load/loader.ts'
import type { RecordFilter } from '../load/record-filter.ts'
import { refusedBy } from '../manifest/form/forgotten.ts'
import { rootIfAny } from '../manifest/snapshots/snapshots.ts'
import { parquetLake } from '../sink/parquet-lake.ts'
import { makeFolders } from '../support/file-modes.ts'
import { runBegan } from '../support/run-ids.ts'
import { settled } from '../support/side-by-side.ts'
import { notResumable } from './opened-job.ts'
import type { ProjectionOptions } from './projection-of-run.ts'
import type { RunPlan } from './run-plan.ts'
import type { LoadParts } from './work/load-source.ts'

export interface ToolOptions extends Pick<ProjectionOptions, 'hashKey' | 'keeps'> {
  readonly lake: string
  readonly memoryBytes?: number | undefined
  /** Partitions loaded side by side, each on one thread. @default as many as cores, and as there is memory for */
  readonly threads?: number | undefined
  /** Threads that check lines; 0: the main thread does it. @default 0 on two cores, else one for three partitions */
  readonly checkThreads?: number | undefined
  /** Target of the rows. @default the Parquet lake */
  readonly sink?: Sink | undefined
  /** Filters of the records that come; the others are counted as filtered. @default none */
  readonly filters?: readonly RecordFilter[] | undefined
  readonly signal?: AbortSignal | undefined
}

export interface RunTools extends LoadParts {
  readonly sink: SinkRun
}

/** The run, and a folder of this machine for what is at work. */
export interface WorkPlace {
  readonly run: string
  /** @default the run's folder in the lake */
  readonly scratch?: string | undefined
}

export const sharesOf = ({
  memoryBytes = DEFAULT_MEMORY_BYTES,
  threads,
}: Pick<ToolOptions, 'memoryBytes' | 'threads'>) => divideMemory(memoryBytes, threads)

/** Makes room for a run and starts DuckDB for it. */
const openEngine = async (
  run: string,
  spool: string,
  within: string,
  options: EngineOptions,
): Promise<Engine> => {
  try {
    // Another machine may have begun the run.
    await makeFolders(spool, { within })
    return await Engine.open(options)
  } catch (error) {
    throw writeError(`Cannot make room for run "${run}"`, error)
  }
}

/** A sink whose writes are stages of the run. */
export const watchedSink = (run: string, sink: SinkRun): SinkRun => ({
  ...sink,
  write: (partition, table, rows) =>
    inStage(
      { stage: 'sink', run, partition, table },
      () => sink.write(partition, table, rows),
      (receipt) => ({ rows: receipt.rows, bytes: sumOf(receipt.files.map(({ bytes }) => bytes)) }),
    ),
})

const sumOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/**
 * The projection of the records: its code is loaded only where not everything is taken.
 * @throws {ToolkitError} RUN_NOT_RESUMABLE
 */
const projectionTools = async (
  run: string,
  declared: RunPlan['take'],
  { hashKey, keeps }: ToolOptions,
): Promise<Pick<LoaderOptions, 'take' | 'computed'> & { readonly filters: readonly RecordFilter[] }> => {
  if (declared === undefined) return { filters: [] }
  const { compileProjection } = await import('../lake/projection/compile-projection.ts')
  const { computedColumns } = await import('../lake/projection/computed-columns.ts')
  const computed = computedColumns(declared.compute)
  const take = await compileProjection(declared, hashKey)
  if (take === undefined) return { computed, filters: [] }
  const { filterByFunction, filterBySql } = await import('../load/record-filter.ts')
  const bySql = filterBySql(take.condition)
  if (!take.declared.byFunction) return { take, computed, filters: [bySql] }
  if (keeps === undefined)
    throw notResumable(run, 'a function of a program leaves records out, start that again')
  return { take, computed, filters: [bySql, filterByFunction(keeps)] }
}

/** Filters that keep forgotten companies and entities out of a lake. */
const refusalsOf = async (lake: string) => {
  const refused = refusedBy((await rootIfAny(lake))?.refusals)
  if (refused === undefined) return { refuse: undefined, filters: [] }
  const { refuseLines } = await import('../check/quarantine/refuse-lines.ts')
  const { filterById } = await import('../load/record-filter.ts')
  return { refuse: refuseLines(refused), filters: [filterById((id) => !refused.isCompany(id))] }
}

/** Opens what a run is worked on with, and closes it. */
export const withTools = async <T>(
  { run, scratch }: WorkPlace,
  { limits, take }: Pick<RunPlan, 'limits' | 'take'>,
  options: ToolOptions,
  use: (tools: RunTools) => Promise<T>,
): Promise<T> => {
  const { lake, signal } = options
  const { engineBytes, checkThreads } = sharesOf(options)
  const { maxLineBytes, maxRatio, maxDepth, blockBytes, maxUnknownPerRecord, maxUnknownNames } = limits
  const taken = await projectionTools(run, take, options)
  const folder = scratch ?? inLake(lake, runPath(run))
  const spoolFolder = `${folder}/spool`
  // Nobody waits for it before the first block is checked.
  const engine = settled(
    openEngine(run, spoolFolder, scratch ?? inLake(lake, ''), {
      memoryBytes: engineBytes,
      // A thread for each partition and partitions side by side: a tenth less work than two threads in one query.
      threads: 1,
      spillFolder: `${folder}/spill`,
    }),
  )
  const checkers = openCheckers({
    ...{ maxDepth, maxUnknownPerRecord, stampsUntil: Date.parse(runBegan(run)) },
    // Names that the contract does not know may be what is left out.
    maxUnknownNames: taken.take ? 0 : maxUnknownNames,
    threads: options.checkThreads ?? checkThreads,
  })
  let loader: Loader | undefined
  try {
    const { refuse, filters } = await refusalsOf(lake)
    loader = openLoader(async () => (await engine)(), {
      ...taken,
      spoolFolder,
      filters: [...taken.filters, ...filters, ...(options.filters ?? [])],
    })
    const memory = new BlockMemory()
    return await use({
      decode: (source, onInput) =>
        source.blocks?.() ??
        decodeBlocks(() => source.open(signal), {
          name: source.decodeName ?? source.name,
          origin: brotliOriginOf(source),
          ...{ blockBytes, maxLineBytes, maxRatio, memory, onInput, signal },
        }),
      checkers,
      refuse,
      loader,
      sink: watchedSink(run, await (options.sink ?? parquetLake({ lake })).open(run)),
    })
  } finally {
    await checkers.close()
    await loader?.close()
    await close(engine)
  }
}

/** Closes an engine. A failure to open it was thrown to the code that needed it. */
const close = async (engine: Promise<() => Engine>): Promise<void> => {
  const opened = await engine.then((open) => open()).catch(() => undefined)
  opened?.close()
}
