/** Rows of an answer and what their cells say. */

/** A row by the names of its columns. */
export type ReportRow = Readonly<Record<string, unknown>>

/** A number of a cell; what is none counts as 0. */
export const cellNumber = (value: unknown): number => {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

/** A text of a cell; NULL is none. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

export const columnSum = (rows: readonly ReportRow[], column: string): number =>
  rows.reduce((sum, row) => sum + cellNumber(row[column]), 0)
