/**
 * The figures and headcounts of a part as Parquet files, written here rather than by DuckDB: what stands once a record
 * or a series in the columns of the block is a run in a file too, and never becomes rows.
 */

import { systemCode, writeError } from '../core/errors.ts'
import type { ColumnDeclaration, ColumnTable } from '../lake/duckdb/column-tables.ts'
import { PageCompressors } from '../lake/parquet/compress-pages.ts'
import { type FileColumn, ParquetWriter } from '../lake/parquet/parquet-writer.ts'
import { LongRuns, TextRuns } from '../lake/parquet/run-columns.ts'
import { PackedSmalls, PlainDoubles } from '../lake/parquet/value-columns.ts'
import type { ColumnPages, WrittenColumn } from '../lake/parquet/written-columns.ts'
import { settled } from '../support/settled.ts'
import type { CheckedPart } from './check-block.ts'
import { employeesTable, financialsTable, firstRow } from './figure-tables.ts'
import type { SeriesRows } from './series-rows.ts'

/** As many as DuckDB writes. */
const GROUP_ROWS = 122_880
/** Groups of a file in memory: one is filled while another one is compressed and written. */
const GROUPS_AT_ONCE = 2

type Codes = Int32Array | Uint8Array

/** Figures of a part: their columns as DuckDB would be given them, and where the values of these stand. */
export interface FigureSource {
  readonly table: ColumnTable
  readonly part: CheckedPart
  readonly series: SeriesRows
  /** Rows up to the end of each record. */
  readonly end: Uint32Array
  /** Of the columns of names the codes, by record and by series. */
  readonly byRecord: Readonly<Record<string, Codes>>
  readonly bySeries: Readonly<Record<string, Codes>>
  /** The column of values; another one of doubles is of those that are kept beside them. */
  readonly value: string
}

export const financialsSource = (part: CheckedPart, bytes: Buffer): FigureSource => {
  const { figures, figuresEnd, country, currency } = part.rows
  return {
    table: financialsTable(part, bytes),
    part,
    series: figures,
    end: figuresEnd,
    byRecord: { country_code: country, currency },
    bySeries: { consolidation: figures.statement, category: figures.category, line_item: figures.lineItem },
    value: 'value',
  }
}

export const employeesSource = (part: CheckedPart, bytes: Buffer): FigureSource => {
  const { headcounts, headcountsEnd, country } = part.rows
  return {
    table: employeesTable(part, bytes),
    part,
    series: headcounts,
    end: headcountsEnd,
    byRecord: { country_code: country },
    bySeries: { consolidation: headcounts.statement },
    value: 'employees',
  }
}

/** A column of names whose code stands once for all rows of a record or a series. */
interface NamesColumn {
  readonly codes: Codes
  readonly column: TextRuns
}

/** The columns of a row group. Their memory is used again for later groups, of other files too. */
class Group {
  readonly id = new LongRuns()
  readonly year = new PackedSmalls(GROUP_ROWS)
  readonly value = new PlainDoubles(GROUP_ROWS)
  /** Figures that are kept beside their value. */
  readonly kept = new PlainDoubles(GROUP_ROWS)
  byRecord: readonly NamesColumn[] = []
  bySeries: readonly NamesColumn[] = []
  hasKept = false
  rows = 0
  /** Until it is fulfilled the columns are being read. */
  written: Promise<() => void> = Promise.resolve(() => undefined)
  readonly #names: Readonly<Record<string, TextRuns>> = {
    country_code: new TextRuns(),
    consolidation: new TextRuns(),
    category: new TextRuns(),
    line_item: new TextRuns(),
    currency: new TextRuns(),
  }
  /** In their order in the file. */
  #columns: readonly WrittenColumn[] = []

  /** Begins to take rows of a part. */
  start(source: FigureSource): void {
    this.#columns = source.table.columns.map((column) => this.#start(column, source))
    this.byRecord = this.#namesOf(source.byRecord)
    this.bySeries = this.#namesOf(source.bySeries)
    this.hasKept = this.#columns.includes(this.kept)
    this.clear()
  }

  #start({ name, type }: ColumnDeclaration, { value }: FigureSource): WrittenColumn {
    if (type === 'BIGINT') return this.id
    if (type === 'SMALLINT') return this.year
    if (type === 'DOUBLE') return name === value ? this.value : this.kept
    const column = this.#names[name]
    if (column === undefined || typeof type === 'string' || !('textOf' in type))
      throw new TypeError(`Cannot write column "${name}" to a file of figures`)
    column.start(type.textOf)
    return column
  }

  #namesOf(codes: Readonly<Record<string, Codes>>): NamesColumn[] {
    return Object.entries(codes).flatMap(([name, given]) => {
      const column = this.#names[name]
      return column === undefined ? [] : [{ codes: given, column }]
    })
  }

  clear(): void {
    this.rows = 0
    for (const column of this.#columns) column.clear()
  }

  pages(): ColumnPages[] {
    return this.#columns.map((column) => column.pages())
  }
}

