/** The tables of a lake with columns, units and row counts, as objects for programs and text for people. */

import type { ListedTable } from '../../lake/tables/tables.ts'
import { formatCounted } from './format.ts'
import { textTable } from './text-table.ts'

/** A type longer than this (a struct of many fields) is cut for people. */
const LONGEST_TYPE = 24

const shortType = (type: string): string =>
  type.length > LONGEST_TYPE ? `${type.slice(0, LONGEST_TYPE - 1)}…` : type

/** One object for each table, as `query --json` prints it; `rows` is null where the manifest does not state them. */
export const tableObjects = (listings: readonly ListedTable[]): readonly object[] =>
  listings.map(({ table: { name, row, key, columns }, rows, historyRows }) => ({
    name,
    row,
    key,
    rows,
    historyRows,
    columns: columns.map(({ name, type, unit, about }) => ({ name, type, unit: unit ?? null, about })),
  }))

const rowsText = ({ rows, historyRows }: ListedTable): string =>
  rows === null ? `${formatCounted(historyRows, 'row')} in all versions` : formatCounted(rows, 'row')

const UNKNOWN_CURRENT =
  'The manifest counts all versions; to count the current rows: SELECT count(*) FROM companies.'

export const tableLines = (listings: readonly ListedTable[]): string[] => [
  ...listings.flatMap((listing) => [
    `${listing.table.name}: ${rowsText(listing)}, each ${listing.table.row}`,
    ...textTable(
      [{ title: 'column' }, { title: 'type' }, { title: 'unit' }, { title: 'meaning' }],
      listing.table.columns.map((one) => [one.name, shortType(one.type), one.unit ?? '', one.about]),
    ).map((line) => `  ${line}`),
    '',
  ]),
  'Each name stands for the current version of each company; <name>_history holds all versions.',
  ...(listings.some(({ rows }) => rows === null) ? [UNKNOWN_CURRENT] : []),
]
