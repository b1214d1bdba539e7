/**
 * The tables of history that a compaction keeps beside the current rows: rows that were replaced in tables of their own, and which versions each
 * record had. A row stands once, over the interval of versions that had exactly it.
 */

import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition, PartitionEntry } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import type { Column } from './columns.ts'
import { LISTINGS, mainTables, QUARANTINE, type RecordTable, TABLES, type Table } from './tables.ts'

const VERSION: Column = {
  name: 'version',
  type: 'BIGINT',
  about: 'The first version of its record that had exactly this row.',
}
const UNTIL: Column = {
  name: 'until',
  type: 'BIGINT',
  about: 'The first later version of its record that had not.',
}

/** A column of the current rows that a compaction writes: no column of a table has its name, and whoever names columns does not see it. */
export const FIRST_VERSION: Column = { ...VERSION, name: 'firmlake_version' }

/** The table with the first version of each row. */
export const withFirstVersion = <Some extends Table>(table: Some): Some => ({
  ...table,
  columns: [...table.columns, FIRST_VERSION],
})

const ENDING = '_past'

/** The name of a table without what stands behind that of its past rows. */
export const nameWithoutPast = (name: string): string =>
  name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : name

/** Whether a file holds rows of a table, or past ones of it. */
export const isOfTable = ({ table }: { readonly table: string }, name: string): boolean =>
  nameWithoutPast(table) === name

/** The past rows of a table. */
export const pastOf = <Some extends Table>(table: Some): Some => ({
  ...table,
  name: `${table.name}${ENDING}`,
  key: [...table.key, VERSION.name],
  columns: [...table.columns, VERSION, UNTIL],
})

/** The versions that records of a content had when they were put together. */
export const versionsTable = (content: Content): RecordTable => ({
  name: `${content}_versions`,
  row: 'a version of a record that a compaction has put together with others',
  content,
  key: ['internal_id', 'version'],
  owner: 'internal_id',
  columns: [
    { name: 'internal_id', type: 'BIGINT', about: 'Company identifier.' },
    { name: 'version', type: 'BIGINT', about: 'Number of the partition that had the record.' },
    { name: 'as_of', type: 'TIMESTAMPTZ', about: 'When the service said it.', unit: 'instant, UTC' },
    { name: 'is_listing', type: 'BOOLEAN', about: 'Whether it is a listing that lacked the company.' },
  ],
})

/** The tables of a content that hold history alone. */
export const historyTablesOf = (content: Content): readonly RecordTable[] => [
  ...TABLES.flatMap((table) => (table.content === content ? [pastOf({ ...table, content })] : [])),
  versionsTable(content),
]

/** Everything that stands in files of its own in a lake. */
export const STORED_TABLES: readonly Table[] = [
  ...TABLES,
  LISTINGS,
  QUARANTINE,
  ...mainTables().flatMap(({ content }) => historyTablesOf(content)),
]

/** Whether the rows of a partition have versions of their own: it is a compaction, and its number stands for many. */
export const hasOwnVersions = ({ content, counts }: Pick<PartitionEntry, 'content' | 'counts'>): boolean =>
  (counts.rows[versionsTable(content).name] ?? 0) > 0

/** The runs of compactions whose rows have versions of their own, among some partitions. */
export const runsOfHistory = (
  partitions: readonly Pick<PartitionEntry, 'run' | 'content' | 'counts'>[],
): ReadonlySet<string> => new Set(partitions.filter(hasOwnVersions).map(({ run }) => run))

/** Since when no past row of what a partition holds is missing; `undefined` where it never lost any. */
export const historySince = (
  partition: Pick<CommittedPartition, 'source' | 'content' | 'counts' | 'pastSince' | 'committed'>,
): string | undefined =>
  isCompaction(partition.source) && !hasOwnVersions(partition)
    ? partition.committed.time
    : partition.pastSince
