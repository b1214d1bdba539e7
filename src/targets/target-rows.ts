/** The rows, views and macros that the sinks of a delivery take. */

import { ToolkitError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { SinkContext } from '../core/sink.ts'
import { inLake } from '../lake/files/layout.ts'
import { type CompiledProjection, takenRows } from '../lake/projection/compile-projection.ts'
import { type ComputedColumn, isFailedValue, withComputed } from '../lake/projection/computed-columns.ts'
import { SINK_TABLES, type Table } from '../lake/tables/tables.ts'
import { readTable } from '../lake/views/current-versions.ts'
import { FACT_NAMES, type FactName } from '../lake/views/fact-columns.ts'
import { layerOnTables } from '../lake/views/lake-sql.ts'
import { fitsIntoFile } from '../manifest/lake-file/lake-file.ts'
import { readFactsOf } from '../manifest/snapshots/read-facts.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { LateVersions } from './late-versions.ts'

/** The tables of one partition of a run, or of the run itself. */
export interface PartToDeliver {
  readonly partition: string
  /** 0 of a run's own. */
  readonly version: number
  readonly files: readonly FileEntry[]
}

export interface RowsToDeliver {
  readonly lake: string
  readonly take: CompiledProjection | undefined
  /** Versions that were older than the lake's data when they came: sinks do not get them. */
  readonly late: LateVersions
  /** Further columns: of the lake, and for the sinks alone. */
  readonly computed: { readonly ofLake: readonly ComputedColumn[]; readonly own: readonly ComputedColumn[] }
}

const versionedOf = (lake: string, files: readonly FileEntry[]) =>
  files.map(({ path, bytes }) => ({ path: inLake(lake, path), bytes, version: 0, partition: undefined }))

/** The records of a partition that a table's rows belong to. */
const ownersOf = (lake: string, files: readonly FileEntry[], { content }: Table): string => {
  const main = SINK_TABLES.find(({ name }) => name === content)
  const own = files.filter(({ table }) => table === content)
  return main === undefined ? '' : readTable(main, versionedOf(lake, own))
}

/** The rows of a table as the sinks take them: columns are computed of what is taken, those of the lake too. */
export const rowsFor = (
  { lake, take, late, computed: { ofLake, own } }: RowsToDeliver,
  table: Table,
  { files: partition, version }: PartToDeliver,
  files: readonly FileEntry[],
): string => {
  const all = late.leftOut(table, version, readTable(table, versionedOf(lake, files)))
  const taken = take === undefined ? all : takenRows(take, table, all, ownersOf(lake, partition, table))
  return withComputed(own, table.name, withComputed(ofLake, table.name, taken), 'fail')
}

/** A value that cannot be computed stops the delivery. DuckDB's message may quote the data. */
export const orNotComputed = async <T>(
  { computed: { own } }: RowsToDeliver,
  table: Table,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const names = own.flatMap((one) => (one.table === table.name ? [`${one.table}.${one.column}`] : []))
    if (names.length === 0 || !isFailedValue(error)) throw error
    throw new ToolkitError(
      'PROJECTION_INVALID',
      `Cannot compute ${names.join(', ')} for a sink: it fails on a value; use functions such as TRY_CAST`,
      { table: table.name },
      error,
    )
  }
}

/** @param root the snapshot whose rates and manifest the file shows; read when a target asks for them */
export const layerOnTarget = (lake: string, root: SnapshotRoot): NonNullable<SinkContext['layer']> => {
  const facts = readFactsOf(lake, root)
  const known: readonly FactName[] = fitsIntoFile(root) ? FACT_NAMES : ['rates']
  return (names) => layerOnTables(facts, known, names)
}
