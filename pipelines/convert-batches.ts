/**
 * Batch files to a lake, as a program: source → decode → load → sink → manifest, each part chosen here.
 *
 * Run it: `node pipelines/convert-batches.ts LAKE FILE…`. Give another sink to write something else, for
 * example `jsonLines({ directory })`; the manifest then stands in the same folder.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  BlockMemory,
  DEFAULT_MEMORY_BYTES,
  decodeBlocks,
  divideMemory,
  Engine,
  inLake,
  type LoadSummary,
  loadSources,
  localSources,
  newSeenSets,
  openLoader,
  parquetLake,
  parseQuarantineLimit,
  RecordChecker,
  type Sink,
  startRun,
} from '../src/index.ts'

export interface ConvertBatches {
  /** Files, folders, patterns, or `-` for standard input. */
  readonly inputs: readonly string[]
  /** Folder or `s3://bucket/prefix` of the manifest and of unfinished runs; with the Parquet sink the lake itself. */
  readonly lake: string
  /** @default the Parquet lake in `lake` */
  readonly sink?: Sink
}

export const convertBatches = async ({
  inputs,
  lake,
  sink = parquetLake({ lake }),
}: ConvertBatches): Promise<LoadSummary> => {
  const sources = await localSources(inputs)
  const { engineBytes, blockBytes } = divideMemory(DEFAULT_MEMORY_BYTES)
  const plan = {
    pipeline: 'convert-batches',
    inputs,
    cwd: process.cwd(),
    again: false,
    limits: { blockBytes },
  }
  const lease = await startRun({ lake, plan, now: new Date(), random: randomBytes })
  const folder = inLake(lake, `_runs/${lease.run}`)
  const engine = await Engine.open({
    memoryBytes: engineBytes,
    threads: 1,
    spillFolder: join(folder, 'spill'),
  })
  const seen = newSeenSets()
  const memory = new BlockMemory()
  try {
    const loader = await openLoader(engine, { spoolFolder: join(folder, 'spool'), seen })
    return await loadSources(
      {
        sources,
        decode: (source, onInput) =>
          decodeBlocks(() => source.open(), { name: source.name, blockBytes, memory, onInput }),
        checker: (content) => new RecordChecker(content, seen),
        loader,
        sink,
      },
      {
        lease,
        pipeline: plan.pipeline,
        tool: 'convert-batches 1',
        limit: parseQuarantineLimit('1%'),
        sideBySide: 2,
        now: () => new Date(),
        random: randomBytes,
      },
    )
  } finally {
    engine.close()
  }
}

if (process.argv[1] === import.meta.filename) {
  const [lake, ...inputs] = process.argv.slice(2)
  if (lake === undefined || inputs.length === 0) {
    console.error('usage: node pipelines/convert-batches.ts LAKE FILE…')
    process.exit(2)
  }
  const { snapshot, partitions } = await convertBatches({ lake, inputs })
  const records = partitions.reduce((sum, { counts }) => sum + counts.records, 0)
  console.log(
    JSON.stringify({ snapshot: snapshot?.snapshot ?? null, partitions: partitions.length, records }),
  )
}
