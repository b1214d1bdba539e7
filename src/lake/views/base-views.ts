/**
 * The views of a lake's tables as SQL that knows no file: `companies` with current versions, `companies_history` with all.
 * They read hidden macros, of which `source-macros.ts` makes those of a snapshot; so the views are the same everywhere.
 */

import { ident } from '../duckdb/sql.ts'
import { type ComputedColumn, withComputed } from '../projection/computed-columns.ts'
import type { Column } from '../tables/columns.ts'
import { LISTINGS, mainTables, QUARANTINE, TABLES, type Table } from '../tables/tables.ts'
import { HIDDEN_SCHEMA } from './current-versions.ts'
import { CHAIN_COLUMNS } from './version-chain.ts'
import { dictionaryOrder, versionOrder } from './version-order.ts'

/** Columns of `…_history` behind those of the table. */
export const HISTORY_COLUMNS: readonly Column[] = [
  {
    name: 'snapshot',
    type: 'INTEGER',
    about: 'First snapshot that shows the row.',
  },
  { name: 'run', type: 'VARCHAR', about: 'Run that loaded the row; after a compaction the compaction.' },
  {
    name: 'loaded_at',
    type: 'TIMESTAMPTZ',
    about: 'When the row became visible.',
    unit: 'instant, UTC',
  },
  {
    name: 'as_of',
    type: 'TIMESTAMPTZ',
    about:
      'When the service said what the row holds; NULL in a dictionary. Of one record the latest is current, of equal ones that of the greatest version.',
    unit: 'instant, UTC',
  },
  {
    name: 'version',
    type: 'BIGINT',
    about: 'Number of the partition in the order of commits to the lake.',
  },
  {
    name: 'until',
    type: 'BIGINT',
    about:
      'The next version of its record, in the order of as_of and version; a listing without the company is one. NULL: none.',
  },
  {
    name: 'until_as_of',
    type: 'TIMESTAMPTZ',
    about: 'When the service said what follows; NULL where nothing does.',
    unit: 'instant, UTC',
  },
  {
    name: 'shown_from',
    type: 'TIMESTAMPTZ',
    about:
      'Since when this lake showed it as current; the same as shown_until where it came later than newer data.',
    unit: 'instant, UTC',
  },
  {
    name: 'shown_until',
    type: 'TIMESTAMPTZ',
    about: 'Until when this lake showed it as current; NULL where it does.',
    unit: 'instant, UTC',
  },
  {
    name: 'known_since',
    type: 'TIMESTAMPTZ',
    about: 'Since when this lake has both it and the version before, and so what it changed.',
    unit: 'instant, UTC',
  },
  {
    name: 'is_current',
    type: 'BOOLEAN',
    about: 'Whether it is the current version of its record, and shown.',
  },
]

/** The group in which versions of a table are counted: all tables of a content share one. */
export const versionGroup = ({ content, name }: Pick<Table, 'content' | 'name'>): string => content ?? name

/** Rows of all versions: the table's columns and `version`. */
export const rowsMacro = ({ name }: Pick<Table, 'name'>): string => `${HIDDEN_SCHEMA}.rows_${name}`
/** `owner`, `version`, `as_of` of rows that are not shown; `is_gone` where that is because the company is not listed any more. */
export const oldMacro = (table: Table): string => `${HIDDEN_SCHEMA}.old_${versionGroup(table)}`
/** The chain of versions of a content: see `version-chain.ts`. */
export const chainMacro = (table: Table): string => `${HIDDEN_SCHEMA}.versions_${versionGroup(table)}`
/** Rows of all versions with the struct `loaded`, `version`, and what the chain says of it. */
export const historyMacro = ({ name }: Pick<Table, 'name'>): string => `${HIDDEN_SCHEMA}.history_${name}`
/** The load of a version: a struct of `snapshot`, `run`, `loaded_at`, `as_of`. */
export const loadMacro = (table: Table): string => `${HIDDEN_SCHEMA}.load_of_${versionGroup(table)}`

const columnsOf = ({ columns }: Table): string => columns.map(({ name }) => `r.${ident(name)}`).join(', ')

const newestOfKey = ({ key }: Table): string =>
  `row_number() OVER (PARTITION BY ${key.map((name) => `r.${ident(name)}`).join(', ')} ORDER BY ${dictionaryOrder('r')}) = 1`

const CHAINED = Object.keys(CHAIN_COLUMNS)

/** Rows of a dictionary, which has no instants: the next row of the key follows. */
const dictionaryHistory = (table: Table): string => {
  const key = table.key.map((name) => `r.${ident(name)}`).join(', ')
  return `SELECT r.*, NULL::TIMESTAMPTZ AS as_of, lag(r.version) OVER of_key AS until, NULL::TIMESTAMPTZ AS until_as_of,
  r.loaded.loaded_at AS shown_from, lag(r.loaded.loaded_at) OVER of_key AS shown_until,
  greatest(r.loaded.loaded_at, lead(r.loaded.loaded_at) OVER of_key) AS known_since
FROM (SELECT *, ${loadMacro(table)}(version) AS loaded FROM ${rowsMacro(table)}()) AS r
WINDOW of_key AS (PARTITION BY ${key} ORDER BY ${dictionaryOrder('r')})`
}

/**
 * Rows of loads, with what the chain says of their versions. Where each record has one version of one instant there is no chain: the
 * load says all.
 *
 * @param rows SQL of rows with `version` @param chain name of the chain's relation
 */
