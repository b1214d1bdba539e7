/**
 * How much of a table DuckDB reads and sorts at once within its memory. It puts runs of sorted rows aside and holds some blocks of each
 * while it merges them, so that the memory grows with the square root of the rows; with more it ends with `MEMORY_FULL`.
 */

import { rowGroupRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'

const MEBIBYTE = 1024 ** 2

/**
 * Rows with few columns. With two threads and all figures of companies, 57 million rows were sorted in 150 and in 210 MiB and not
 * in 120 or 180, 173 million in 320 and not in 260.
 */
const narrowRows = (mebibytes: number, threads: number): number =>
  1200 * ((2 * mebibytes) / Math.max(threads, 2)) ** 2

/**
 * Values of rows with many columns, of which some are held however few rows there are. Of companies, 5.7 million (100,000 rows) were
 * sorted in 220 MiB and not in 200, 17 million in 300 and not in 240, 68 million in 624 and not in 300; of 274 million in 624 MiB
 * the process took 370 MB beside.
 */
const wideValues = (mebibytes: number): number => 325 * Math.max(mebibytes - 150, 20) ** 2

/**
 * DuckDB holds the footers of all files that it reads together: 735 of companies took 400 MB beside its limit.
 */
const MOST_FOOTER_COLUMNS = 8_000

/** The most files of a table that are read together. */
export const filesAtOnce = ({ columns }: Pick<Table, 'columns'>): number =>
  Math.floor(MOST_FOOTER_COLUMNS / columns.length)

export interface SortMemory {
  /** DuckDB's limit, in bytes. */
  readonly engineBytes: number
  readonly threads: number
}

/** The most bytes of a table's files that are sorted at once. @param sizes of all of its files */
export const sortedAtOnce = (
  { engineBytes, threads }: SortMemory,
  { columns }: Pick<Table, 'columns'>,
  { rows, bytes }: { readonly rows: number; readonly bytes: number },
): number => {
  const mebibytes = engineBytes / MEBIBYTE
  const most =
    rowGroupRows(columns) === undefined
      ? narrowRows(mebibytes, threads)
      : wideValues(mebibytes) / columns.length
  return rows <= most ? Number.POSITIVE_INFINITY : Math.floor((bytes * most) / rows)
}
