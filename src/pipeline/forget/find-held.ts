/** Which partitions hold the forgotten: by the ids in the tables that have one row a record, and in those of entities. */

import type { Content } from '../../contract/objects.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/lake/files-in-turn.ts'
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
  readonly condition: string
  readonly as: keyof Held
}

const LOOKS: readonly Look[] = [
  ...(['companies', 'relations', LISTINGS.name] satisfies (Content | string)[]).map(
    (table): Look => ({
      table,
      owner: 'internal_id',
      condition: `internal_id IN (FROM ${COMPANY_IDS})`,
      as: 'removed',
    }),
  ),
  {
    table: 'relation_entities',
    owner: 'company_id',
    condition: `entity_id IN (FROM ${ENTITY_IDS}) AND company_id NOT IN (FROM ${COMPANY_IDS})`,
    as: 'changed',
  },
]

/** Paths as DuckDB's list. */
export const pathsSql = (paths: readonly string[]): string => `[${paths.map(literal).join(', ')}]`

/** Looks through ids alone, some files at a time. */
export const findHeld = async (work: ForgetWork): Promise<HeldByPlace> => {
  const { snapshot, session, localBytes, signal } = work
  const held = new Map<number, Held>()
  for (const { table, owner, condition, as } of LOOKS) {
    const files = snapshot.partitions.flatMap((partition, place) =>
      partition.files.flatMap((file) =>
        file.table === table && file.rows > 0 ? [{ ...file, partition: place }] : [],
      ),
    )
    for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
      signal?.throwIfAborted()
      const rows = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`SELECT DISTINCT [${group.map(({ partition }) => partition)}][file_index::BIGINT + 1] AS place, ${owner} AS owner
FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))}, union_by_name = true, hive_partitioning = false)
WHERE ${condition}`),
      )
      for (const { place, owner: id } of rows) {
        const one = held.get(Number(place)) ?? { removed: new Set(), changed: new Set() }
        one[as].add(BigInt(String(id)))
        held.set(Number(place), one)
      }
    }
  }
  return held
}
