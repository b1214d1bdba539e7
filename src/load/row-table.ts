/** Rows of cells as a table that DuckDB selects from: values are read where they stand in the block, chunk by chunk. */

import type { CheckedPart } from '../check/check-block.ts'
import type { ColumnTable } from '../lake/duckdb/column-tables.ts'
import type { Engine } from '../lake/duckdb/engine.ts'
import { CHUNK_ROWS } from '../lake/duckdb/vectors.ts'
import type { FieldColumn } from '../lake/tables/columns.ts'
import { TABLES, type TableName } from '../lake/tables/tables.ts'
import type { BlockRows } from '../rows/block-rows.ts'
import type { UncommonValues } from '../rows/odd-values.ts'
import type { RowCells } from '../rows/record-rows.ts'
import { type ChunkColumn, StringsColumn } from './chunk-columns.ts'
import { RowFields } from './row-fields.ts'

/** A part, its block's bytes, and what DuckDB makes of the values that are not read here. */
export interface RowPart {
  readonly part: CheckedPart
  readonly bytes: Buffer
  readonly odd: UncommonValues | undefined
  readonly spare: SpareFields
}

/** Values of a part that DuckDB has to read; its code is loaded where there are some. */
export const oddValuesOf = async (
  engine: Engine,
  { objects }: BlockRows,
  block: Buffer,
): Promise<UncommonValues | undefined> => {
  if (!objects.hasOdd) return undefined
  const { readOddValues } = await import('../rows/odd-values.ts')
  return readOddValues(engine, objects, block)
}

/** Fields of tables that have been read, for those of the next part: of companies they take 2 MB. */
export class SpareFields {
  readonly #idle = new Map<TableName, RowFields[]>()

  take(table: TableName): RowFields | undefined {
    return this.#idle.get(table)?.pop()
  }

  give(table: TableName, fields: RowFields): void {
    const idle = this.#idle.get(table)
    if (idle === undefined) this.#idle.set(table, [fields])
    else idle.push(fields)
  }
}

/** Columns of a row beside the fields of its object. */
export interface OtherColumns {
  readonly columns: readonly ChunkColumn[]
  /** Sets them in the `at`th row of the chunk, whose fields are set. */
  readonly set: (at: number, row: number, record: number) => void
}

/** The column of a record's members beyond the contract. */
export const extraColumn = ({ extras }: BlockRows): OtherColumns => {
  const extra = new StringsColumn('extra')
  return {
    columns: [extra],
    set: (at, record) => {
      const text = extras.get(record)
      if (text !== undefined) extra.set(at, Buffer.from(text))
    },
  }
}

/** The ends of rows of which each record has one. */
export const oneEach = ({ records }: BlockRows): Uint32Array =>
  Uint32Array.from({ length: records.length }, (_, record) => record + 1)

/** The rows of a table. */
export interface RowSource {
  readonly table: TableName
  readonly fields: readonly FieldColumn[]
  readonly cells: RowCells
  /** Per record, the row behind its last one. */
  readonly end: ArrayLike<number>
  /** The object whose members all date-times are; absent where they are the row's own. */
  readonly dateTimes?: string
  readonly others: (fields: RowFields) => OtherColumns
}

/** The row that a record's rows begin at. */
const firstRow = (end: ArrayLike<number>, record: number): number => (record === 0 ? 0 : end[record - 1]!)

/** A table whose rows are made of cells, chunk by chunk. */
export const rowTable = (loaded: RowPart, source: RowSource): ColumnTable => {
  const { part } = loaded
  // Mostly the table is read once, so with these.
  let first: ReturnType<typeof columnsOf> | undefined = columnsOf(loaded, source)
  return {
    columns: first.columns.map(({ name, type }) => ({ name, type })),
    rows: part.members.reduce((sum, record) => sum + source.end[record]! - firstRow(source.end, record), 0),
    read: () => {
      const { columns, fields, others } = first ?? columnsOf(loaded, source)
      first = undefined
      const next = rowsOf(part, source.end)
      let isRead = false
      return (vectors) => {
        if (isRead) return 0
        for (const column of columns) column.clear()
        const rows = fill(source, { fields, others, next })
        for (const [at, column] of columns.entries()) column.give(vectors, at, rows)
        isRead = rows === 0
        if (isRead) loaded.spare.give(source.table, fields)
        return rows
      }
    },
  }
}

/** The columns of a table in their order. */
const columnsOf = (
  { bytes, odd, spare }: RowPart,
  { table, fields: declared, dateTimes, others: othersOf }: RowSource,
) => {
  const fields = spare.take(table) ?? new RowFields(declared, dateTimes)
  fields.begin(bytes, odd)
  const others = othersOf(fields)
  const made = [...fields.columns, ...others.columns, fields.reported, fields.masked]
  const columns = (TABLES.find(({ name }) => name === table)?.columns ?? []).map(({ name }) => {
    const column = made.find((one) => one.name === name)
    if (column === undefined)
      throw new TypeError(`Cannot fill "${table}": nothing makes its column "${name}"`)
    return column
  })
  return { columns, fields, others }
}

/** Rows of a part one after the other: `row` and `record`. */
interface NextRow {
  row: number
  record: number
  /** Continues with the next one. @returns false behind the last */
  readonly step: () => boolean
}

const rowsOf = ({ members }: CheckedPart, end: ArrayLike<number>): NextRow => {
  let member = -1
  let last = 0
  const next: NextRow = {
    row: -1,
    record: -1,
    step: () => {
      next.row++
      while (next.row >= last) {
        const record = members[++member]
        if (record === undefined) return false
        next.record = record
        next.row = firstRow(end, record)
        last = end[record]!
      }
      return true
    },
  }
  return next
}

/** Fills the next chunk. @returns how many rows it has; 0 at the end */
const fill = (
  { cells }: RowSource,
  { fields, others, next }: { fields: RowFields; others: OtherColumns; next: NextRow },
): number => {
  let at = 0
  for (; at < CHUNK_ROWS && next.step(); at++) {
    fields.readRow(cells, next.row, at)
    others.set(at, next.row, next.record)
  }
  return at
}
