/** The tables of a lake with columns, units and row counts, as objects for programs and text for people. */

import type { TableListing } from '../lake/query.ts'
import { formatCount, formatCounted } from './format.ts'
import { textTable } from './text-table.ts'

/** A type longer than this (a struct of many fields) is cut for people. */
const LONGEST_TYPE = 24

const shortType = (type: string): string =>
  type.length > LONGEST_TYPE ? `${type.slice(0, LONGEST_TYPE - 1)}…` : type

/** One object for each table, as `query --json` prints it. */
export const tableObjects = (listings: readonly TableListing[]): readonly object[] =>
  listings.map(({ table: { name, row, key, columns }, rows, historyRows }) => ({
    name,
    row,
    key,
    rows,
    historyRows,
    columns: columns.map(({ name, type, unit, about }) => ({ name, type, unit: unit ?? null, about })),
  }))

const rowsText = ({ rows, historyRows }: TableListing): string =>
  historyRows === rows
    ? formatCounted(rows, 'row')
    : `${formatCounted(rows, 'row')} of ${formatCount(historyRows)}`

export const tableLines = (listings: readonly TableListing[]): string[] => [
  ...listings.flatMap((listing) => [
    `${listing.table.name}: ${rowsText(listing)}, each ${listing.table.row}`,
    ...textTable(
      [{ title: 'column' }, { title: 'type' }, { title: 'unit' }, { title: 'meaning' }],
      listing.table.columns.map((one) => [one.name, shortType(one.type), one.unit ?? '', one.about]),
    ).map((line) => `  ${line}`),
    '',
  ]),
  'Each name stands for the current version of each company; <name>_history holds all versions.',
]
