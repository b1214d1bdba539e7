/** Tables, views and macros that a statement can read: on one screen for people, in full for programs. */

import type { ListedTable } from '../../jobs/list-tables.ts'
import type { CatalogEntry } from '../../lake/views/catalog.ts'
import { formatCounted } from '../../support/format.ts'
import { fitTable, textTable } from './text-table.ts'

/** A lake's catalog, and what the manifest states of its tables. */
export interface LakeCatalog {
  readonly entries: readonly CatalogEntry[]
  readonly tables: readonly ListedTable[]
}

const KINDS: Readonly<Record<CatalogEntry['kind'], string>> = {
  table: 'a table',
  view: 'a view',
  macro: 'a macro that gives a value',
  'table macro': 'a macro that gives a table',
}

/** The view that has the findings of all rules; on one screen it stands for them. */
const ALL_RULES = 'quality_findings'

/** A type longer than this (a struct of many fields) is cut for people. */
const LONGEST_TYPE = 24

const shortType = (type: string): string =>
  type.length > LONGEST_TYPE ? `${type.slice(0, LONGEST_TYPE - 1)}…` : type

const listedOf = ({ tables }: LakeCatalog, { name }: CatalogEntry): ListedTable | undefined =>
  tables.find(({ table }) => table.name === name)

const rowsText = ({ rows, historyRows }: ListedTable): string =>
  rows === null ? `${formatCounted(historyRows, 'row')} of versions` : formatCounted(rows, 'row')

/** The line of an entry: tables with their rows, of all others what they are. */
const lineOf = (lake: LakeCatalog, entry: CatalogEntry): readonly string[] => {
  const listed = listedOf(lake, entry)
  const name = entry.parameters.length > 0 ? `${entry.name}(…)` : entry.name
  return [name, listed === undefined ? entry.about : `${rowsText(listed)}, each ${listed.table.row}`]
}

const UNKNOWN_CURRENT = 'Current rows, where those of versions stand: SELECT count(*) FROM financials.'

/** Names that the lines below the list stand for. */
const NOT_LISTED = /_history$|^(companies|relations)_as_|^instant_of$/

/** Tables, views and macros by subject, one line each. @param width columns of the terminal */
export const catalogLines = (lake: LakeCatalog, width: number): string[] => {
  const rules = lake.entries.filter(({ name }) => name.startsWith('quality_') && name !== ALL_RULES)
  const shown = lake.entries.filter((entry) => !NOT_LISTED.test(entry.name) && !rules.includes(entry))
  const rows = [...Map.groupBy(shown, ({ subject }) => subject)].flatMap(([subject, entries]) =>
    entries.map((entry, at) => [at === 0 ? subject : '', ...lineOf(lake, entry)]),
  )
  const names = rules.map(({ name }) => name.replace('quality_', '')).join(', ')
  const afterAllRules = rows.findIndex(([, name]) => name === ALL_RULES) + 1
  const listed = rows.toSpliced(afterAllRules, 0, ['', 'quality_<rule>', 'The findings of one rule.'])
  const titles = ['subject', 'name', 'what it is'].map((title) => ({ title }))
  const fitted = fitTable(titles, listed, width)
  return [
    ...textTable(fitted.columns, fitted.rows),
    '',
    '<table>_history has all versions. A macro is called: FROM companies_as_of(…).',
    `<rule>: ${names}.`,
    'Columns, rule and example of one: --describe growth.',
    ...(lake.tables.some(({ rows }) => rows === null) ? [UNKNOWN_CURRENT] : []),
  ]
}

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`.trimEnd())

const listLines = (title: string, columns: CatalogEntry['columns']): readonly string[] => {
  if (columns.length === 0) return []
  const isTyped = columns.some(({ type }) => type !== undefined)
  const titles = [title, ...(isTyped ? ['type', 'unit'] : []), 'meaning'].map((one) => ({ title: one }))
  const rows = columns.map(({ name, type = '', unit = '', about }) =>
    isTyped ? [name, shortType(type), unit, about] : [name, about],
  )
  return ['', ...indented(textTable(titles, rows))]
}

/** A table, view or macro with its rule, parameters, columns and an example. */
export const entryLines = (lake: LakeCatalog, entry: CatalogEntry): string[] => {
  const listed = listedOf(lake, entry)
  const rows = listed === undefined ? '' : `${rowsText(listed)}. `
  const parameters = entry.parameters.map(([name, about]) => ({ name, about }))
  return [
    `${entry.signature}, ${KINDS[entry.kind]}: ${rows}${entry.about}`,
    ...(entry.rule === undefined ? [] : [entry.rule]),
    ...listLines('parameter', parameters),
    ...listLines('column', entry.columns),
    '',
    ...indented([entry.example]),
  ]
}

/** An entry for programs; `rows` is null where it is no table, or rows would have to be read to count current ones. */
export const entryObject = (lake: LakeCatalog, entry: CatalogEntry): object => {
  const listed = listedOf(lake, entry)
  const { name, kind, subject, signature, about, rule = null, example } = entry
  return {
    ...{ name, kind, subject, signature, about, rule, example },
    row: listed?.table.row ?? null,
    key: listed?.table.key ?? null,
    rows: listed?.rows ?? null,
    historyRows: listed?.historyRows ?? null,
    parameters: entry.parameters.map(([parameter, text]) => ({ name: parameter, about: text })),
    columns: entry.columns.map(({ name: column, type, unit, about: text }) => ({
      name: column,
      type: type ?? null,
      unit: unit ?? null,
      about: text,
    })),
  }
}
