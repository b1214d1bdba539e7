/**
 * Identifiers of the forgotten besides their ids: companies and persons by national ids, and the names and national ids of
 * rows that are about to go.
 */

import { type Identifiers, identifiersOf, stripped } from '../../core/identifiers.ts'
import { literal, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'
import type { ForgottenIds } from '../../manifest/form/forgotten.ts'
import type { HeldByPlace } from './find-held.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, withLakeFiles } from './forget-work.ts'

const SOUGHT = `${HIDDEN_SCHEMA}.national_ids`

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

interface ResolvedIds {
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
  const sought = new Set(nationalIds.map(stripped))
  if (sought.size === 0) return { ids: found, unresolved: 0 }
  await session.run(`CREATE TABLE ${SOUGHT} (id VARCHAR)`)
  for (const id of sought) await session.run(`INSERT INTO ${SOUGHT} VALUES ($1)`, [id])
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
FROM ${readParquet(pathsSql(group.map(({ path }) => placeOf(path))), 'union_by_name = true')}
WHERE ${strippedSql(column)} IN (FROM ${SOUGHT})${inCountry} AND ${id} IS NOT NULL`),
      )
      for (const { id: internal, national } of rows) {
        found[as].add(BigInt(String(internal)))
        resolved.add(String(national))
      }
    }
  }
  return { ids: found, unresolved: sought.size - resolved.size }
}

const SELECTS: Readonly<Record<string, string>> = {
  companies: `SELECT [company_name] || coalesce(previous_names, []) AS names, [org_no, vat_number] AS ids
    FROM rows WHERE internal_id IN (FROM ${COMPANY_IDS})`,
  relations: `SELECT [name] AS names, [org_no] AS ids FROM rows WHERE internal_id IN (FROM ${COMPANY_IDS})`,
  relation_entities: `SELECT [name, first_name || ' ' || last_name, last_name || ' ' || first_name] AS names,
      [org_no, national_identification_number] AS ids FROM rows WHERE entity_id IN (FROM ${ENTITY_IDS})`,
}

/** @param given national ids that were asked for */
export const collectIdentifiers = async (
  work: ForgetWork,
  held: HeldByPlace,
  given: readonly string[],
): Promise<Identifiers> => {
  const { snapshot, session, ids } = work
  const texts = { names: new Set<string>(), ids: new Set(given) }
  for (const place of held.keys()) {
    const partition = snapshot.partitions[place]
    for (const [table, select] of Object.entries(SELECTS)) {
      const files = partition?.files.filter((file) => file.table === table && file.rows > 0) ?? []
      if (files.length === 0) continue
      const rows = await withLakeFiles(work, files, (placeOf) =>
        session.rows(`WITH rows AS (FROM ${readParquet(pathsSql(files.map(({ path }) => placeOf(path))), 'union_by_name = true')}), known AS (${select})
SELECT DISTINCT * FROM (
  SELECT 'names' AS kind, unnest(names) AS text FROM known UNION ALL SELECT 'ids', unnest(ids) FROM known
) WHERE text IS NOT NULL`),
      )
      for (const { kind, text } of rows) texts[kind === 'names' ? 'names' : 'ids'].add(String(text))
    }
  }
  return identifiersOf({ names: texts.names, nationalIds: texts.ids }, [...ids.companies, ...ids.persons])
}
