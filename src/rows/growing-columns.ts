/**
 * Rows in columns that grow together. Their memory is shared, so that one thread fills what another one reads, and is used
 * again for later blocks. The rows of a record are appended while it is checked, and dropped where it is refused.
 */

type Column =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float64Array
  | BigInt64Array

interface ColumnType {
  new (buffer: SharedArrayBuffer): Column
  readonly BYTES_PER_ELEMENT: number
  readonly prototype: Column
}

type ColumnTypes = Readonly<Record<string, ColumnType>>

/** The rows as they pass between threads. */
export interface ColumnsMessage {
  readonly length: number
  readonly columns: Readonly<Record<string, Column>>
}

/** Rows of which a block has at least so many, where it has any. */
const MIN_ROWS = 256

export class GrowingColumns<Types extends ColumnTypes = ColumnTypes> {
  /** Rows that there are. */
  length = 0
  /** The first row of the record at hand. */
  recordStart = 0
  /** An array for each column, with room for more rows than there are; growing replaces them. */
  readonly columns: { readonly [Name in keyof Types]: Types[Name]['prototype'] }
  readonly #columns: Record<string, Column>
  readonly #types: Types
  readonly #minRows: number
  #capacity = 0

  constructor(types: Types, minRows = MIN_ROWS) {
    this.#types = types
    this.#minRows = minRows
    this.#columns = Object.fromEntries(Object.entries(types).map(([name, Type]) => [name, columnOf(Type, 0)]))
    this.columns = this.#columns as typeof this.columns
  }

  /** Makes room for so many rows in all. Memory that is not written to costs nothing. */
  reserve(rows: number): void {
    if (rows <= this.#capacity) return
    this.#capacity = Math.max(rows, 2 * this.#capacity, this.#minRows)
    for (const [name, Type] of Object.entries(this.#types)) {
      const larger = columnOf(Type, this.#capacity)
      copyInto(larger, this.#columns[name]!)
      this.#columns[name] = larger
    }
  }

  /** Begins a row. @returns its number */
  startRow(): number {
    const row = this.length++
    if (row >= this.#capacity) this.reserve(row + 1)
    return row
  }

  clear(): void {
    this.length = 0
  }

  startRecord(): void {
    this.recordStart = this.length
  }

  /** Drops the rows of the record at hand. */
  dropRecord(): void {
    this.length = this.recordStart
  }

  toMessage(): ColumnsMessage {
    return { length: this.length, columns: { ...this.#columns } }
  }

  /** Takes the columns of another thread in place of its own. */
  adopt({ length, columns }: ColumnsMessage): void {
    this.length = length
    Object.assign(this.#columns, columns)
    this.#capacity = Math.min(...Object.values(columns).map((column) => column.length))
  }
}

const columnOf = (Type: ColumnType, items: number): Column =>
  new Type(new SharedArrayBuffer(items * Type.BYTES_PER_ELEMENT))

const copyInto = (larger: Column, { buffer, byteOffset, byteLength }: Column): void =>
  new Uint8Array(larger.buffer).set(new Uint8Array(buffer, byteOffset, byteLength))
