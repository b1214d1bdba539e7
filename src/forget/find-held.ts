/**
 * Finds the partitions that hold the forgotten: by the ids in the tables that have one row a record, by those of entities, and by what
 * records of others say in the column `extra`.
 */

import { ownerOf } from '../check/quarantine/refuse-lines.ts'
import type { Identifiers } from '../core/identifiers.ts'
import { literal, pathSql, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { isOfTable, versionsTable } from '../lake/tables/past-tables.ts'
import { LISTINGS, mainTables } from '../lake/tables/tables.ts'
import { itemText, withoutForgotten } from './clean-record.ts'
import type { StrippedRecord } from './forget-summary.ts'
import { COMPANY_IDS, ENTITY_IDS, FILES_AT_ONCE, type ForgetWork, withLakeFiles } from './forget-work.ts'
import { restoredRecords } from './past-records.ts'

/** The records of the forgotten in a partition. */
export interface Held {
  /** Records that go: of the companies. */
  readonly removed: Set<bigint>
  /** Relations records of others that have an entity of theirs. */
  readonly changed: Set<bigint>
}

/** Keyed by the partition's place in the snapshot. */
export type HeldByPlace = ReadonlyMap<number, Held>

interface Look {
  readonly table: string
  readonly owner: string
  /** The column with the id that a row is about. */
  readonly id: string
  readonly ids: string
}

const LOOKS: readonly Look[] = [
  // A compaction may have the versions of a record, listings without the company among them, and none of its rows.
  ...[...mainTables().flatMap(({ name, content }) => [name, versionsTable(content).name]), LISTINGS.name].map(
    (table): Look => ({ table, owner: 'internal_id', id: 'internal_id', ids: COMPANY_IDS }),
  ),
  { table: 'relation_entities', owner: 'company_id', id: 'entity_id', ids: ENTITY_IDS },
]

/** The rows of the forgotten that were found. */
export interface FoundIds {
  readonly held: Map<number, Held>
  /** Ids that have rows. */
  readonly known: Set<bigint>
}

/** The entry of a partition, which its callers add to. */
export const heldAt = (held: Map<number, Held>, place: number): Held => {
  const one = held.get(place) ?? { removed: new Set(), changed: new Set() }
  held.set(place, one)
  return one
}

/** Looks through ids alone, some files at a time. */
export const findHeld = async (work: ForgetWork): Promise<FoundIds> => {
  const { snapshot, session, localBytes, signal } = work
  const held = new Map<number, Held>()
  const known = new Set<bigint>()
  for (const { table, owner, id, ids } of LOOKS) {
    const files = snapshot.partitions.flatMap((partition, place) =>
      partition.files.flatMap((file) =>
        isOfTable(file, table) && file.rows > 0 ? [{ ...file, partition: place }] : [],
      ),
    )
    for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
      signal?.throwIfAborted()
      const rows = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`SELECT DISTINCT [${group.map(({ partition }) => partition)}][file_index::BIGINT + 1] AS place, ${owner} AS owner,
  ${id} AS id, ${owner} IN (FROM ${COMPANY_IDS}) AS is_theirs
FROM ${readParquet(pathsSql(group.map(({ path }) => placeOf(path))), 'union_by_name = true')}
WHERE ${id} IN (FROM ${ids})`),
      )
      for (const row of rows) {
        known.add(BigInt(String(row.id)))
        const of = BigInt(String(row.owner))
        const place = Number(row.place)
        if (row.is_theirs !== true) heldAt(held, place).changed.add(of)
        // Their own record goes by the table that has one row of it.
        else if (id === owner) heldAt(held, place).removed.add(of)
      }
    }
  }
  return { held, known }
}

/** Line items that the contract does not know and whose names mention the forgotten, as SQL texts. */
const itemsThatMention = async (work: ForgetWork, { mentions }: Identifiers): Promise<readonly string[]> => {
  const found = new Set<string>()
  for (const file of work.snapshot.files.filter(({ rows }) => rows > 0)) {
    const items = await withLakeFiles(work, [file], (placeOf) =>
      work.session.rows(
        `SELECT category, line_item FROM ${readParquet(pathSql(placeOf(file.path)))} WHERE unit = 'unknown'`,
      ),
    )
    for (const { category, line_item } of items) {
      const text = itemText(String(category), String(line_item))
      if (mentions(text)) found.add(text)
    }
  }
  return [...found]
}

/** Records that may mention them, each with the ids of theirs that stand in it. */
type Suspects = Map<bigint, readonly bigint[]>

/** Calls `look` with an SQL relation of some rows of a partition's table at a time. */
const lookIntoRows = async (
  work: ForgetWork,
  place: number,
  table: string,
  look: (from: string) => Promise<void>,
): Promise<void> => {
  const { snapshot, localBytes, signal } = work
  const files =
    snapshot.partitions[place]?.files.filter((file) => isOfTable(file, table) && file.rows > 0) ?? []
  for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
    signal?.throwIfAborted()
    await withLakeFiles(work, group, (placeOf) =>
      look(readParquet(pathsSql(group.map(({ path }) => placeOf(path))), 'union_by_name = true')),
    )
  }
}

/** Records whose `extra` mentions them, or whose figures stand under such a line item. */
const suspectsIn = async (
  work: ForgetWork,
  place: number,
  { mentions, idsIn }: Identifiers,
  items: readonly string[],
): Promise<Suspects> => {
  const { snapshot, session } = work
  const suspects: Suspects = new Map()
  const main = mainTables().find(({ content }) => content === snapshot.partitions[place]?.content)
  if (main)
    await lookIntoRows(work, place, main.name, async (from) => {
      const rows = session.stream(`SELECT internal_id, extra FROM ${from} WHERE extra IS NOT NULL`)
      for await (const some of rows)
        for (const { internal_id: id, extra } of some)
          if (mentions(String(extra))) suspects.set(BigInt(String(id)), idsIn(String(extra)))
    })
  if (items.length > 0)
    await lookIntoRows(work, place, 'financials', async (from) => {
      const rows = await session.rows(
        `SELECT DISTINCT internal_id FROM ${from} WHERE category || ' ' || line_item IN (${items.map(literal).join(', ')})`,
      )
      for (const { internal_id: id } of rows)
        suspects.set(BigInt(String(id)), suspects.get(BigInt(String(id))) ?? [])
    })
  return suspects
}

/**
 * Adds the records that are to be written again to what is held, and ids that stand in what goes to those that are known.
 *
 * @returns records of others that lose their unknown fields
 */
export const findTold = async (
  work: ForgetWork,
  { held, known }: FoundIds,
  identifiers: Identifiers,
): Promise<readonly StrippedRecord[]> => {
  const { snapshot, isEntity } = work
  const stripped = new Map<string, StrippedRecord>()
  const items = await itemsThatMention(work, identifiers)
  for (const [place, partition] of snapshot.partitions.entries()) {
    const { content } = partition
    const suspects = await suspectsIn(work, place, identifiers, items)
    const ids = [...suspects.keys()].filter((id) => !held.get(place)?.removed.has(id))
    if (ids.length === 0) continue
    for await (const { text } of restoredRecords(work, partition, ids)) {
      const id = ownerOf(content, text)
      if (id === undefined || !withoutForgotten(content, text, { isEntity, identifiers }).isStripped) continue
      heldAt(held, place).changed.add(id)
      for (const one of suspects.get(id) ?? []) known.add(one)
      stripped.set(`${content} ${id}`, { content, id: String(id) })
    }
  }
  return [...stripped.values()]
}
