/** From the cells of rows to the columns of a chunk. */

import { DICTIONARIES } from '../contract/dictionaries.ts'
import type { Field } from '../contract/fields.ts'
import { isMasked } from '../contract/objects.ts'
import { type FieldColumn, isNumericCode, snakeCase } from '../lake/tables/columns.ts'
import { plainObjects, plainStrings, TextReader } from '../rows/cell-values.ts'
import { KeyTable } from '../rows/key-table.ts'
import type { UncommonValues } from '../rows/odd-values.ts'
import type { RowCells } from '../rows/record-rows.ts'
import { ESCAPED, FORM_BITS, ODD, PLACE_BITS, REPORTED, rowPlacesOf } from '../rows/row-columns.ts'
import {
  BooleanColumn,
  type ChunkColumn,
  ListColumn,
  MembersColumn,
  memberName,
  StringsColumn,
  StructColumn,
  WordsColumn,
} from './chunk-columns.ts'

/** Sets a row's value from its cell of a block. */
type ReadCell = (block: Buffer, row: number, low: number, high: number) => void

/** The columns that a field becomes. */
interface FieldReader {
  readonly columns: readonly ChunkColumn[]
  /** How they get their values; a column of words or of texts alone takes them as they are. */
  readonly read?: ReadCell
}

const TWO_32 = 0x100000000

/** The fields of a table's rows, by their places in the table. For one part after the other. */
export class RowFields {
  /** The columns that the fields become. */
  readonly columns: readonly ChunkColumn[]
  readonly #names: readonly Buffer[]
  /** Whether each is a day. */
  readonly #days: readonly boolean[]
  readonly #readers: readonly FieldReader[]
  /** The columns that take values as they are. */
  readonly #words: readonly (WordsColumn | undefined)[]
  readonly #strings: readonly (StringsColumn | undefined)[]
  #block: Buffer = Buffer.alloc(0)
  #odd: UncommonValues | undefined
  readonly #text = new TextReader()
  /** Date-times whose text the instant does not restore. */
  readonly reported: MembersColumn
  /** Personal data that came masked. */
  readonly masked = new MaskedColumn()

  /** @param dateTimes the object whose members all date-times are; absent where they are the row's own */
  constructor(fields: readonly FieldColumn[], dateTimes?: string) {
    const leaves = rowPlacesOf(fields)
    this.reported = new MembersColumn('as_reported', dateTimes)
    this.#names = leaves.map(({ path }) => memberName(path.at(-1) ?? ''))
    this.#days = leaves.map(({ field }) => field.kind === 'date-time' && field.isDay === true)
    this.#readers = leaves.map(({ name, field }) => readerOf(name, field))
    this.columns = columnsOf(fields, this.#readers)
    const alone = this.#readers.map(({ columns: [column], read }) =>
      read === undefined ? column : undefined,
    )
    this.#words = alone.map((column) => (column instanceof WordsColumn ? column : undefined))
    this.#strings = alone.map((column) => (column instanceof StringsColumn ? column : undefined))
  }

  /** Reads cells of this part from now on. */
  begin(block: Buffer, odd: UncommonValues | undefined): void {
    this.#block = block
    this.#odd = odd
  }

