/** The figures of a record in columns, whose memory the room gives. */

/** Figures in columns; where these stand. The room knows the order of the fields. */
@unmanaged
export class Rows {
  rows: u32 = 0
  series: u32 = 0
  /** Figures that are kept beside their value. */
  kept: u32 = 0
  /** Of each row, as i16, f64 and i8. Until the record ends the digits of a figure as a whole number stand for its value. */
  year: usize = 0
  value: usize = 0
  decimals: usize = 0
  /** Of each series the row behind its last one, its statement, category and line item: as u32, u8, i32 and i32. */
  end: usize = 0
  statement: usize = 0
  category: usize = 0
  lineItem: usize = 0
  /** As u32 and f64. */
  keptRow: usize = 0
  keptFigure: usize = 0
}

/** In place of a figure's number of decimals: its text stands at the position given instead of its digits. */
export const AS_TEXT: i32 = -1
/** Less the number of decimals: the digits are no double, and stand as i64. */
export const AS_LONG: i32 = -2

/** Where the room finds those of the statements, and the headcounts. */
export const FIGURES: usize = memory.data(64, 8)
export const HEADCOUNTS: usize = memory.data(64, 8)

export function addSeries(rows: Rows, statement: i32, category: i32, lineItem: i32): void {
  const at: usize = rows.series
  store<u32>(rows.end + (at << 2), rows.rows)
  store<u8>(rows.statement + at, <u8>statement)
  store<i32>(rows.category + (at << 2), category)
  store<i32>(rows.lineItem + (at << 2), lineItem)
  rows.series = <u32>(at + 1)
}

export function keep(rows: Rows, row: i32, figure: f64): void {
  const at: usize = rows.kept
  store<u32>(rows.keptRow + (at << 2), row)
  store<f64>(rows.keptFigure + (at << 3), figure)
  rows.kept = <u32>(at + 1)
}

/** Appends a figure whose text stands at `at`. */
export function addText(rows: usize, year: i32, at: usize): void {
  const columns = changetype<Rows>(rows)
  const row: usize = columns.rows
  store<i16>(columns.year + (row << 1), <i16>year)
  store<f64>(columns.value + (row << 3), <f64>at)
  store<i8>(columns.decimals + row, <i8>AS_TEXT)
  columns.rows = <u32>(row + 1)
}

/** Ends a series of figures; one without any is none. */
export function endSeries(rows: usize, statement: i32, category: i32, lineItem: i32): void {
  const columns = changetype<Rows>(rows)
  const last: usize = columns.series
  const from: u32 = last === 0 ? 0 : load<u32>(columns.end + ((last - 1) << 2))
  if (columns.rows !== from) addSeries(columns, statement, category, lineItem)
}
