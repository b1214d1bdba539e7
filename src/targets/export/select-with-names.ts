/** Rows of a table with the names of companies and entities beside their ids, for people. */

import { ident } from '../../lake/duckdb/sql.ts'
import type { Table } from '../../lake/tables/tables.ts'

const COMPANY_NAMES = `(SELECT internal_id AS id, coalesce(c.company_name, r.name) AS company_name
  FROM companies_all AS c FULL JOIN relations AS r USING (internal_id))`

/** A column of ids, and what stands beside it. */
const COMPANY_IDS: readonly string[] = ['internal_id', 'company_id']
const ENTITY_ID = 'entity_id'

/** Tables whose rows have the name already. */
const OWN_NAME: ReadonlySet<string> = new Set(['companies', 'relations', 'relation_entities'])

/**
 * A SELECT of all rows: `company_name` behind the company's id, `entity_name` behind that of an owner, a person, a
 * subsidiary; NULL for persons with a protected identity.
 *
 * @param history of all versions; names of companies are the current ones
 */
export const selectWithNames = ({ name, columns }: Table, history: boolean): string => {
  const view = ident(history ? `${name}_history` : name)
  const has = (column: string): boolean => columns.some((one) => one.name === column)
  const company = COMPANY_IDS.find((id) => has(id) && (id === 'company_id' || !OWN_NAME.has(name)))
  const entity = has(ENTITY_ID) && !OWN_NAME.has(name) ? ENTITY_ID : undefined
  const named: Readonly<Record<string, string>> = {
    ...(company && { [company]: 'of_company.company_name' }),
    ...(entity && {
      [entity]:
        'CASE WHEN NOT coalesce(of_entity.is_protected, false) THEN of_entity.name END AS entity_name',
    }),
  }
  const listed = columns.flatMap(({ name: column }) => [`t.${ident(column)}`, named[column] ?? []].flat())
  // Those of all versions, and computed ones.
  const others = `t.* EXCLUDE (${columns.map((column) => ident(column.name)).join(', ')})`
  const key = ['company_id', 'entity_no', ...(history ? ['version'] : [])]
  return [
    `SELECT ${[...listed, others].join(', ')} FROM ${view} AS t`,
    ...(company ? [`LEFT JOIN ${COMPANY_NAMES} AS of_company ON of_company.id = t.${company}`] : []),
    ...(entity
      ? [
          `LEFT JOIN ${history ? 'relation_entities_history' : 'relation_entities'} AS of_entity`,
          `ON ${key.map((column) => `of_entity.${column} = t.${column}`).join(' AND ')}`,
        ]
      : []),
  ].join('\n')
}
