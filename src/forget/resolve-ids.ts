/**
 * Identifiers of the forgotten besides their ids: companies and persons by national ids, and the names and national ids of
 * rows that are about to go.
 */

import { BIRTH_KEY_SQL, comparedNumber, comparedNumberSql } from '../core/person-keys.ts'
import { literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { isOfTable } from '../lake/tables/past-tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import type { ForgottenIds } from '../manifest/form/forgotten.ts'
import type { HeldByPlace } from './find-held.ts'
import { COMPANY_IDS, ENTITY_IDS, FILES_AT_ONCE, type ForgetWork, withLakeFiles } from './forget-work.ts'

const SOUGHT = `${HIDDEN_SCHEMA}.national_ids`

const strippedSql = (column: string): string => `upper(${comparedNumberSql(column)})`

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
  const sought = new Set(nationalIds.map((id) => comparedNumber(id).toUpperCase()))
  if (sought.size === 0) return { ids: found, unresolved: 0 }
  await session.run(`CREATE TABLE ${SOUGHT} (id VARCHAR)`)
  for (const id of sought) await session.run(`INSERT INTO ${SOUGHT} VALUES ($1)`, [id])
  const resolved = new Set<string>()
  const inCountry = country === undefined ? '' : ` AND country_code = ${literal(country.toUpperCase())}`
  for (const { table, id, column, as } of LOOKS) {
    const files = snapshot.partitions.flatMap((partition) =>
      partition.files.filter((file) => isOfTable(file, table) && file.rows > 0),
    )
    for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
      signal?.throwIfAborted()
      const rows = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`SELECT DISTINCT ${id} AS id, ${strippedSql(column)} AS national
FROM ${readParquet(pathsSql(group.map(({ path }) => placeOf(path))), 'union_by_name = true')}
WHERE ${strippedSql(column)} IN (FROM ${SOUGHT})${inCountry}`),
      )
      for (const { id: internal, national } of rows) {
        // A row without an id is found by the number itself.
        if (internal !== null && BigInt(String(internal)) !== 0n) found[as].add(BigInt(String(internal)))
        resolved.add(String(national))
      }
    }
  }
  return { ids: found, unresolved: sought.size - resolved.size }
}

/** Names, numbers and keys of births by table, of the rows that a condition leaves. */
const SELECTS: Readonly<Record<string, (of: string) => string>> = {
  companies: (
    of,
  ) => `SELECT [company_name] || coalesce(previous_names, []) AS names, [org_no, vat_number] AS ids, []::VARCHAR[] AS births
    FROM rows WHERE ${of}`,
  relations: (of) => `SELECT [name] AS names, [org_no] AS ids, []::VARCHAR[] AS births FROM rows WHERE ${of}`,
  relation_entities: (of) => `SELECT [name, nullif(first_name, '') || ' ' || nullif(last_name, '')] AS names,
      [org_no, national_identification_number] AS ids, [${BIRTH_KEY_SQL}] AS births FROM rows WHERE ${of}`,
}

const OF_IDS: Readonly<Record<string, string>> = {
  companies: `internal_id IN (FROM ${COMPANY_IDS})`,
  relations: `internal_id IN (FROM ${COMPANY_IDS})`,
  relation_entities: `entity_id IN (FROM ${ENTITY_IDS})`,
}

/** Texts that identify the forgotten besides their ids, as they are collected. */
export interface CollectedStrings {
  readonly names: Set<string>
  readonly nationalIds: Set<string>
  readonly births: Set<string>
}

/** Adds what rows of files say. @returns whether any of it is new */
export const addStrings = async (
  { session }: ForgetWork,
  table: string,
  paths: readonly string[],
  of: string,
  strings: CollectedStrings,
): Promise<boolean> => {
  const before = strings.names.size + strings.nationalIds.size + strings.births.size
  const rows =
    await session.rows(`WITH rows AS (FROM ${readParquet(pathsSql(paths), 'union_by_name = true')}), known AS (${SELECTS[table]?.(of)})
SELECT DISTINCT * FROM (
  SELECT 'names' AS kind, unnest(names) AS text FROM known UNION ALL SELECT 'nationalIds', unnest(ids) FROM known
  UNION ALL SELECT 'births', unnest(births) FROM known
) WHERE text IS NOT NULL`)
  for (const { kind, text } of rows) {
    const set = kind === 'names' ? strings.names : kind === 'births' ? strings.births : strings.nationalIds
    set.add(String(text))
  }
  return strings.names.size + strings.nationalIds.size + strings.births.size > before
}

/** @param given national ids that were asked for */
export const collectStrings = async (
  work: ForgetWork,
  held: HeldByPlace,
  given: readonly string[],
): Promise<CollectedStrings> => {
  const strings: CollectedStrings = { names: new Set(), nationalIds: new Set(given), births: new Set() }
  for (const place of held.keys()) {
    const partition = work.snapshot.partitions[place]
    for (const [table, of] of Object.entries(OF_IDS)) {
      const files = partition?.files.filter((file) => isOfTable(file, table) && file.rows > 0) ?? []
      if (files.length === 0) continue
      await withLakeFiles(work, files, (placeOf) =>
        addStrings(
          work,
          table,
          files.map(({ path }) => placeOf(path)),
          of,
          strings,
        ),
      )
    }
  }
  return strings
}
