/**
 * Which partitions hold the forgotten: by the ids in the tables that have one row a record, by those of entities, and by what
 * records of others say in the column `extra`.
 */

import { ownerOf } from '../../check/quarantine/refuse-lines.ts'
import type { Content } from '../../contract/objects.ts'
import type { Identifiers } from '../../core/identifiers.ts'
import { pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { isOfTable } from '../../lake/tables/past-tables.ts'
import { LISTINGS, mainTables } from '../../lake/tables/tables.ts'
import type { LeftInFile } from '../../manifest/form/forgotten.ts'
import { withoutForgotten } from './clean-record.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, withLakeFiles } from './forget-work.ts'
import { restoredRecords } from './past-records.ts'

/** The records of the forgotten in a partition. */
export interface Held {
  /** Records that go: of the companies. */
  readonly removed: Set<bigint>
  /** Relations records of others that have an entity of theirs. */
  readonly changed: Set<bigint>
}

/** By the partition's place in the snapshot. */
export type HeldByPlace = ReadonlyMap<number, Held>

const FILES_AT_ONCE = 256

interface Look {
  readonly table: string
  readonly owner: string
  /** The column with the id that a row is about. */
  readonly id: string
  readonly ids: string
}

const LOOKS: readonly Look[] = [
  ...(['companies', 'relations', LISTINGS.name] satisfies (Content | string)[]).map(
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

/** A record that may tell of them. */
interface Suspect {
  /** The path of its row's file. */
  readonly path: string
  /** Ids of theirs that stand in it. */
  readonly ids: readonly bigint[]
}

/** Records whose `extra` has something of theirs, by their ids. */
const suspectsIn = async (
  work: ForgetWork,
  place: number,
  { standIn, idStandsIn, idsIn }: Identifiers,
): Promise<ReadonlyMap<bigint, Suspect>> => {
  const { snapshot, session, localBytes, signal } = work
  const suspects = new Map<bigint, Suspect>()
  const partition = snapshot.partitions[place]
  const main = mainTables().find(({ content }) => content === partition?.content)
  const files =
    partition?.files.filter((file) => main !== undefined && isOfTable(file, main.name) && file.rows > 0) ?? []
  for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE))
    await withLakeFiles(work, group, async (placeOf) => {
      const rows = session.stream(`SELECT internal_id, extra, file_index::INTEGER AS file
FROM ${readParquet(pathsSql(group.map(({ path }) => placeOf(path))), 'union_by_name = true')}
WHERE extra IS NOT NULL`)
      for await (const some of rows) {
        signal?.throwIfAborted()
        for (const { internal_id: id, extra, file } of some) {
          const text = String(extra)
          if (idStandsIn(text) || standIn(text))
            suspects.set(BigInt(String(id)), { path: group[Number(file)]?.path ?? '', ids: idsIn(text) })
        }
      }
    })
  return suspects
}

/**
 * Adds the records that are to be written again to what is held, and ids that stand in what goes to those that are known.
 *
 * @returns what stays because nobody can decide on it, by file
 */
export const findTold = async (
  work: ForgetWork,
  { held, known }: FoundIds,
  identifiers: Identifiers,
): Promise<readonly LeftInFile[]> => {
  const { snapshot, isEntity } = work
  const left = new Map<string, LeftInFile>()
  for (const [place, partition] of snapshot.partitions.entries()) {
    const { content } = partition
    const suspects = await suspectsIn(work, place, identifiers)
    const ids = [...suspects.keys()].filter((id) => !held.get(place)?.removed.has(id))
    if (ids.length === 0) continue
    for await (const { text } of restoredRecords(work, partition, ids)) {
      const cleaned = withoutForgotten(content, text, { isEntity, identifiers })
      const id = ownerOf(content, text)
      const suspect = id === undefined ? undefined : suspects.get(id)
      if (id === undefined || suspect === undefined) continue
      const { path } = suspect
      if (cleaned.isChanged) {
        heldAt(held, place).changed.add(id)
        for (const one of suspect.ids) known.add(one)
      }
      if (cleaned.left === 0) continue
      left.set(path, { kind: content, path, values: (left.get(path)?.values ?? 0) + cleaned.left })
    }
  }
  return [...left.values()]
}
