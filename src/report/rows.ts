/** Rows of an answer and what their cells say. */

/** A row by the names of its columns. */
export type ReportRow = Readonly<Record<string, unknown>>

/** A number of a cell; what is none counts as 0. */
export const cellNumber = (value: unknown): number => {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

export const grouped = (value: unknown): string => cellNumber(value).toLocaleString('en')

/** A text of a cell; NULL is none. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

const DAY_MS = 86_400_000
/** Beyond it bars would be too thin to be seen. */
const MOST_NIGHTS = 400

/** Rows of nights with an empty one for each night between them that has none. @param rows by `night`, the oldest first */
export const everyNight = (rows: readonly ReportRow[]): readonly ReportRow[] => {
  const [first = 0, last = 0] = [rows[0], rows.at(-1)].map((row) => Date.parse(cellText(row?.night)))
  const nights = (last - first) / DAY_MS + 1
  if (!(nights <= MOST_NIGHTS)) return rows
  const known = new Map(rows.map((row) => [cellText(row.night), row]))
  return Array.from({ length: nights }, (_, at) => {
    const night = new Date(first + at * DAY_MS).toISOString().slice(0, 10)
    return known.get(night) ?? { night }
  })
}
