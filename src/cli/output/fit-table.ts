/** Cuts a wide table to a terminal: long texts are shortened, columns that do not fit are left out, no number is cut. */

import { cutToWidth, displayWidth, printable, type TextColumn } from './text-table.ts'

export interface FittedTable {
  readonly columns: readonly TextColumn[]
  readonly rows: readonly (readonly string[])[]
  /** Columns with a text that was cut, and columns that were left out. */
  readonly shortened: number
  readonly leftOut: number
}

/** Between two columns. */
const GAP = 2
/** Stands in place of the columns that were left out. */
const MORE: TextColumn = { title: '…' }
/** A text is not cut to less. */
const LEAST_TEXT = 12

/** The widest that all columns may be so that they fit; each has at least its own least. */
const widthsWithin = (full: readonly number[], least: readonly number[], room: number): readonly number[] => {
  const at = (most: number): readonly number[] =>
    full.map((width, column) => Math.max(least[column] ?? 0, Math.min(width, most)))
  let most = Math.max(...full)
  while (most > LEAST_TEXT && sum(at(most)) > room) most -= 1
  return at(most)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** @param width columns of the terminal */
export const fitTable = (
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): FittedTable => {
  // A control character is shown as several: measured is what is shown.
  const cells = rows.map((row) => columns.map((_, column) => printable(row[column] ?? '')))
  const values = columns.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), 0),
  )
  const titles = columns.map(({ title }) => displayWidth(printable(title)))
  const full = titles.map((title, column) => Math.max(title, values[column] ?? 0))
  if (sum(full) + GAP * (full.length - 1) <= width) return { columns, rows, shortened: 0, leftOut: 0 }

  const least = columns.map(({ right }, column) =>
    Math.max(right ? (values[column] ?? 0) : 0, Math.min(full[column] ?? 0, LEAST_TEXT)),
  )
  let shown = 0
  let taken = 0
  for (const one of least) {
    const rest = shown + 1 < least.length ? GAP + displayWidth(MORE.title) : 0
    // One column is shown however wide it is.
    if (shown > 0 && taken + one + rest > width) break
    taken += one + GAP
    shown += 1
  }
  const leftOut = columns.length - shown
  const gaps = GAP * (shown - 1) + (leftOut > 0 ? GAP + displayWidth(MORE.title) : 0)
  const widths = widthsWithin(full.slice(0, shown), least.slice(0, shown), width - gaps)
  const cut = (texts: readonly string[]): string[] => [
    ...widths.map((one, column) => cutToWidth(texts[column] ?? '', one)),
    ...(leftOut > 0 ? [MORE.title] : []),
  ]
  const names = cut(columns.map(({ title }) => printable(title)))
  return {
    columns: names.map((title, column) => ({ ...(columns[column] ?? MORE), title })),
    rows: cells.map(cut),
    shortened: widths.filter((one, column) => one < (full[column] ?? 0)).length,
    leftOut,
  }
}
