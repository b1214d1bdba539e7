/** The hidden macros through which views read a snapshot: which files hold a table's rows, which versions are old, when each was loaded. */

import type { CommitFacts, VersionFile } from '../../core/partition.ts'
import { ident, literal } from '../duckdb/sql.ts'
import type { PlaceOf } from '../files/fetch-tables.ts'
import { inLake } from '../files/layout.ts'
import { pastOf, withFirstVersion } from '../tables/past-tables.ts'
import { LISTINGS, mainTables, QUARANTINE, type RecordTable, TABLES, type Table } from '../tables/tables.ts'
import {
  chainMacro,
  compactedHistory,
  historyMacroOf,
  historyMacros,
  loadedHistory,
  loadMacro,
  OLD_MARK,
  oldMacro,
  plainHistory,
  rowsMacro,
} from './base-views.ts'
import {
  filesOf,
  HIDDEN_SCHEMA,
  type Listed,
  pathList,
  readQuarantine,
  readTable,
  supersededRows,
  versionFacts,
  versionFilesOf,
} from './current-versions.ts'
import { FACT_NAMES, FACTS, type Fact, type FactName, factsFrom } from './fact-columns.ts'
import { compactedRows, heldRows } from './intervals.ts'
import {
  CHAIN_COLUMNS,
  chainLists,
  chainOf,
  listedVersions,
  mergedFiles,
  PLACE_COLUMNS,
  standInsOf,
} from './version-chain.ts'

/** A macro that gives a table. */
const tableMacro = (name: string, query: string, parameters = ''): string =>
  `CREATE OR REPLACE MACRO ${name}(${parameters}) AS TABLE ${query}`

export const factMacroName = (name: FactName): string => `${HIDDEN_SCHEMA}.fact_${name}`

const noRows = (columns: readonly (readonly [name: string, type: string])[], refusal?: string): string =>
  `SELECT ${columns.map(([name, type]) => `NULL::${type} AS ${ident(name)}`).join(', ')}
WHERE ${refusal === undefined ? 'false' : `error(${literal(refusal)})::BOOLEAN`}`

const refusalOf = (name: string): string =>
  `Cannot read "${name}" in this way: name it in the statement itself`

const namesAndTypes = ({ columns }: Table): (readonly [string, string])[] =>
  columns.map(({ name, type }) => [name, type] as const)

const LOADED_TYPE = 'STRUCT(snapshot INTEGER, run VARCHAR, loaded_at TIMESTAMPTZ, as_of TIMESTAMPTZ)'
/** No load, from an empty list: of NULL itself DuckDB takes the fields for integers. */
const NO_LOAD = `CAST([] AS ${LOADED_TYPE}[])[v]`
const loadOf = (table: Table, load: string): string =>
  `CREATE OR REPLACE MACRO ${loadMacro(table)}(v) AS ${load}`
const OLD_COLUMNS = [
  ['owner', 'BIGINT'],
  ['version', 'BIGINT'],
  ['as_of', 'TIMESTAMPTZ'],
  ['is_gone', 'BOOLEAN'],
] as const
const VERSION = ['version', 'BIGINT'] as const
const LINK_COLUMNS = [
  ...[['owner', 'BIGINT'] as const, VERSION],
  ...Object.entries({ ...CHAIN_COLUMNS, ...PLACE_COLUMNS }),
]

/** Tables that have versions of their own: one for each group. */
export const groupTables = (): readonly Table[] => [
  ...mainTables(),
  ...TABLES.filter(({ content }) => content === undefined),
]

/** A macro of rows that has the columns of a snapshot's and refuses to be read: nobody must take it for an empty table. */
export const unreadableRows = (table: Table): string =>
  tableMacro(
    rowsMacro(table),
    table === QUARANTINE
      ? noRows([['partition', 'VARCHAR'], ...namesAndTypes(table)], refusalOf(table.name))
      : noRows([...namesAndTypes(table), VERSION], refusalOf(table.name)),
  )

/** The same of the versions of a content. */
export const unreadableVersions = (table: RecordTable): readonly string[] => [
  tableMacro(oldMacro(table), noRows(OLD_COLUMNS, refusalOf(table.name))),
  tableMacro(chainMacro(table), noRows(LINK_COLUMNS, refusalOf(table.name))),
]

/** The macro of loads of a group of tables that has none. */
export const noLoads = (table: Table): string => loadOf(table, NO_LOAD)

export const unreadableFacts = (name: FactName): string =>
  tableMacro(factMacroName(name), noRows(Object.entries(FACTS[name]), refusalOf(name)))

/** The macros of a snapshot, none of which can be read. */
export const unreadableMacros = (): readonly string[] => [
  ...[...TABLES, LISTINGS, QUARANTINE].map(unreadableRows),
  ...mainTables().flatMap(unreadableVersions),
  ...groupTables().map(noLoads),
  ...historyMacros(),
  ...FACT_NAMES.map(unreadableFacts),
]

