/**
 * Rows of `relations`, `relation_entities`, `ownerships` and `roles` nested again as JSON records: the inverse of
 * `relation-tables.ts`. What one leaves out the other cannot restore.
 */

import { ident, literal } from '../lake/duckdb/sql.ts'
import {
  ENTITY_COLUMNS,
  type FieldColumn,
  OWNERSHIP_COLUMNS,
  OWNERSHIP_LISTS,
  POINTER_LIKE,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../lake/tables/columns.ts'
import { jsonMember, merged, nested, objectText } from '../lake/tables/value-sql.ts'
import { DIRECTIONS, ENTITY_LISTS, RECORD_LISTS } from '../rows/row-columns.ts'

const KEYS = 'company_id, entity_no'

/** The four tables of relations, each as something to select from. */
export interface RelationTables {
  readonly relations: string
  readonly relation_entities: string
  readonly ownerships: string
  readonly roles: string
}

/**
 * Steps that nest the tables again, to be run in order in one session, and the query of the records
 * (`internal_id`, `record` as JSON text): the inverse of the four tables. Entities are put together from the
 * deepest history upwards, so `depth` levels need as many steps.
 */
export const relationRecords = (
  tables: RelationTables,
  depth: number,
): { steps: string[]; records: string } => {
  const steps = [
    `CREATE OR REPLACE TEMP TABLE nest_extra AS
     SELECT internal_id AS company_id, extra.key AS pointer, extra.value::VARCHAR AS patch
     FROM ${tables.relations} AS r, json_each(r.extra) AS extra WHERE starts_with(extra.key, '/')`,
    `CREATE OR REPLACE TEMP TABLE nest_place AS
     WITH RECURSIVE place AS (
       SELECT *, row_number() OVER (PARTITION BY company_id, parent_no, direction ORDER BY entity_no) - 1 AS nth
       FROM (SELECT ${KEYS}, parent_no, direction, depth FROM ${tables.relation_entities})
     ), walk AS (
       SELECT ${KEYS}, (CASE direction WHEN 'parent' THEN '/Parents/' ELSE '/Children/' END) || nth AS pointer FROM place WHERE depth = 0
       UNION ALL
       SELECT p.company_id, p.entity_no, walk.pointer || '/History/' || p.nth
       FROM walk JOIN place AS p ON p.company_id = walk.company_id AND p.parent_no = walk.entity_no
     )
     FROM walk`,
    listsStep('nest_ownerships', tables.ownerships, OWNERSHIP_LISTS, OWNERSHIP_COLUMNS, 'kind'),
    listsStep('nest_roles', tables.roles, { KeyPersonRoles: 'Role' }, ROLE_COLUMNS, `'Role'`),
    bodiesStep(tables.relation_entities),
    `CREATE OR REPLACE TEMP TABLE nest_level AS SELECT NULL::BIGINT AS company_id, NULL::BIGINT AS entity_no,
       NULL::BIGINT AS parent_no, NULL::VARCHAR AS direction, NULL::VARCHAR AS record WHERE false`,
  ]
  for (let level = depth; level >= 0; level--) steps.push(levelStep(level))
  const lists = RECORD_LISTS.map(
    (name, at) =>
      `(SELECT company_id AS internal_id, '[' || string_agg(record, ',' ORDER BY entity_no) || ']' AS ${ident(name)} FROM nest_level WHERE direction = ${literal(DIRECTIONS[at] ?? '')} GROUP BY ALL)`,
  )
  const ownExtra = `(SELECT internal_id, '{' || string_agg(to_json(extra.key)::VARCHAR || ':' || extra.value::VARCHAR, ',') || '}' AS own_extra
    FROM ${tables.relations} AS r, json_each(r.extra) AS extra WHERE NOT starts_with(extra.key, '/') GROUP BY ALL)`
  const pointerLike = `(SELECT company_id AS internal_id, patch AS pointer_like FROM nest_extra WHERE pointer = ${literal(POINTER_LIKE)})`
  const whole = objectText([...nested(RELATIONS_COLUMNS, 0), ...RECORD_LISTS.map(listMember)])
  const records = `SELECT internal_id, ${merged(merged('record', 'own_extra'), 'pointer_like')} AS record
FROM (
  SELECT internal_id, own_extra, pointer_like, ${whole} AS record FROM ${tables.relations}
  ${lists.map((list) => `LEFT JOIN ${list} USING (internal_id)`).join('\n  ')}
  LEFT JOIN ${ownExtra} USING (internal_id)
  LEFT JOIN ${pointerLike} USING (internal_id)
)`
  return { steps, records }
}

/** A list of rows, or the empty list that has none. */
const listMember = (name: string): string =>
  jsonMember(
    name,
    `coalesce(${ident(name)}, CASE WHEN list_contains(empty_lists, ${literal(name)}) THEN '[]' END)`,
  )

/** Lists of an entity as JSON text, a column each. */
const listsStep = (
  name: string,
  table: string,
  lists: Readonly<Record<string, string>>,
  columns: readonly FieldColumn[],
  kind: string,
): string => {
  const pointer = `p.pointer || (CASE kind ${Object.entries(lists)
    .map(([list, value]) => `WHEN ${literal(value)} THEN ${literal(`/${list}/`)}`)
    .join(' ')} END) || nth`
  return `CREATE OR REPLACE TEMP TABLE ${name} AS
SELECT ${KEYS}, ${Object.entries(lists)
    .map(
      ([list, value]) =>
        `'[' || string_agg(record, ',' ORDER BY no) FILTER (kind = ${literal(value)}) || ']' AS ${ident(list)}`,
    )
    .join(', ')}
FROM (
  SELECT i.company_id, i.entity_no, i.kind, i.no, ${merged(merged(`coalesce(i.record, '{}')`, 'i.as_reported'), 'x.patch')} AS record
  FROM (
    SELECT ${KEYS}, ${kind} AS kind, no, as_reported, ${objectText(nested(columns, 0))} AS record,
      row_number() OVER (PARTITION BY ${KEYS}, ${kind} ORDER BY no) - 1 AS nth
    FROM ${table}
  ) AS i
  JOIN nest_place AS p ON p.company_id = i.company_id AND p.entity_no = i.entity_no
  LEFT JOIN nest_extra AS x ON x.company_id = i.company_id AND x.pointer = ${pointer}
) GROUP BY ALL`
}

/** Every entity as JSON text, but for its history. */
const bodiesStep = (entities: string): string => {
  const lists = ENTITY_LISTS.filter((list) => list !== 'History')
  const id = jsonMember('InternalId', 'entity_id::VARCHAR')
  const record = `coalesce(${objectText([id, ...nested(ENTITY_COLUMNS, 0), ...lists.map(listMember)])}, '{}')`
  return `CREATE OR REPLACE TEMP TABLE nest_body AS
SELECT e.company_id, e.entity_no, e.parent_no, e.direction, e.depth, list_contains(e.empty_lists, 'History') AS no_history,
  ${merged(merged(merged('e.record', 'e.as_reported'), 'e.masked'), 'x.patch')} AS record
FROM (
  SELECT ${KEYS}, parent_no, direction, depth, as_reported, masked, empty_lists, ${record} AS record
  FROM (FROM ${entities}) AS e
  LEFT JOIN nest_ownerships USING (${KEYS})
  LEFT JOIN nest_roles USING (${KEYS})
) AS e
JOIN nest_place AS p ON p.company_id = e.company_id AND p.entity_no = e.entity_no
LEFT JOIN nest_extra AS x ON x.company_id = e.company_id AND x.pointer = p.pointer`
}

/** Entities of one depth with the histories that the step before has made. */
const levelStep = (level: number): string => `CREATE OR REPLACE TEMP TABLE nest_level AS
SELECT ${KEYS}, e.parent_no, direction,
  CASE WHEN history IS NULL AND NOT coalesce(no_history, false) THEN record
    ELSE record[:-2] || CASE WHEN record = '{}' THEN '' ELSE ',' END || '"History":' || coalesce(history, '[]') || '}' END AS record
FROM (FROM nest_body WHERE depth = ${level}) AS e
LEFT JOIN (
  SELECT company_id, parent_no AS entity_no, '[' || string_agg(record, ',' ORDER BY entity_no) || ']' AS history
  FROM nest_level GROUP BY ALL
) USING (${KEYS})`
