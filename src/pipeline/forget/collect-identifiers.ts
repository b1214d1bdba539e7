/** Names and national ids of the forgotten, from the rows that are about to go: what they are known by in texts. */

import { type HeldByPlace, pathsSql } from './find-held.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, withLakeFiles } from './forget-work.ts'
import { type Identifiers, identifiersOf, stripped } from './identifiers.ts'

const SELECTS: Readonly<Record<string, string>> = {
  companies: `SELECT unnest([company_name, org_no, vat_number] || coalesce(previous_names, [])) AS text
    FROM rows WHERE internal_id IN (FROM ${COMPANY_IDS})`,
  relations: `SELECT unnest([name, org_no]) AS text FROM rows WHERE internal_id IN (FROM ${COMPANY_IDS})`,
  relation_entities: `SELECT unnest([name, first_name || ' ' || last_name, last_name || ' ' || first_name, org_no,
      national_identification_number]) AS text FROM rows WHERE entity_id IN (FROM ${ENTITY_IDS})`,
}

/** More would take too long to look for. */
const MOST_TEXTS = 20_000

/** @param given national ids that were asked for */
export const collectIdentifiers = async (
  work: ForgetWork,
  held: HeldByPlace,
  given: readonly string[],
): Promise<Identifiers> => {
  const { snapshot, session, ids } = work
  const texts = new Set(given)
  for (const place of held.keys()) {
    const partition = snapshot.partitions[place]
    for (const [table, select] of Object.entries(SELECTS)) {
      const files = partition?.files.filter((file) => file.table === table && file.rows > 0) ?? []
      if (files.length === 0) continue
      const rows = await withLakeFiles(work, files, (placeOf) =>
        session.rows(`WITH rows AS (FROM read_parquet(${pathsSql(files.map(({ path }) => placeOf(path)))},
  union_by_name = true, hive_partitioning = false))
SELECT DISTINCT text FROM (${select}) WHERE text IS NOT NULL LIMIT ${MOST_TEXTS}`),
      )
      for (const { text } of rows) texts.add(String(text))
    }
  }
  const all = [...texts].flatMap((text) => [text, stripped(text)])
  return identifiersOf(all, [...ids.companies, ...ids.persons])
}
