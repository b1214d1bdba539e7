/** The Parquet files of a run that is not committed yet, where they stand. */

import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import type { Row } from '../lake/duckdb/engine.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake, stagingPath } from '../lake/files/layout.ts'
import { TABLES, type Table } from '../lake/tables/tables.ts'
import type { VersionedFile } from '../lake/views/current-versions.ts'
import { statPath } from '../support/list-files.ts'
import { withInstants } from './source-instants.ts'

/** A run before its commit, and a session that reads its rows. */
export interface StagedRun {
  readonly lake: string
  readonly run: string
  readonly partitions: readonly PartitionEntry[]
  readonly rows: (sql: string) => Promise<readonly Row[]>
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
  { lake, run, partitions }: Omit<StagedRun, 'rows'>,
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
