/**
 * The lake as a caller sees it in the explorer, as views: records of the caller's countries, ownerships and roles of the areas
 * there, and protected persons masked for everybody.
 */

import {
  ALWAYS_MASKED,
  AREA_FIELDS,
  AREAS,
  type Area,
  MASKED_WITHOUT_ACCESS,
} from '../../contract/authorization.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { OWNERSHIP_LISTS, snakeCase } from '../../lake/tables/columns.ts'
import type { NarrowedView } from '../../lake/views/lake-views.ts'
import type { Areas, Caller } from '../access/caller.ts'
import { ALL_LISTED, COMPANY_LIST } from './company-list.ts'

type Rights = Caller['rights']

/** Views whose rows have the country of their company. */
const OF_COUNTRY = [
  ...['companies', 'companies_all', 'financials', 'employees', 'relations'],
  ...['companies_history', 'financials_history', 'employees_history', 'relations_history'],
]
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

type RowsOf = Parameters<NarrowedView['select']>[0]

/** Holds for rows of records whose country has the area; without an area for those that may be seen. */
const ofRecord = (rights: Rights, area: Area | undefined, rowsOf: RowsOf): string => {
  if (rights === 'everything') return 'true'
  const passes = area === undefined ? anyAreas : (areas: Areas): boolean => areas.has(area)
  return `company_id IN (SELECT internal_id FROM ${rowsOf('relations')} WHERE ${within(rights, passes, 'country_code')})`
}

const outsideHistory = (rights: Rights, rowsOf: RowsOf): string =>
  `(NOT is_history OR ${ofRecord(rights, 'Relations History', rowsOf)})`

const MASKED = [...ALWAYS_MASKED, ...MASKED_WITHOUT_ACCESS].map(snakeCase)

/** Who is protected in any record, a history too, is masked in all. */
const entities = (rights: Rights): NarrowedView => ({
  name: 'relation_entities',
  select: (rowsOf) => {
    const all = rowsOf('relation_entities')
    const masked = MASKED.map((column) => `CASE WHEN NOT hidden THEN ${column} END AS ${column}`)
    return `SELECT * EXCLUDE (hidden) REPLACE (hidden AS is_protected, NULL::VARCHAR AS masked, ${masked.join(', ')}) FROM (
  SELECT *, is_protected IS TRUE OR coalesce(entity_id IN (SELECT entity_id FROM ${all} WHERE is_protected AND entity_id IS NOT NULL), false) AS hidden
  FROM ${all}
) WHERE ${ofRecord(rights, undefined, rowsOf)} AND ${outsideHistory(rights, rowsOf)}`
  },
})

const areaOf = (list: string): Area | undefined => AREAS.find((area) => AREA_FIELDS[area] === list)

const ownerships = (rights: Rights): NarrowedView => ({
  name: 'ownerships',
  select: (rowsOf) => {
    const kinds = Object.entries(OWNERSHIP_LISTS).map(
      ([list, kind]) => `kind = ${literal(kind)} AND ${ofRecord(rights, areaOf(list), rowsOf)}`,
    )
    const open = rights === 'everything' ? 'true' : `(${kinds.join(' OR ')})`
    return `FROM ${rowsOf('ownerships')} WHERE ${open} AND ${outsideHistory(rights, rowsOf)}`
  },
})

const roles = (rights: Rights): NarrowedView => ({
  name: 'roles',
  select: (rowsOf) =>
    `FROM ${rowsOf('roles')} WHERE ${ofRecord(rights, 'Key Person', rowsOf)} AND ${outsideHistory(rights, rowsOf)}`,
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
  ...[entities(rights), ownerships(rights), roles(rights)],
  // Counts of lines in quarantine are for those who see everything; its lines are for nobody.
  ...CLOSED.filter((name) => rights !== 'everything' || name !== 'quarantine').map(closed),
]