export const loadedHistory = (
  table: Table,
  rows: string,
  chain: string,
): string => `SELECT r.*, coalesce(v.as_of, r.loaded.as_of) AS as_of, v.until, v.until_as_of,
  coalesce(v.shown_from, r.loaded.loaded_at) AS shown_from, v.shown_until, coalesce(v.known_since, r.loaded.loaded_at) AS known_since
FROM (SELECT *, ${loadMacro(table)}(version) AS loaded FROM (${rows})) AS r
LEFT JOIN ${chain} AS v ON v.owner = r.${ident(table.owner ?? '')} AND v.version = r.version`

/**
 * Rows of a compaction: what the chain says of the first version that had each, and of the last one.
 *
 * @param rows SQL as `compactedRows`
 */
export const compactedHistory = (table: Table, rows: string, chain: string): string => {
  const of = (alias: string): string => `${alias}.owner = r.${ident(table.owner ?? '')} AND ${alias}.place`
  return `SELECT ${columnsOf(table)}, f.version, ${loadMacro(table)}(f.version) AS loaded,
  f.as_of, l.until, l.until_as_of, f.shown_from, l.shown_until, f.known_since
FROM (${rows}) AS r JOIN ${chain} AS f ON ${of('f')} = r.version JOIN ${chain} AS l ON ${of('l')} = r.until - 1`
}

/** The statement that makes the macro of all versions of a table. */
export const historyMacroOf = (table: Table, query: string, parameters = ''): string =>
  `CREATE OR REPLACE MACRO ${historyMacro(table)}(${parameters}) AS TABLE ${query}`

/** The macros that give all versions of each table, where no compaction has put any together. */
export const historyMacros = (): readonly string[] => TABLES.map(plainHistory)

export const plainHistory = (table: Table): string =>
  historyMacroOf(
    table,
    table.owner === undefined
      ? dictionaryHistory(table)
      : loadedHistory(table, `FROM ${rowsMacro(table)}()`, `${chainMacro(table)}()`),
  )

const historyRows = (table: Table): string => `SELECT ${columnsOf(table)},
  r.loaded.snapshot AS snapshot, r.loaded.run AS run, r.loaded.loaded_at AS loaded_at, r.as_of, r.version AS version,
  ${CHAINED.filter((name) => name !== 'as_of')
    .map((name) => `r.${name}`)
    .join(', ')}, r.until IS NULL AS is_current
FROM ${historyMacro(table)}() AS r`

const currentRows = (table: Table): string => `SELECT ${columnsOf(table)}
FROM ${rowsMacro(table)}() AS r
${
  table.owner === undefined
    ? `QUALIFY ${newestOfKey(table)}`
    : `ANTI JOIN ${oldMacro(table)}() AS o ON o.owner = r.${ident(table.owner)} AND o.version = r.version`
}`

/** Column of rows by which a session that keeps their order knows the old ones: of what is joined the order is lost. */
export const OLD_MARK = 'firmlake_is_old'

const keyOrder = ({ key }: Table): string => key.map((name) => `r.${ident(name)}`).join(', ')

/**
 * The views of a table whose rows come in the order of its files, with `OLD_MARK`; those of a dictionary by their key. All versions are
 * joined with what follows each: the rows come in the same order where one thread reads them.
 */
export const orderedViews = (table: Table, computed: readonly ComputedColumn[] = []): readonly string[] => {
  const views: readonly (readonly [name: string, rows: string])[] =
    table.owner === undefined
      ? [
          [`${table.name}_history`, `${historyRows(table)} ORDER BY ${keyOrder(table)}, ${versionOrder()}`],
          [table.name, `${currentRows(table)} ORDER BY ${keyOrder(table)}`],
        ]
      : [
          [`${table.name}_history`, historyRows(table)],
          [table.name, `SELECT ${columnsOf(table)}\nFROM ${rowsMacro(table)}() AS r WHERE NOT r.${OLD_MARK}`],
        ]
  return views.map(([name, rows]) => viewStatement(name, withComputed(computed, table.name, rows)))
}

/** The name of the view of all companies, those that are not listed any more included. */
export const ALL_COMPANIES = `${LISTINGS.content}_all`

const allRows = (table: Table): string => `SELECT ${columnsOf(table)}, l.gone_since
FROM ${rowsMacro(table)}() AS r
ANTI JOIN (FROM ${oldMacro(table)}() WHERE NOT is_gone) AS o ON o.owner = r.internal_id AND o.version = r.version
LEFT JOIN ${ident(LISTINGS.name)} AS l ON l.internal_id = r.internal_id`

/** The last listing that lacked each company, as long as nothing later has it. */
const listingsRows = currentRows(LISTINGS)

const quarantineRows = `FROM ${rowsMacro(QUARANTINE)}()`

/** The SELECT of each view. The macros must exist. @param computed further columns, behind all others */
export const baseSelects = (computed: readonly ComputedColumn[] = []): ReadonlyMap<string, string> => {
  const more = ({ name }: Table, rows: string): string => withComputed(computed, name, rows)
  return new Map([
    ...TABLES.flatMap((table) => [
      [`${table.name}_history`, more(table, historyRows(table))] as const,
      [table.name, more(table, currentRows(table))] as const,
    ]),
    [QUARANTINE.name, quarantineRows],
    [LISTINGS.name, listingsRows],
    ...mainTables()
      .filter(({ content }) => content === LISTINGS.content)
      .map((table) => [ALL_COMPANIES, more(table, allRows(table))] as const),
  ])
}

/** The statement that makes a view, or makes it again. */
export const viewStatement = (name: string, select: string): string =>
  `CREATE OR REPLACE VIEW ${ident(name)} AS\n${select}`

/** Statements that make the views, by the name of each. */
export const baseViews = (computed?: readonly ComputedColumn[]): ReadonlyMap<string, string> =>
  new Map([...baseSelects(computed)].map(([name, select]) => [name, viewStatement(name, select)]))
