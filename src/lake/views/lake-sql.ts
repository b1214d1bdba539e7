/** A snapshot's views and macros as SQL: for a session that keeps them, or for a text that a person runs. */

import { type Definition, definitionsFor } from '../../analysis/definitions.ts'
import { documentationOf } from '../../analysis/documentation.ts'
import type { TargetNames } from '../../core/sink.ts'
import { BUILT_FACTS } from '../../support/built-facts.ts'
import { sha256Of } from '../../support/hash.ts'
import { LONGEST_TEXT, literal, NO_FOLDER_COLUMNS, pathSql, patternOf } from '../duckdb/sql.ts'
import { MANIFEST_FOLDER } from '../files/layout.ts'
import type { ComputedColumn } from '../projection/computed-columns.ts'
import { LISTINGS, mainTables, QUARANTINE, TABLES, type Table } from '../tables/tables.ts'
import { baseViews } from './base-views.ts'
import { baseComments, commentSql, commentsOf } from './comments.ts'
import { HIDDEN_SCHEMA, type Listed } from './current-versions.ts'
import { FACT_NAMES, FACTS, type FactName, type ReadFacts } from './fact-columns.ts'
import {
  chainOfLists,
  factMacro,
  factStatements,
  groupTables,
  historyOfTable,
  loadsOf,
  oldOfList,
  rowsOfTable,
  unreadableMacros,
} from './source-macros.ts'

export interface LakeContents {
  /** Absolute, or an address of a bucket; paths of files are below it. */
  readonly lake: string
  readonly listed: Listed
  readonly facts: ReadFacts
  /** Further columns of its tables. */
  readonly computed: readonly ComputedColumn[]
}

const SCHEMA = `CREATE SCHEMA IF NOT EXISTS ${HIDDEN_SCHEMA}`

/** The snapshots that stand in a lake's folder, whichever there are. */
const snapshotsIn = (lake: string): string => {
  const columns = Object.entries(FACTS.snapshots).map(([name, type]) => `${name}: ${literal(type)}`)
  const rows = `SELECT * FROM read_json(pattern, ${NO_FOLDER_COLUMNS}, format = 'unstructured', columns = {${columns.join(', ')}})`
  return factMacro(
    'snapshots',
    rows,
    `pattern := ${literal(`${patternOf(lake)}/${MANIFEST_FOLDER}/[0-9]*.json`)}`,
  )
}

/** The listing with the partitions of a table's content only; all of it for a table without a content. */
const ownOf = (listed: Listed, { content }: Table): Listed =>
  content === undefined
    ? listed
    : {
        ...listed,
        partitions: listed.partitions.filter((one) => one.content === content),
        merged: (listed.merged ?? []).filter((one) => one.content === content),
      }

/** @param sqlOf a file's path in SQL; `lake` stands before it already */
const rowsMacros = ({ lake, listed }: LakeContents, sqlOf?: (path: string) => string): readonly string[] =>
  [...TABLES, QUARANTINE, LISTINGS].map((table) => rowsOfTable(table, ownOf(listed, table), lake, sqlOf))

/** Without the snapshots, of which there may be any number: a lake in a folder reads them itself. */
async function* macrosBesideRows(
  { lake, listed, facts }: LakeContents,
  sqlOf?: (path: string) => string,
): AsyncGenerator<string> {
  for (const table of mainTables()) yield oldOfList(table, listed, lake, sqlOf)
  for (const table of groupTables()) yield loadsOf(table, ownOf(listed, table))
  for (const table of mainTables()) yield chainOfLists(table, ownOf(listed, table), lake, sqlOf)
  for (const table of TABLES) yield historyOfTable(table, ownOf(listed, table), lake, sqlOf)
  for (const name of FACT_NAMES) if (name !== 'snapshots') yield* factStatements(name, facts(name))
}

/** Views, macros and the comments on them. */
const viewStatements = (computed?: readonly ComputedColumn[]): readonly string[] => [
  ...baseViews(computed).values(),
  ...definitionsFor().map(({ sql }) => sql),
  ...[...baseComments(computed), ...definitionsFor().map(commentsOf)].map((one) => commentSql(one)),
]

const fixedStatements = (computed?: readonly ComputedColumn[]): readonly string[] => [
  SCHEMA,
  ...unreadableMacros(),
  ...viewStatements(computed),
]

/**
 * Statements for a database that keeps the views. No file of the lake is opened: views are made on macros without rows,
 * which give way to those of the files.
 */
export async function* keptStatements(contents: LakeContents): AsyncGenerator<string> {
  yield* fixedStatements(contents.computed)
  yield* keptSources(contents)
}

/** The statements of the snapshot alone, one at a time: the facts of many sources are long. */
async function* keptSources(contents: LakeContents): AsyncGenerator<string> {
  // While a view is made its rows cannot be read: DuckDB would open every file, and hold 0.4 MB of each of `companies`.
  yield* macrosBesideRows(contents)
  yield* rowsMacros(contents)
  yield snapshotsIn(contents.lake)
}