/**
 * The rows of a table's files. Their paths are a parameter with a default: DuckDB reads no file while the macro is made.
 *
 * @param sqlOf a file's path in SQL
 * @param isOld whether the row at a `place` is old, as a mark of each row @default none
 */
export const rowsOfTable = (
  table: Table,
  listed: Listed,
  at: string | PlaceOf,
  sqlOf?: (path: string) => string,
  isOld?: string,
): string => {
  const files = filesOf(listed, at, table.name)
  const paths = files.length === 0 ? '' : `paths := ${pathList(files, sqlOf)}`
  const rows =
    table === QUARANTINE
      ? readQuarantine(files, 'paths')
      : `SELECT * REPLACE (version::BIGINT AS version)${isOld === undefined ? '' : `, ${isOld} AS ${OLD_MARK}`}
FROM (${readTable(table, files, isOld?.includes('place') ? 'with-place' : 'with-version', 'paths')})`
  return tableMacro(rowsMacro(table), rows, paths)
}

/**
 * The versions of a table's rows: of files of loads as they stand, of a compaction's over their intervals.
 *
 * @param sqlOf a file's path in SQL
 * @param made a table of the session that has the chain: beside a CTE of it DuckDB reads all columns of rows. @default none
 */
export const historyOfTable = (
  table: Table,
  listed: Listed,
  at: string | PlaceOf,
  sqlOf?: (path: string) => string,
  made?: string,
): string => {
  const { content } = table
  const standIns = content === undefined ? undefined : standInsOf(listed, { content })
  if (standIns === undefined) return plainHistory(table)
  const files = filesOf(listed, at, table.name)
  const isCompacted = ({ version }: { readonly version: number }): boolean => standIns.records.has(version)
  const sets = {
    loaded: files.filter((file) => !isCompacted(file)),
    compacted: files.filter(isCompacted),
    past: filesOf(listed, at, pastOf(table).name),
  }
  const current = readTable(withFirstVersion(table), sets.compacted, 'with-version', 'compacted')
  const past = readTable(pastOf(table), sets.past, 'with-partition', 'past')
  const loads = `SELECT * REPLACE (version::BIGINT AS version) FROM (${readTable(table, sets.loaded, 'with-version', 'loaded')})`
  const chain = made ?? 'chain'
  const names = [
    ...table.columns.map(({ name }) => name),
    ...['version', 'loaded'],
    ...Object.keys(CHAIN_COLUMNS),
  ]
  const parts = [
    loadedHistory(table, loads, chain),
    compactedHistory(table, compactedRows(table, heldRows(table, current, true, past), chain), chain),
  ].map((part) => `SELECT ${names.map((name) => `r.${ident(name)}`).join(', ')} FROM (${part}) AS r`)
  const parameters = Object.entries(sets).flatMap(([name, some]) =>
    some.length === 0 ? [] : [`${name} := ${pathList(some, sqlOf)}`],
  )
  return historyMacroOf(
    table,
    `${made === undefined ? `WITH chain AS MATERIALIZED (FROM ${chainMacro(table)}())\n` : ''}${parts.join('\nUNION ALL\n')}`,
    parameters.join(', '),
  )
}

/** So many rows of which nothing is read but their number. */
export const countedRows = (table: Table, rows: number): string =>
  tableMacro(
    rowsMacro(table),
    `SELECT ${[...namesAndTypes(table), VERSION].map(([name, type]) => `NULL::${type} AS ${ident(name)}`).join(', ')}
FROM range(${rows})`,
  )

/** Old versions of a content's records, from the table that a session has made of the list. */
export const oldFrom = (table: Table, hidden: string): string =>
  tableMacro(oldMacro(table), `SELECT owner, version, as_of, is_gone FROM ${hidden}`)

/** If nothing is old: of no rows the filters of a query reach the files. */
export const noneOld = (table: Table): string => tableMacro(oldMacro(table), noRows(OLD_COLUMNS))

/**
 * The same from the list itself.
 *
 * @param sqlOf a file's path in SQL
 */
export const oldOfList = (
  table: Table,
  listed: Listed,
  lake: string,
  sqlOf?: (path: string) => string,
): string => {
  const files = versionFacts(versionFilesOf(listed, 'superseded', table))
  if (files.length === 0) return noneOld(table)
  const paths = files.map(({ path }) => ({ path: inLake(lake, path) }))
  return tableMacro(
    oldMacro(table),
    supersededRows(table, listed, 'paths'),
    `paths := ${pathList(paths, sqlOf)}`,
  )
}

/** If no chain is needed: each record has one version, of the instant of its load. */
export const noChain = (table: Table): string => tableMacro(chainMacro(table), noRows(LINK_COLUMNS))

/**
 * The chain of the versions of a content, from its lists. It is worked out where a statement reads it.
 *
 * @param sqlOf a file's path in SQL
 * @param fromVersion for what is put together: leaves lower versions of the lists out, and listings that lacked a company again. @default none
 */
