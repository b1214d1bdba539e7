/**
 * Batch files to a lake, as a program: source → decode → load → sink → manifest, each part chosen here.
 *
 * Run it: `node pipelines/convert-batches.ts LAKE FILE…`. Give another sink to write something else, for
 * example `jsonLines({ directory })`; the manifest then stands in the same folder.
 */

import {
  DEFAULT_MEMORY_BYTES,
  divideMemory,
  type LoadSummary,
  loadIntoLake,
  localSources,
  parseQuarantineLimit,
  type RunPlan,
  type Sink,
  withRun,
} from '../src/index.ts'

export interface ConvertBatches {
  /** Files, folders, patterns, or `-` for standard input. */
  readonly inputs: readonly string[]
  /** Folder or `s3://bucket/prefix` of the manifest and of unfinished runs; with the Parquet sink the lake itself. */
  readonly lake: string
  /** @default the Parquet lake in `lake` */
  readonly sink?: Sink
}

export const convertBatches = async ({ inputs, lake, sink }: ConvertBatches): Promise<LoadSummary> => {
  const sources = await localSources(inputs)
  const { blockBytes } = divideMemory(DEFAULT_MEMORY_BYTES)
  const plan: RunPlan = {
    jobs: [{ kind: 'program', pipeline: 'convert-batches', inputs, cwd: process.cwd() }],
    again: false,
    limits: { blockBytes },
  }
  const limit = parseQuarantineLimit('1%')
  return withRun({ lake, plan }, (run) => loadIntoLake(run, plan, [{ sources }], { lake, limit, sink }))
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