/** The database of a lake that has nothing yet, which many lakes have in common. */
export interface KeptViews {
  readonly statements: () => Promise<readonly string[]>
  /** Is another one where the statements are others. */
  readonly name: string
}

const EMPTY: Omit<LakeContents, 'computed'> = {
  lake: '',
  listed: { partitions: [], files: [], versions: [] },
  facts: async function* () {},
}

const madeBefore = new Map<string, Promise<KeptViews>>()

const makeKeptViews = async (computed: readonly ComputedColumn[]): Promise<KeptViews> => {
  const make = () => Array.fromAsync(keptStatements({ ...EMPTY, computed }))
  if (BUILT_FACTS && computed.length === 0) return { statements: make, name: BUILT_FACTS.names.views }
  const statements = await make()
  return { statements: async () => statements, name: sha256Of(statements.join(';')) }
}

/** Made once for all lakes of a process with the same further columns. */
export const keptViews = (computed: readonly ComputedColumn[] = []): Promise<KeptViews> => {
  const key = JSON.stringify(computed)
  const views = madeBefore.get(key) ?? makeKeptViews(computed)
  madeBefore.set(key, views)
  return views
}

/** The statements of a snapshot that differ from those of a lake that has nothing yet, some of them in one text. */
export async function* changedSources(contents: LakeContents): AsyncGenerator<string> {
  const known = new Set(await Array.fromAsync(keptSources({ ...contents, ...EMPTY })))
  let text = ''
  for await (const sql of keptSources(contents)) {
    if (known.has(sql)) continue
    // DuckDB takes windows of one name in two statements of a text for one that is declared twice.
    const hasWindow = /\bWINDOW\b/.test(sql) && /\bWINDOW\b/.test(text)
    if ((hasWindow || text.length + sql.length > LONGEST_TEXT) && text !== '') {
      yield text
      text = ''
    }
    text += `${sql};\n`
  }
  yield text
}

const FOLDER_VARIABLE = 'lake'

/**
 * The same as a text that can be run anywhere, with the lake's place once at its head.
 *
 * @param place a folder, or `s3://bucket/prefix`
 * @param head lines of comment
 */
export const printedStatements = async (
  contents: LakeContents,
  place: string,
  head: readonly string[],
): Promise<string> => {
  const inVariable = (path: string): string => {
    const below = path.slice(contents.lake.length).replaceAll('\\', '/')
    return `getvariable('${FOLDER_VARIABLE}') || ${literal(below.startsWith('/') ? below : `/${below}`)}`
  }
  return [
    ...head.map((line) => `-- ${line}`),
    ...[
      `SET VARIABLE ${FOLDER_VARIABLE} = ${pathSql(place)}`,
      SCHEMA,
      ...rowsMacros(contents, inVariable),
      ...(await Array.fromAsync(macrosBesideRows(contents, inVariable))),
      ...(await Array.fromAsync(factStatements('snapshots', contents.facts('snapshots')))),
      ...viewStatements(contents.computed),
    ].map((sql) => `${sql};`),
    '',
  ].join('\n')
}

/**
 * The definitions for a database that has tables of rows in place of views: those whose tables and facts are all there.
 *
 * @param known kinds of facts that get a macro
 */
export const layerOnTables = async (
  facts: ReadFacts,
  known: readonly FactName[],
  { tables, taken, mark }: TargetNames,
): Promise<readonly string[]> => {
  const isMissing = new Set([
    ...[...baseViews().keys()].filter((name) => !tables.has(name)),
    ...FACT_NAMES.filter((name) => !known.includes(name)).map((name) => `fact_${name}`),
  ])
  const made: Definition[] = []
  for (const one of definitionsFor()) {
    if (taken.has(one.name) || [...one.words].some((word) => isMissing.has(word))) isMissing.add(one.name)
    else made.push(one)
  }
  const macros: string[] = []
  for (const name of known) for await (const sql of factStatements(name, facts(name))) macros.push(sql)
  return [
    SCHEMA,
    ...macros,
    ...made.map(({ sql }) => sql),
    ...made.map((one) => commentSql(commentsOf(one), one.kind === 'view' ? mark : '')),
  ]
}

/** A view of the layer whose statement PostgreSQL takes too. */
export interface PortableView {
  readonly name: string
  /** Others of these that it reads. */
  readonly uses: readonly string[]
  readonly sql: string
  /** Comments on it and its columns. @param mark text behind what is said of the whole */
  readonly comments: (mark: string) => string
}

/** Each behind those that it reads. */
export const portableViews = (): readonly PortableView[] =>
  definitionsFor()
    .filter((one) => documentationOf(one).isPortable)
    .map((one) => ({
      ...{ name: one.name, uses: one.uses, sql: one.sql },
      comments: (mark) => commentSql(commentsOf(one), mark),
    }))
