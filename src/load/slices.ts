/** Parts the current rows of a lake into slices that fit into memory: views of a session, one set at a time. */

import type { Content } from '../contract/objects.ts'
import type { PartitionEntry, Snapshot } from '../core/partition.ts'
import { currentRows, filesOf, HIDDEN_SCHEMA, makeSuperseded, readTable } from '../lake/current-versions.ts'
import type { Session } from '../lake/duckdb.ts'
import { fetchTables } from '../lake/fetch-tables.ts'
import { ident } from '../lake/sql.ts'
import { mainTables, TABLES, type Table, type TableName, tablesOf } from '../lake/tables.ts'

/** Records to give back in a session where `prepareGivingBack` ran, or whose superseded tables stand already. */
export interface SessionRequest {
  readonly session: Session
  /** A folder, or `s3://bucket/prefix`: then files are fetched, partition by partition. */
  readonly lake: string
  /** The snapshot that the superseded tables of the session were made of. */
  readonly snapshot: Snapshot
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly bigint[] | undefined
  readonly signal?: AbortSignal | undefined
}

/** Makes a session's hidden schema and its tables of superseded versions. @param content default: of both */
export const prepareGivingBack = async (
  { session, lake, snapshot }: Pick<SessionRequest, 'session' | 'lake' | 'snapshot'>,
  content?: Content,
): Promise<void> => {
  await session.run(`CREATE SCHEMA IF NOT EXISTS ${HIDDEN_SCHEMA}`)
  for (const main of mainTables()) {
    if (content === undefined || main.content === content) {
      await fetchTables(lake, snapshot, [main.name])
      await session.run(makeSuperseded(snapshot, lake, main))
    }
  }
}

/** The name of the view of a table's rows in the current slice; `line_items` is that of the run that loaded them. */
export const sliceView = (table: TableName): string => ident(`part_${table}`)

/** Most rows of each table that a slice holds on average. */
export type SliceRows = Readonly<Partial<Record<TableName, number>>>

/** Makes the views of one slice after the other; each holds whole records, with greater ids than those before it. */
export async function* slicesOf(
  request: SessionRequest,
  content: Content,
  mostRows: SliceRows,
): AsyncGenerator<void> {
  const { session, snapshot, ids, signal } = request
  for (const [version, partition] of snapshot.partitions.entries()) {
    if (partition.content !== content || partition.counts.records === 0) continue
    await fetchOf(request, partition, content)
    await makeDictionary(request, partition)
    await makeViews(request, content, version, () => 'true')
    const conditions = ids
      ? amongIds(ids)
      : await idRanges(session, content, slicesNeeded(partition, mostRows))
    for (const condition of conditions) {
      signal?.throwIfAborted()
      await makeViews(request, content, version, condition)
      yield
    }
  }
}

/** Fetches the files of a partition and the dictionary of its run. */
const fetchOf = (
  { lake, snapshot, signal }: SessionRequest,
  partition: PartitionEntry,
  content: Content,
): Promise<void> => {
  const files = filesOfRun(snapshot, partition)
  const tables = [...tablesOf(content), dictionaryTable()].map(({ name }) => name)
  return fetchTables(lake, { partitions: [partition], files }, tables, { signal })
}

/** A condition on the column that says which record a row belongs to. */
type Condition = (owner: string) => string

const amongIds = (ids: readonly bigint[]): Condition[] => {
  const sorted = [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1))
  const parts = Array.from({ length: Math.ceil(sorted.length / IDS_AT_ONCE) }, (_, at) =>
    sorted.slice(at * IDS_AT_ONCE, (at + 1) * IDS_AT_ONCE),
  )
  return parts.map((part) => (owner) => `${owner} IN (${part.join(', ')})`)
}
const IDS_AT_ONCE = 2_000

const slicesNeeded = (partition: PartitionEntry, mostRows: SliceRows): number =>
  Math.max(
    1,
    ...Object.entries(mostRows).map(([table, most]) => Math.ceil((partition.counts.rows[table] ?? 0) / most)),
  )

/** Ranges of ids with equally many records each. Rows mostly stand in the order of ids: most are not even read. */
const idRanges = async (session: Session, content: Content, slices: number): Promise<Condition[]> => {
  if (slices === 1) return [() => 'true']
  const shares = Array.from({ length: slices - 1 }, (_, at) => (at + 1) / slices)
  const rows = await session.rows(
    `SELECT DISTINCT unnest(quantile_disc(internal_id, [${shares.join(', ')}])) AS bound FROM ${sliceView(content)} ORDER BY bound`,
  )
  const bounds = rows.map(({ bound }) => `'${String(bound)}'::BIGINT`)
  return [...bounds, undefined].map((until, at) => {
    const from = bounds[at - 1]
    return (owner) =>
      [from && `${owner} > ${from}`, until && `${owner} <= ${until}`].filter(Boolean).join(' AND ') || 'true'
  })
}

const makeViews = async (
  { session, lake, snapshot }: SessionRequest,
  content: Content,
  version: number,
  condition: Condition,
): Promise<void> => {
  for (const table of tablesOf(content)) {
    const files = filesOf(snapshot, lake, table.name).filter((file) => file.version === version)
    const rows = currentRows(table, readTable(table, files, 'with-version'))
    await session.run(
      `CREATE OR REPLACE TEMP VIEW ${ident(`part_${table.name}`)} AS SELECT * FROM (${rows}) WHERE ${condition(ident(table.owner ?? ''))}`,
    )
  }
}

const filesOfRun = ({ files }: Snapshot, { run }: PartitionEntry): Snapshot['files'] =>
  files.filter((file) => file.run === run)

/** The dictionary of the run that loaded the partition: it says which figures were scaled. */
const makeDictionary = async (
  { session, snapshot, lake }: SessionRequest,
  partition: PartitionEntry,
): Promise<void> => {
  const table = dictionaryTable()
  const own = { ...snapshot, partitions: [], files: filesOfRun(snapshot, partition) }
  await session.run(
    `CREATE OR REPLACE TEMP VIEW ${sliceView('line_items')} AS ${readTable(table, filesOf(own, lake, table.name))}`,
  )
}

const dictionaryTable = (): Table => {
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new TypeError('Cannot find the declaration of table "line_items"')
  return table
}
