/** Companies and persons by their national ids, as the lake knows them: OrgNo and NationalIdentificationNumber. */

import { literal } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'
import type { ForgottenIds } from '../../manifest/form/forgotten.ts'
import { pathsSql } from './find-held.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import { stripped } from './identifiers.ts'

const WANTED = `${HIDDEN_SCHEMA}.national_ids`

/** As the service compares them: without white space and hyphens. */
const strippedSql = (column: string): string => `upper(regexp_replace(${column}, '[\\s-]', '', 'g'))`

interface Look {
  readonly table: string
  readonly id: string
  readonly column: string
  readonly as: keyof ForgottenIds
}

const LOOKS: readonly Look[] = [
  { table: 'companies', id: 'internal_id', column: 'org_no', as: 'companies' },
  { table: 'relations', id: 'internal_id', column: 'org_no', as: 'companies' },
  { table: 'relation_entities', id: 'entity_id', column: 'org_no', as: 'companies' },
  { table: 'relation_entities', id: 'entity_id', column: 'national_identification_number', as: 'persons' },
]

export interface ResolvedIds {
  readonly ids: ForgottenIds
  /** National ids that the lake does not know. */
  readonly unresolved: number
}

/** @param country of the companies and persons. @default any */
export const resolveIds = async (
  work: ForgetWork,
  nationalIds: readonly string[],
  country: string | undefined,
): Promise<ResolvedIds> => {
  const { session, snapshot, localBytes, signal, ids } = work
  const found = { companies: new Set(ids.companies), persons: new Set(ids.persons) }
  const wanted = new Set(nationalIds.map(stripped))
  if (wanted.size === 0) return { ids: found, unresolved: 0 }
  await session.run(`CREATE TABLE ${WANTED} (id VARCHAR)`)
  for (const id of wanted) await session.run(`INSERT INTO ${WANTED} VALUES ($1)`, [id])
  const resolved = new Set<string>()
  const inCountry = country === undefined ? '' : ` AND country_code = ${literal(country.toUpperCase())}`
  for (const { table, id, column, as } of LOOKS) {
    const files = snapshot.partitions.flatMap((partition) =>
      partition.files.filter((file) => file.table === table && file.rows > 0),
    )
    for (const group of cutByBytes(files, localBytes, 256)) {
      signal?.throwIfAborted()
      const rows = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`SELECT DISTINCT ${id} AS id, ${strippedSql(column)} AS national
FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))}, union_by_name = true, hive_partitioning = false)
WHERE ${strippedSql(column)} IN (FROM ${WANTED})${inCountry} AND ${id} IS NOT NULL`),
      )
      for (const { id: internal, national } of rows) {
        found[as].add(BigInt(String(internal)))
        resolved.add(String(national))
      }
    }
  }
  return { ids: found, unresolved: wanted.size - resolved.size }
}
