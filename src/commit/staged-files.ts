/** A run that is not committed yet, and its Parquet files where they stand. */

import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake, stagingPath } from '../lake/files/layout.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'
import type { VersionedFile } from '../lake/views/current-versions.ts'
import type { Loader } from '../load/loader.ts'
import { statPath } from '../support/list-files.ts'
import { withInstants } from './source-instants.ts'

/** A run before its commit, and what reads and writes rows for it. */
export interface StagedRun {
  readonly lake: string
  readonly run: string
  /** The partitions that it has loaded. */
  readonly partitions: readonly PartitionEntry[]
  readonly loader: Pick<Loader, 'rows' | 'withRows' | 'withSession'>
  readonly sink: SinkRun
}

/** Nothing of what is read here is handed on: each night only files that are new are hashed. */
export const CHECK = { check: 'first-read' } as const

export const tableNamed = (name: string): Table => {
  const table = TABLES.find((one) => one.name === name)
  if (table === undefined) throw new TypeError(`Cannot find table "${name}"`)
  return table
}

/** Staged, or in their places already, with the instants that the commit will give; versions in their order. */
export const stagedFiles = async (
  { lake, run, partitions }: Pick<StagedRun, 'lake' | 'run' | 'partitions'>,
  table: string,
): Promise<readonly VersionedFile[]> => {
  const found: VersionedFile[] = []
  const placed: FileEntry[] = []
  for (const [version, partition] of withInstants(partitions).entries()) {
    for (const file of partition.files) {
      if (file.table !== table || !file.path.endsWith('.parquet')) continue
      const staged = inLake(lake, `${stagingPath(run)}/${table}/${file.path.split('/').at(-1)}`)
      const isStaged = (await statPath(staged)) !== null
      if (!isStaged) placed.push(file)
      const path = isStaged ? staged : inLake(lake, file.path)
      found.push({ path, bytes: file.bytes, version, partition, asOf: partition.asOf })
    }
  }
  if (placed.length > 0) await fetchFiles(lake, placed, CHECK)
  return found
}
