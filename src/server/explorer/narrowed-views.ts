/**
 * The lake as a caller sees it in the explorer, as views: records of the caller's countries, ownerships and roles of the areas
 * there, and protected persons masked for everybody, in records of companies too. It reads the tables of `persons`.
 */

import {
  ALWAYS_MASKED,
  AREA_FIELDS,
  AREAS,
  type Area,
  MASKED_WITHOUT_ACCESS,
  OWN_FIELDS,
  OWN_FIELDS_WITHOUT_ACCESS,
} from '../../contract/authorization.ts'
import type { ObjectType } from '../../contract/fields.ts'
import { COMPANY, type Content, RELATIONS_COMPANY } from '../../contract/objects.ts'
import { BIRTH_KEY_SQL, numberKeySql } from '../../core/person-keys.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import {
  COMPANY_COLUMNS,
  type FieldColumn,
  OWNERSHIP_LISTS,
  RELATIONS_COLUMNS,
  snakeCase,
} from '../../lake/tables/columns.ts'
import type { NarrowedView } from '../../lake/views/lake-views.ts'
import type { Areas, Caller } from '../access/caller.ts'
import { ALL_LISTED, COMPANY_LIST } from './company-list.ts'

type Rights = Caller['rights']

/** Views whose rows have the country of their company. */
const OF_COUNTRY = ['financials', 'employees', 'financials_history', 'employees_history']
/** Views that no question reads: with rows that would have to be masked, or without a country. */
const CLOSED = ['relation_entities_history', 'ownerships_history', 'roles_history', 'listings', 'quarantine']

/** Holds for rows of countries whose areas pass, by the column that names the country. */
const within = (rights: Rights, passes: (areas: Areas) => boolean, column: string): string => {
  if (rights === 'everything') return 'true'
  const countries = [...rights.countries].flatMap(([country, areas]) =>
    passes(areas) ? [literal(country.toUpperCase())] : [],
  )
  const named =
    countries.length === 0 ? 'false' : `coalesce(upper(${column}) IN (${countries.join(', ')}), false)`
  const isOpen = rights.withoutCountry !== null && passes(rights.withoutCountry)
  return isOpen ? `(${column} IS NULL OR ${named})` : named
}

const anyAreas = (): boolean => true

const ofCountry =
  (rights: Rights) =>
  (name: string): NarrowedView => ({
    name,
    select: (rowsOf) => `FROM ${rowsOf(name)} WHERE ${within(rights, anyAreas, 'country_code')}`,
  })

/** Columns with NULL in place of their values where a condition holds. */
const hiding = (columns: readonly string[], condition: string): readonly string[] =>
  columns.map((column) => `CASE WHEN NOT (${condition}) THEN ${column} END AS ${column}`)

/** Columns of what a record says of the person whose own company it is. */
const ownColumns = (columns: readonly FieldColumn[], record: ObjectType): readonly string[] =>
  columns.flatMap(({ name, path }) => {
    const object = path.length === 1 ? record.name : path[0]
    const own = [OWN_FIELDS, OWN_FIELDS_WITHOUT_ACCESS].flatMap((fields) => fields[object ?? ''] ?? [])
    return path.slice(-2).some((field) => own.includes(field)) ? [name] : []
  })

/** Texts of a company that may name the persons of its relations. */
const TELLING = ['email', 'phone', 'signatory']
const HIDDEN_COLUMNS: Readonly<Record<Content, readonly string[]>> = {
  companies: [
    ...hiding(
      ownColumns(COMPANY_COLUMNS, COMPANY).filter((name) => !TELLING.includes(name)),
      'is_own',
    ),
    ...hiding(TELLING, 'is_own OR is_named'),
  ],
  relations: hiding(ownColumns(RELATIONS_COLUMNS, RELATIONS_COMPANY), 'is_own'),
}

/** Records, with nothing that the contract does not know. */
const ofRecords =
  (rights: Rights, content: Content) =>
  (name: string): NarrowedView => ({
    name,
    select: (
      rowsOf,
    ) => `SELECT * EXCLUDE (is_own, is_named) REPLACE (NULL::VARCHAR AS extra, ${HIDDEN_COLUMNS[content].join(', ')})
FROM (SELECT r.*, coalesce(p.is_own, false) AS is_own, coalesce(p.is_named, false) AS is_named
  FROM ${rowsOf(name)} AS r LEFT JOIN persons.record AS p USING (internal_id))
WHERE ${within(rights, anyAreas, 'country_code')}`,
  })

type RowsOf = Parameters<NarrowedView['select']>[0]

