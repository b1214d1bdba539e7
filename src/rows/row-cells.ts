/**
 * Rows that objects of a record become: of each row the columns that have a value, and that value in 64 bits, or where it
 * stands in the block's bytes. Holds no texts; columns without a value take no room.
 */

import { grown } from './shared-columns.ts'

const FIRST_ROWS = 256
const FIRST_CELLS = 4096

/** The columns as they pass between threads: their memory is shared. */
export type RowCellColumns = Pick<RowCells, 'rows' | 'cells' | 'first' | 'behind' | 'column' | 'low' | 'high'>

export class RowCells {
  rows = 0
  cells = 0
  /** Of each row its first cell, and the one behind its last. */
  first = new Uint32Array(0)
  behind = new Uint32Array(0)
  /** Of each cell the place of its column in the table with its form, and two numbers: see `row-forms.ts`. */
  column = new Uint16Array(0)
  low = new Uint32Array(0)
  high = new Uint32Array(0)
  #recordRows = 0
  #recordCells = 0

  clear(): void {
    this.rows = 0
    this.cells = 0
  }

  columns(): RowCellColumns {
    const { rows, cells, first, behind, column, low, high } = this
    return { rows, cells, first, behind, column, low, high }
  }

  /** Takes columns of another thread in place of its own. */
  adopt(columns: RowCellColumns): void {
    Object.assign(this, columns)
  }

  startRecord(): void {
    this.#recordRows = this.rows
    this.#recordCells = this.cells
  }

  /** Takes back the rows of the record at hand. */
  dropRecord(): void {
    this.rows = this.#recordRows
    this.cells = this.#recordCells
  }

  /** Begins a row; others may begin and end before it ends. @returns its number */
  startRow(): number {
    const row = this.rows++
    if (row >= this.first.length) {
      this.first = grown(Uint32Array, this.first, Math.max(row + 1, FIRST_ROWS))
      this.behind = grown(Uint32Array, this.behind, this.first.length)
    }
    return row
  }

  /** Ends a row with its cells: three numbers each, from the `start`th cell of `pending` up to the `end`th. */
  endRow(row: number, pending: Uint32Array, start: number, end: number): void {
    const count = end - start
    if (this.cells + count > this.column.length) {
      this.column = grown(Uint16Array, this.column, Math.max(this.cells + count, FIRST_CELLS))
      this.low = grown(Uint32Array, this.low, this.column.length)
      this.high = grown(Uint32Array, this.high, this.column.length)
    }
    const { column, low, high } = this
    let cell = this.cells
    this.first[row] = cell
    for (let at = start * 3; at < end * 3; at += 3, cell++) {
      column[cell] = pending[at]!
      low[cell] = pending[at + 1]!
      high[cell] = pending[at + 2]!
    }
    this.behind[row] = cell
    this.cells = cell
  }
}
