/** Names and national ids of the forgotten, from the rows that are about to go: what they are known by in texts. */

import { type HeldByPlace, pathsSql } from './find-held.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, withLakeFiles } from './forget-work.ts'
import { type Identifiers, identifiersOf } from './identifiers.ts'

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
        session.rows(`WITH rows AS (FROM read_parquet(${pathsSql(files.map(({ path }) => placeOf(path)))},
  union_by_name = true, hive_partitioning = false)), known AS (${select})
SELECT DISTINCT * FROM (
  SELECT 'names' AS kind, unnest(names) AS text FROM known UNION ALL SELECT 'ids', unnest(ids) FROM known
) WHERE text IS NOT NULL`),
      )
      for (const { kind, text } of rows) texts[kind === 'names' ? 'names' : 'ids'].add(String(text))
    }
  }
  return identifiersOf({ names: texts.names, nationalIds: texts.ids }, [...ids.companies, ...ids.persons])
}
