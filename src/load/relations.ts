/**
 * Relations records as rows of `relations`, `relation_entities`, `ownerships` and `roles`, and back as JSON.
 * A record is a tree: parents and children, each with its history, whose entries have a history again.
 */

import type { ObjectType } from '../contract/fields.ts'
import { BENEFICIAL_OWNERSHIP, RELATION, RELATIONS_COMPANY, ROLE } from '../contract/objects.ts'
import { POINTER_LIKE } from '../lake/duckdb/row-objects.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import type { FieldColumn } from '../lake/tables/columns.ts'
import { readType, structureOf } from '../lake/tables/columns.ts'
import { jsonMember, merged, nested, objectText } from '../lake/tables/json-text.ts'
import {
  ENTITY_COLUMNS,
  OWNERSHIP_COLUMNS,
  OWNERSHIP_LISTS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../lake/tables/record-columns.ts'
import type { Scan } from './companies.ts'
import { columnsOf, isMasked, objectRows } from './field-values.ts'

/** The two lists of a record, and the `direction` of their entities. In document order. */
const DIRECTIONS = { Parents: 'parent', Children: 'child' } as const
const ROW_LISTS = [...Object.keys(OWNERSHIP_LISTS), 'KeyPersonRoles', 'History'] as const
const RELATION_FIELDS = Object.keys(RELATION.fields).filter(
  (name) => !ROW_LISTS.some((list) => list === name),
)
const wire = (path: readonly string[]): string => path.map(ident).join('.')
const inRow = (path: readonly string[]): string => `r.${wire(path)}`

/** Rows of `relations`. @param extras a relation of `id`, `extra` */
export const relationsOf = (scan: Scan, extras: string | undefined): string => {
  const read = Object.fromEntries(
    Object.entries(RELATIONS_COMPANY.fields).map(([name, field]) => [name, readType(field)]),
  )
  return `SELECT ${RELATIONS_COLUMNS.flatMap((column) => columnsOf(column, wire(column.path))).join(', ')},
  ${emptyLists(Object.keys(DIRECTIONS), (name) => `len(${ident(name)}) = 0`)} AS empty_lists,
  ${extras ? 'extra' : 'NULL::VARCHAR AS extra'}
FROM ${scan(read)} AS record ${extras ? `LEFT JOIN ${extras} AS extras ON extras.id = record."InternalId"` : ''}`
}

/** Names of the lists that came empty: an empty list stays, but has no rows to show it. NULL where none is. */
const emptyLists = (names: readonly string[], isEmpty: (name: string) => string): string =>
  `nullif(list_filter([${names.map((name) => `CASE WHEN ${isEmpty(name)} THEN ${literal(name)} END`).join(', ')}], lambda name : name IS NOT NULL), [])`

/** A list's items and their numbers from 1, a row each. */
const numbered = (list: string): string =>
  `unnest(${list}) AS entity, unnest(generate_series(1, len(${list}))) AS nth`

/**
 * All entities of a block, histories at every depth, each with its number in its record:
 * `company_id, entity_no, parent_no, direction, depth, entity` (JSON). For a temporary table that the three
 * tables below are made from.
 */
export const entitiesOf = (scan: Scan): string => `
WITH RECURSIVE record AS (
  FROM ${scan({ InternalId: 'BIGINT', Parents: 'JSON[]', Children: 'JSON[]' })}
), level AS (
  ${Object.entries(DIRECTIONS)
    .map(
      (
        [list, direction],
        rank,
      ) => `SELECT "InternalId" AS company_id, ${literal(direction)} AS direction, 0 AS depth,
    [${rank}, nth] AS place, entity
  FROM (SELECT "InternalId", ${numbered(ident(list))} FROM record)`,
    )
    .join(' UNION ALL ')}
  UNION ALL
  SELECT company_id, direction, depth + 1, list_append(place, nth), entity
  FROM (
    SELECT company_id, direction, depth, place, ${numbered('entities')}
    FROM (
      SELECT company_id, direction, depth, place, from_json(entity -> '$.History', '["JSON"]') AS entities
      FROM level WHERE json_array_length(entity, '$.History') > 0
    )
  )
), numbered AS (
  -- Texts, because a join on lists compares each with each.
  SELECT *, row_number() OVER (PARTITION BY company_id ORDER BY place) AS entity_no,
    array_to_string(place, '/') AS way, CASE WHEN depth > 0 THEN array_to_string(place[:-2], '/') END AS way_above
  FROM level
)
SELECT e.company_id, e.entity_no, above.entity_no AS parent_no, e.direction, e.depth, e.entity
FROM numbered AS e
LEFT JOIN numbered AS above ON above.company_id = e.company_id AND above.way = e.way_above`

/** Whether a list of an entity is empty: null has the length 0 too. */
const isEmptyIn = (name: string): string =>
  `json_array_length(entity, '$.${name}') = 0 AND json_type(entity, '$.${name}') = 'ARRAY'`

const KEYS = 'company_id, entity_no'
const ENTITY_READ = literal(structureOf(RELATION, RELATION_FIELDS))

/**
 * Rows of `relation_entities` from the table of `entitiesOf`. Personal data that came masked is NULL in its
 * column and the entity is protected; `masked` keeps what stood there.
 */
export const relationEntitiesOf = (entities: string): string => {
  const jsons = ENTITY_COLUMNS.filter(({ field }) => 'masked' in field && field.masked === true).map(
    ({ path }) => [path[0] ?? '', `r.${wire(path)}`] as const,
  )
  const anyMasked = jsons.map(([, json]) => isMasked(json)).join(' OR ')
  const masked = objectText([
    ...jsons.map(([name, json]) => jsonMember(name, `CASE WHEN ${isMasked(json)} THEN ${json}::VARCHAR END`)),
    // What IsProtected came as, where masked data alone says that the entity is protected.
    jsonMember(
      'IsProtected',
      `CASE WHEN r."IsProtected" IS DISTINCT FROM true AND (${anyMasked}) THEN coalesce(r."IsProtected"::VARCHAR, 'null') END`,
    ),
  ])
  const rows = objectRows(
    ENTITY_COLUMNS,
    inRow,
    `(SELECT *, from_json(entity, ${ENTITY_READ}) AS r FROM ${entities})`,
    [
      `${KEYS}, parent_no, direction, r."InternalId" AS entity_id, depth > 0 AS is_history, depth`,
      `${masked} AS masked`,
      `${emptyLists(ROW_LISTS, isEmptyIn)} AS empty_lists`,
    ],
  )
  return `SELECT * REPLACE (CASE WHEN masked IS NULL THEN is_protected ELSE true END AS is_protected) FROM (${rows})`
}

/** Rows of `ownerships`, one a record of any of the four kinds; `no` counts within the entity. */
export const ownershipsOf = (entities: string): string =>
  rowsOf(entities, OWNERSHIP_LISTS, BENEFICIAL_OWNERSHIP, OWNERSHIP_COLUMNS, ['kind'])

/** Rows of `roles`; `no` counts within the entity. */
export const rolesOf = (entities: string): string =>
  rowsOf(entities, { KeyPersonRoles: 'Role' }, ROLE, ROLE_COLUMNS, [])

const rowsOf = (
  entities: string,
  lists: Readonly<Record<string, string>>,
  object: ObjectType,
  columns: readonly FieldColumn[],
  kindColumn: readonly string[],
): string => {
  const structure = JSON.stringify(Object.fromEntries(Object.keys(lists).map((list) => [list, ['JSON']])))
  const items = Object.entries(lists).map(
    (
      [list, kind],
      rank,
    ) => `SELECT ${KEYS}, direction, depth, entity_id, ${literal(kind)} AS kind, ${rank} AS rank,
      unnest(lists.${ident(list)}) AS item, unnest(generate_series(1, len(lists.${ident(list)}))) AS nth
    FROM parted`,
  )
  return `WITH parted AS MATERIALIZED (
  SELECT ${KEYS}, direction, depth, CAST(entity ->> '$.InternalId' AS BIGINT) AS entity_id,
    from_json(entity, ${literal(structure)}) AS lists
  FROM ${entities}
)
${objectRows(
  columns,
  inRow,
  `(SELECT *, from_json(item, ${literal(structureOf(object))}) AS r FROM (${items.join(' UNION ALL ')}))`,
  [
    `${KEYS}, row_number() OVER (PARTITION BY ${KEYS} ORDER BY rank, nth) AS no, direction`,
    'entity_id, depth > 0 AS is_history',
    ...kindColumn,
  ],
)}`
}

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
  const lists = Object.entries(DIRECTIONS).map(
    ([name, direction]) =>
      `(SELECT company_id AS internal_id, '[' || string_agg(record, ',' ORDER BY entity_no) || ']' AS ${ident(name)} FROM nest_level WHERE direction = ${literal(direction)} GROUP BY ALL)`,
  )
  const ownExtra = `(SELECT internal_id, '{' || string_agg(to_json(extra.key)::VARCHAR || ':' || extra.value::VARCHAR, ',') || '}' AS own_extra
    FROM ${tables.relations} AS r, json_each(r.extra) AS extra WHERE NOT starts_with(extra.key, '/') GROUP BY ALL)`
  const pointerLike = `(SELECT company_id AS internal_id, patch AS pointer_like FROM nest_extra WHERE pointer = ${literal(POINTER_LIKE)})`
  const whole = objectText([...nested(RELATIONS_COLUMNS, 0), ...Object.keys(DIRECTIONS).map(listMember)])
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
  const lists = ROW_LISTS.filter((list) => list !== 'History')
  const id = jsonMember('InternalId', 'entity_id::VARCHAR')
  const record = objectText([id, ...nested(ENTITY_COLUMNS, 0), ...lists.map(listMember)])
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
    ELSE record[:-2] || ',"History":' || coalesce(history, '[]') || '}' END AS record
FROM (FROM nest_body WHERE depth = ${level}) AS e
LEFT JOIN (
  SELECT company_id, parent_no AS entity_no, '[' || string_agg(record, ',' ORDER BY entity_no) || ']' AS history
  FROM nest_level GROUP BY ALL
) USING (${KEYS})`