  /** Reads the cells of a row into the `at`th row of the chunk. */
  readRow({ rows, cells }: RowCells, row: number, at: number): void {
    const { first, behind } = rows.columns
    const { column, low, high } = cells.columns
    const stop = behind[row]!
    for (let cell = first[row]!; cell < stop; cell++) {
      const place = column[cell]!
      if (place > PLACE_BITS)
        this.#readForm(place & FORM_BITS, place & PLACE_BITS, at, low[cell]!, high[cell]!)
      else {
        const words = this.#words[place]
        const strings = this.#strings[place]
        if (words !== undefined) words.set(at, low[cell]!, high[cell]!)
        else if (strings !== undefined) strings.set(at, this.#block, low[cell]!, high[cell]!)
        else this.#readers[place]!.read?.(this.#block, at, low[cell]!, high[cell]!)
      }
    }
  }

  #readForm(form: number, place: number, at: number, from: number, to: number): void {
    const name = this.#names[place]!
    if (form === ESCAPED) {
      this.#text.read(this.#block, from, to)
      this.#strings[place]?.set(at, this.#text.bytes, this.#text.from, this.#text.to)
    } else if (form === REPORTED) this.reported.add(at, place, name, this.#block, from, to)
    else if (form === ODD) {
      this.#text.read(this.#block, from, to)
      const found = this.#odd?.instants.get(this.#text.text())
      const micros = this.#days[place] ? found?.dayMicros : found?.micros
      if (micros !== undefined) this.#words[place]?.setBig(at, micros)
      if (found?.reported !== undefined) this.reported.add(at, place, name, Buffer.from(found.reported))
    } else {
      const json = this.#block.toString('utf8', from, to)
      this.masked.addMasked(at, place, name, this.#odd?.jsons.get(json) ?? json)
    }
  }
}

/** Personal data that came masked. */
class MaskedColumn extends MembersColumn {
  readonly #whole = new Set<number>()

  constructor() {
    super('masked')
  }

  override clear(): void {
    super.clear()
    this.#whole.clear()
  }

  addMasked(row: number, place: number, name: Buffer, json: string): void {
    if (isMasked(JSON.parse(json))) this.#whole.add(row)
    this.add(row, place, name, Buffer.from(json))
  }

  /** Whether more than a part of an address is masked. */
  isWhole(row: number): boolean {
    return this.#whole.has(row)
  }
}

/** An object's members stand together in one column. */
const columnsOf = (fields: readonly FieldColumn[], readers: readonly FieldReader[]): ChunkColumn[] => {
  let place = 0
  return fields.flatMap((column) => {
    const count = rowPlacesOf([column]).length
    const columns = readers.slice(place, place + count).flatMap((reader) => reader.columns)
    place += count
    return column.field.kind === 'object' ? [new StructColumn(column.name, columns)] : columns
  })
}

const readerOf = (name: string, field: Field): FieldReader => {
  switch (field.kind) {
    case 'text':
      return { columns: [new StringsColumn(name)] }
    case 'integer':
      return isNumericCode(field) ? codeReader(name, field.codes) : { columns: [new WordsColumn(name)] }
    case 'number':
      return { columns: [new WordsColumn(name, 'DOUBLE')] }
    case 'date-time':
      return { columns: [new WordsColumn(name, 'TIMESTAMPTZ')] }
    case 'boolean': {
      const column = new BooleanColumn(name)
      return { columns: [column], read: (_block, row, value) => column.set(row, value === 1) }
    }
    case 'strings':
      return stringsReader(name)
    case 'objects':
      return objectsReader(name, Object.keys(field.of.fields))
    default:
      throw new TypeError(`Cannot read a field of kind "${field.kind}" into a column`)
  }
}

/** A code, and its name where the contract has one. */
const codeReader = (name: string, codes: string): FieldReader => {
  const code = new WordsColumn(name)
  const text = new StringsColumn(`${name}_name`)
  const values = Object.entries(DICTIONARIES).find(([dictionary]) => dictionary === codes)?.[1].values ?? []
  const names = new Map(values.map((value) => [value.value, Buffer.from(value.name)]))
  return {
    columns: [code, text],
    read: (_block, row, low, high) => {
      code.set(row, low, high)
      const found = names.get((high | 0) * TWO_32 + low)
      if (found !== undefined) text.set(row, found)
    },
  }
}

const stringsReader = (name: string): FieldReader => {
  const column = new ListColumn(name)
  const text = new TextReader()
  return {
    columns: [column],
    read: (block, row, from, to) => {
      column.startList(row)
      const isPlain = plainStrings(block, from, to, (start, end) => {
        text.read(block, start, end)
        column.startItem()
        column.set(0, text.bytes, text.from, text.to)
      })
      if (isPlain) return
      column.startList(row)
      const items: readonly (string | null)[] = JSON.parse(block.toString('utf8', from, to))
      for (const item of items) {
        column.startItem()
        if (item !== null) column.set(0, Buffer.from(item))
      }
    },
  }
}

/** A list of objects, all of whose known members are texts. */
const objectsReader = (name: string, members: readonly string[]): FieldReader => {
  const column = new ListColumn(name, members.map(snakeCase))
  const keys = new KeyTable(members)
  const text = new TextReader()
  return {
    columns: [column],
    read: (block, row, from, to) => {
      column.startList(row)
      const isPlain = plainObjects(
        block,
        from,
        to,
        () => column.startItem(),
        (keyFrom, keyTo, start, end) => {
          const field = keys.find(block, keyFrom, keyTo)
          if (field < 0) return
          text.read(block, start, end)
          column.set(field, text.bytes, text.from, text.to)
        },
      )
      if (isPlain) return
      column.startList(row)
      const items: readonly Readonly<Record<string, unknown>>[] = JSON.parse(block.toString('utf8', from, to))
      for (const item of items) {
        column.startItem()
        for (const [field, member] of members.entries()) {
          const value = item[member]
          if (typeof value === 'string') column.set(field, Buffer.from(value))
        }
      }
    },
  }
}
