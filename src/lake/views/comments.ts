/**
 * Comments on the views, macros and columns of a database. Declared once: in the head comments of the analysis layer, and in
 * the columns of the tables.
 */

import type { Definition, DefinitionKind } from '../../analysis/definitions.ts'
import { documentationOf } from '../../analysis/documentation.ts'
import { LINE_ITEMS } from '../../contract/line-items.ts'
import { ident, literal } from '../duckdb/sql.ts'
import type { ComputedColumn } from '../projection/computed-columns.ts'
import { type Column, columnComment } from '../tables/columns.ts'
import { LISTINGS, mainTables, QUARANTINE, TABLES, type Table, tableComment } from '../tables/tables.ts'
import { ALL_COMPANIES, HISTORY_COLUMNS } from './base-views.ts'

/** The comments on a view or a macro. */
export interface Comments {
  readonly kind: DefinitionKind
  readonly name: string
  /** For a macro with its parameters and columns, which have no comments of their own in a database. */
  readonly about: string
  /** Comments on the columns of a view. */
  readonly columns: readonly (readonly [name: string, about: string])[]
}

/** In a head comment the name of all further columns, one a line item. */
const LINE_ITEM_COLUMNS = '…'

const lineItemColumns = (): readonly (readonly [string, string])[] =>
  LINE_ITEMS.map(({ lineItem, category, unit }) => [
    lineItem,
    `${lineItem} of ${category}; unit: ${unit}. NULL where there is no figure.`,
  ])

const listed = (title: string, list: readonly (readonly [string, string])[]): string =>
  list.length === 0 ? '' : ` ${title}: ${list.map(([name, about]) => `${name}: ${about}`).join('; ')}.`

/** The whole head of a definition as one text, for a definition without comments on columns. */
export const wholeComment = (definition: Definition): string => {
  const { about, rule, parameters, columns } = documentationOf(definition)
  const text = rule === undefined ? about : `${about} ${rule}`
  return `${text}${listed('Parameters', parameters)}${listed('Columns', columns)}`
}

/** The comments in the head of a definition. */
export const commentsOf = (definition: Definition): Comments => {
  const { name, kind } = definition
  const { about, rule, columns } = documentationOf(definition)
  const text = rule === undefined ? about : `${about} ${rule}`
  if (kind !== 'view') return { ...{ kind, name, columns: [] }, about: wholeComment(definition) }
  return {
    ...{ kind, name, about: text },
    columns: columns.flatMap((column) => (column[0] === LINE_ITEM_COLUMNS ? lineItemColumns() : [column])),
  }
}

const GONE_SINCE = LISTINGS.columns.filter(({ name }) => name === 'gone_since')
const PARTITION = { name: 'partition', type: 'VARCHAR', about: 'Partition whose load met the line.' }

/** A view of a table: its current versions, all versions, or all companies. */
export interface TableView {
  readonly name: string
  readonly about: string
  readonly table: Table
  readonly columns: readonly Column[]
}

/** The views of the tables. @param computed further columns of the tables */
export const tableViews = (computed: readonly ComputedColumn[] = []): readonly TableView[] => {
  const view = (name: string, about: string, table: Table, more: readonly Column[] = []): TableView => ({
    ...{ name, about, table },
    columns: [
      ...table.columns,
      ...more,
      ...computed
        .filter((one) => one.table === table.name)
        .map(({ column, sql }) => ({ name: column, type: '', about: `Computed: ${sql}` })),
    ],
  })
  return [
    ...TABLES.flatMap((table) => {
      const about = tableComment(table)
      return [
        view(table.name, `Current versions. ${about}`, table),
        view(`${table.name}_history`, `All versions. ${about}`, table, HISTORY_COLUMNS),
      ]
    }),
    view(QUARANTINE.name, tableComment(QUARANTINE), {
      ...QUARANTINE,
      columns: [PARTITION, ...QUARANTINE.columns],
    }),
    view(LISTINGS.name, tableComment(LISTINGS), LISTINGS),
    ...mainTables()
      .filter(({ content }) => content === LISTINGS.content)
      .map((table) =>
        view(
          ALL_COMPANIES,
          `Current versions, of those that left the service the last ones. ${tableComment(table)}`,
          table,
          GONE_SINCE,
        ),
      ),
  ]
}

/** The comments on the views of the tables. @param computed further columns of the tables */
export const baseComments = (computed?: readonly ComputedColumn[]): readonly Comments[] =>
  tableViews(computed).map(({ name, about, columns }) => ({
    ...{ kind: 'view', name, about },
    columns: columns.map((column) => [column.name, columnComment(column)]),
  }))

const KINDS: Readonly<Record<DefinitionKind, string>> = {
  view: 'VIEW',
  macro: 'MACRO',
  'table macro': 'MACRO TABLE',
}

/** Statements in one text: of a view and its columns, or of a macro. @param mark text behind what is said of the whole */
export const commentSql = ({ kind, name, about, columns }: Comments, mark = ''): string =>
  [
    `COMMENT ON ${KINDS[kind]} ${ident(name)} IS ${literal(`${about}${mark}`)}`,
    ...columns.map(
      ([column, text]) => `COMMENT ON COLUMN ${ident(name)}.${ident(column)} IS ${literal(text)}`,
    ),
  ].join(';\n')