/** Goes through the rows of a part's records in their order. */
class RowWalk {
  readonly #source: FigureSource
  /** Halves of the records' ids, the lower one first. */
  readonly #ids: Uint32Array
  /** Where the series of the next row and the next kept figure are looked for. */
  #series = 0
  #kept = 0

  constructor(source: FigureSource) {
    const { id } = source.part.rows
    this.#source = source
    this.#ids = new Uint32Array(id.buffer, id.byteOffset, 2 * id.length)
  }

  /** Adds rows of a record to a group. */
  add(group: Group, record: number, from: number, to: number): void {
    const { year, value } = this.#source.series
    group.id.add(this.#ids[2 * record]!, this.#ids[2 * record + 1]!, to - from)
    for (const { codes, column } of group.byRecord) column.add(codes[record]!, to - from)
    group.year.add(year, from, to)
    group.value.add(value, from, to)
    this.#addSeries(group, from, to)
    if (group.hasKept) this.#addKept(group.kept, from, to)
    group.rows += to - from
  }

  #addSeries({ bySeries }: Group, from: number, to: number): void {
    const { end, series } = this.#source.series
    let first = this.#series
    // Of the records left out the series are passed over.
    while (end[first]! <= from) first++
    for (const { codes, column } of bySeries) column.addSeries(codes, end, first, from, to)
    while (first < series && end[first]! <= to) first++
    this.#series = first
  }

  #addKept(column: PlainDoubles, from: number, to: number): void {
    const { kept, keptRow, keptFigure } = this.#source.series
    let next = this.#kept
    while (next < kept && keptRow[next]! < from) next++
    let row = from
    for (; next < kept && keptRow[next]! < to; next++) {
      column.addNulls(keptRow[next]! - row)
      column.add(keptFigure, next, next + 1)
      row = keptRow[next]! + 1
    }
    column.addNulls(to - row)
    this.#kept = next
  }
}

export interface FigureFileOptions {
  /** The column's field id, where files have them. */
  readonly fieldIdOf: (column: string) => number | undefined
  /** At most 122_880. @default 122_880 */
  readonly groupRows?: number | undefined
}

/** Writes files of figures, several side by side. */
export class FigureFiles {
  readonly #compressors = new PageCompressors()
  readonly #idle: Group[] = []

  /**
   * Writes a part's rows to a new file, in the order of its records. The file is neither synced nor renamed: that is
   * the sink's part.
   *
   * @returns how many rows it has
   * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
   */
  async write(source: FigureSource, path: string, options: FigureFileOptions): Promise<number> {
    const { fieldIdOf, groupRows = GROUP_ROWS } = options
    const columns = source.table.columns.map(
      ({ name, type }): FileColumn => ({ name, type: fileTypeOf(type), fieldId: fieldIdOf(name) }),
    )
    try {
      const writer = await ParquetWriter.open(path, columns, this.#compressors)
      try {
        await this.#writeGroups(writer, source, Math.min(groupRows, GROUP_ROWS))
        return await writer.finish()
      } finally {
        await writer.close()
      }
    } catch (error) {
      throw systemCode(error) === undefined ? error : writeError(`Cannot write "${path}"`, error)
    }
  }

  async #writeGroups(writer: ParquetWriter, source: FigureSource, groupRows: number): Promise<void> {
    const { part, end } = source
    const groups = Array.from({ length: GROUPS_AT_ONCE }, () => this.#idle.pop() ?? new Group())
    for (const group of groups) group.start(source)
    const walk = new RowWalk(source)
    const write = (group: Group): void => {
      group.written = settled(writer.write(group.rows, group.pages()))
    }
    let at = 0
    let group = groups[at]!
    for (const record of part.members)
      for (let row = firstRow(end, record); row < end[record]!; ) {
        if (group.rows === groupRows) {
          write(group)
          group = groups[++at % GROUPS_AT_ONCE]!
          ;(await group.written)()
          group.clear()
        }
        const stop = Math.min(end[record]!, row + groupRows - group.rows)
        walk.add(group, record, row, stop)
        row = stop
      }
    if (group.rows > 0) write(group)
    for (const { written } of groups) (await written)()
    this.#idle.push(...groups)
  }

  /** Gives memory back that was kept for later files. */
  close(): void {
    this.#idle.length = 0
    this.#compressors.close()
  }
}

const fileTypeOf = (type: ColumnDeclaration['type']): FileColumn['type'] =>
  type === 'BIGINT' || type === 'SMALLINT' || type === 'DOUBLE' ? type : 'VARCHAR'