export const chainOfLists = (
  table: RecordTable,
  listed: Listed,
  at: string | PlaceOf,
  sqlOf?: (path: string) => string,
  fromVersion?: number,
): string => {
  const files = chainLists(listed, table)
  if (files.length === 0) return noChain(table)
  const placeOf: PlaceOf = typeof at === 'string' ? (path) => inLake(at, path) : at
  const pathsOf = (some: readonly { readonly path: string }[]): string | undefined =>
    some.length === 0
      ? undefined
      : pathList(
          some.map(({ path }) => ({ path: placeOf(path) })),
          sqlOf,
        )
  const ofKind = (kind: VersionFile['kind']) => versionFacts(files.filter((file) => file.kind === kind))
  const merged = mergedFiles(listed, table)
  const paths = {
    last: pathsOf(ofKind('last')),
    superseded: pathsOf(ofKind('superseded')),
    confirmed: fromVersion === undefined ? pathsOf(ofKind('confirmed')) : undefined,
    merged: pathsOf(merged),
  }
  const names = {
    last: paths.last && 'last_paths',
    superseded: paths.superseded && 'superseded_paths',
    confirmed: paths.confirmed && 'confirmed_paths',
  }
  const standIns = standInsOf(listed, table)
  const versions = listedVersions(
    table,
    {
      ...names,
      merged:
        paths.merged === undefined
          ? undefined
          : { paths: 'merged_paths', versions: merged.map(({ version }) => version) },
    },
    loadMacro(table),
    { standIns: standIns?.all, fromVersion },
  )
  const parameters = Object.entries(paths).flatMap(([name, list]) =>
    list === undefined ? [] : [`${name}_paths := ${list}`],
  )
  return tableMacro(chainMacro(table), chainOf(versions), parameters.join(', '))
}

/** Maps versions to loads. @param listed as `rowsOfTable` has it */
export const loadsOf = (table: Table, listed: Listed): string => {
  const entries: readonly (CommitFacts & { readonly run: string; readonly asOf?: string })[] =
    table.content === undefined
      ? listed.files.filter((file) => file.table === table.name)
      : [...(listed.merged ?? []), ...listed.partitions].sort((a, b) => a.version - b.version)
  const loads = new Map<string, number>()
  const first = entries[0]?.version
  /** Indexed by version, from the first one on: the place of its load, 0 for a version that no entry has. */
  const places: number[] = []
  for (const { run, committed, version, asOf } of entries) {
    const load = `{'snapshot': ${committed.snapshot}, 'run': ${literal(run)}, 'loaded_at': ${literal(committed.time)}, 'as_of': ${asOf === undefined ? 'NULL' : literal(asOf)}}`
    // Many partitions are of one run: versions are mapped to the few loads.
    const place = loads.get(load) ?? loads.size + 1
    loads.set(load, place)
    const at = version - (first ?? 0)
    while (places.length < at) places.push(0)
    places[at] = place
  }
  // The list is cast once, not the load of each row.
  const found = `CAST([${[...loads.keys()].join(', ')}] AS ${LOADED_TYPE}[])[[${places.join(',')}][v - ${(first ?? 1) - 1}]]`
  return loadOf(table, first === undefined ? NO_LOAD : found)
}

/** @param query gives the facts, with the columns of their kind */
export const factMacro = (name: FactName, query: string, parameters?: string): string =>
  tableMacro(factMacroName(name), query, parameters)

/** Facts of a kind that stand in its macro; more of them stand in a table. */
const MOST_IN_MACRO = 1_000
/** Facts in one statement that fills a table. */
const FACTS_AT_ONCE = 250

const factTable = (name: FactName): string => `${HIDDEN_SCHEMA}.facts_of_${name}`

/**
 * Statements that give the facts of a kind. A few stand in the macro itself; many in a table, into which they are put some at a time,
 * because DuckDB takes thirty times the length of a text that it parses.
 */
export async function* factStatements<Name extends FactName>(
  name: Name,
  facts: AsyncIterable<Fact<Name>>,
): AsyncGenerator<string> {
  const table = factTable(name)
  const columns = Object.entries(FACTS[name]).map(([column, type]) => `${ident(column)} ${type}`)
  let some: Fact<Name>[] = []
  let isTable = false
  const inserted = function* (): Generator<string> {
    for (let at = 0; at < some.length; at += FACTS_AT_ONCE)
      yield `INSERT INTO ${table} BY NAME ${factsFrom(name, some.slice(at, at + FACTS_AT_ONCE))}`
    some = []
  }
  yield `DROP TABLE IF EXISTS ${table}`
  for await (const fact of facts) {
    if (some.length === MOST_IN_MACRO) {
      if (!isTable) yield `CREATE TABLE ${table} (${columns.join(', ')})`
      isTable = true
      yield* inserted()
    }
    some.push(fact)
  }
  if (isTable) yield* inserted()
  yield factMacro(name, isTable ? `FROM ${table}` : factsFrom(name, some))
}