/** Holds for rows of records whose country has the area; without an area for those that may be seen. */
const ofRecord = (rights: Rights, area: Area | undefined, rowsOf: RowsOf): string => {
  if (rights === 'everything') return 'true'
  const passes = area === undefined ? anyAreas : (areas: Areas): boolean => areas.has(area)
  return `company_id IN (SELECT internal_id FROM ${rowsOf('relations')} WHERE ${within(rights, passes, 'country_code')})`
}

const outsideHistory = (rights: Rights, rowsOf: RowsOf): string =>
  `(NOT is_history OR ${ofRecord(rights, 'Relations History', rowsOf)})`

const MASKED = [...ALWAYS_MASKED, ...MASKED_WITHOUT_ACCESS, 'Gender', 'OrgNo'].map(snakeCase)

/** A row of `relation_entities` that is about a protected person; one without an id also by its keys, or as an earlier form of one. */
const HIDDEN = `is_protected IS TRUE OR coalesce(entity_id IN (FROM persons.id), false) OR coalesce(entity_id IN (FROM persons.company), false)
  OR coalesce(entity_id, 0) = 0 AND (is_history AND company_id IN (FROM persons.named)
    OR coalesce(CASE WHEN coalesce(entity_id, 0) = 0 THEN ${numberKeySql('national_identification_number')} END IN (FROM persons.number), false)
    OR coalesce(CASE WHEN coalesce(entity_id, 0) = 0 AND national_identification_number IS NULL THEN ${BIRTH_KEY_SQL} END IN (FROM persons.birth), false))`

/** Who is protected in any record, a history too, is masked in all. */
const entities = (rights: Rights): NarrowedView => ({
  name: 'relation_entities',
  select: (
    rowsOf,
  ) => `SELECT * EXCLUDE (hidden) REPLACE (hidden AS is_protected, NULL::VARCHAR AS masked, ${hiding(MASKED, 'hidden').join(', ')})
FROM (SELECT *, ${HIDDEN} AS hidden FROM ${rowsOf('relation_entities')})
WHERE ${ofRecord(rights, undefined, rowsOf)} AND ${outsideHistory(rights, rowsOf)}`,
})

/** Rows of what entities hold, without texts that may say who a protected one of the record is. */
const withoutStrings = (rows: string): string =>
  `(SELECT * EXCLUDE (is_named) REPLACE (${hiding(['text'], 'is_named')}) FROM (SELECT *, company_id IN (FROM persons.named) AS is_named FROM ${rows}))`

const areaOf = (list: string): Area | undefined => AREAS.find((area) => AREA_FIELDS[area] === list)

const ownerships = (rights: Rights): NarrowedView => ({
  name: 'ownerships',
  select: (rowsOf) => {
    const kinds = Object.entries(OWNERSHIP_LISTS).map(
      ([list, kind]) => `kind = ${literal(kind)} AND ${ofRecord(rights, areaOf(list), rowsOf)}`,
    )
    const open = rights === 'everything' ? 'true' : `(${kinds.join(' OR ')})`
    return `FROM ${withoutStrings(rowsOf('ownerships'))} WHERE ${open} AND ${outsideHistory(rights, rowsOf)}`
  },
})

const roles = (rights: Rights): NarrowedView => ({
  name: 'roles',
  select: (rowsOf) =>
    `FROM ${withoutStrings(rowsOf('roles'))} WHERE ${ofRecord(rights, 'Key Person', rowsOf)} AND ${outsideHistory(rights, rowsOf)}`,
})

const closed = (name: string): NarrowedView => ({ name, select: (rowsOf) => `FROM ${rowsOf(name)} LIMIT 0` })

/** The list of companies as a caller sees it, once it is worked out. */
export const narrowedList = (rights: Rights): NarrowedView => ({
  name: COMPANY_LIST,
  select: () => `FROM ${ALL_LISTED} WHERE ${within(rights, anyAreas, 'country_code')}`,
})

/** The base views as a caller sees them; whatever reads them sees no more. */
export const narrowedViews = (rights: Rights): readonly NarrowedView[] => [
  ...OF_COUNTRY.map(ofCountry(rights)),
  ...['companies', 'companies_all', 'companies_history'].map(ofRecords(rights, 'companies')),
  ...['relations', 'relations_history'].map(ofRecords(rights, 'relations')),
  ...[entities(rights), ownerships(rights), roles(rights)],
  // Counts of lines in quarantine are for those who see everything; its lines are for nobody.
  ...CLOSED.filter((name) => rights !== 'everything' || name !== 'quarantine').map(closed),
]
