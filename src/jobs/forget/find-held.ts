/** Which partitions hold the forgotten: by the ids in the tables that have one row a record, and in those of entities. */

import type { Content } from '../../contract/objects.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { LISTINGS } from '../../lake/tables/tables.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, withLakeFiles } from './forget-work.ts'

/** What a partition holds of them. */
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
  /** Whose rows they are. */
  readonly id: string
  readonly ids: string
}

const LOOKS: readonly Look[] = [
  ...(['companies', 'relations', LISTINGS.name] satisfies (Content | string)[]).map(
    (table): Look => ({ table, owner: 'internal_id', id: 'internal_id', ids: COMPANY_IDS }),
  ),
  { table: 'relation_entities', owner: 'company_id', id: 'entity_id', ids: ENTITY_IDS },
]

/** Paths as DuckDB's list. */
export const pathsSql = (paths: readonly string[]): string => `[${paths.map(literal).join(', ')}]`

/** What rows say of the forgotten. */
export interface FoundIds {
  readonly held: Map<number, Held>
  /** Ids that have rows. */
  readonly known: Set<bigint>
}

/** What is known of a partition; changed by whoever finds more. */
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
        file.table === table && file.rows > 0 ? [{ ...file, partition: place }] : [],
      ),
    )
    for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
      signal?.throwIfAborted()
      const rows = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`SELECT DISTINCT [${group.map(({ partition }) => partition)}][file_index::BIGINT + 1] AS place, ${owner} AS owner,
  ${id} AS id, ${owner} IN (FROM ${COMPANY_IDS}) AS is_theirs
FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))}, union_by_name = true, hive_partitioning = false)
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
