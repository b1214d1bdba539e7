/**
 * A Parquet file as its footer describes it: row groups, and in each the bytes of a column. Knows no values. Of files that were
 * compared with their hashes: what is damaged gives a `RangeError` or nonsense. Source: parquet-format, README.md and parquet.thrift.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import {
  numberField,
  structField,
  structsField,
  ThriftReader,
  type ThriftStruct,
  textsField,
} from './thrift.ts'

/** A column in a row group. */
export interface ColumnChunk {
  readonly codec: number
  /** Values, those that are NULL included: pages are read until there are so many. */
  readonly values: number
  readonly from: number
  readonly bytes: number
}

export interface RowGroup {
  readonly rows: number
  /** Flat columns by name. */
  readonly columns: ReadonlyMap<string, ColumnChunk>
}

/** Bytes of the footer's length and of the mark behind it. */
const TAIL_BYTES = 8

export class ParquetFile {
  readonly #file: number
  readonly groups: readonly RowGroup[]
  /** Memory for the bytes of a column, used again. */
  #bytes = Buffer.alloc(0)

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    try {
      const { size } = fstatSync(this.#file)
      const length = this.read(size - TAIL_BYTES, TAIL_BYTES).readUInt32LE(0)
      const footer = new ThriftReader(this.read(size - TAIL_BYTES - length, length)).struct()
      this.groups = structsField(footer, 4).map(groupOf)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Bytes of the file. They stand until the next ones are read. */
  read(from: number, length: number): Buffer {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * length)
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, this.#bytes, done, length - done, from + done)
      if (read === 0) throw new RangeError(`Cannot read ${length} bytes at ${from}: the file ends before`)
      done += read
    }
    return this.#bytes.subarray(0, length)
  }

  close(): void {
    closeSync(this.#file)
  }
}

const groupOf = (group: ThriftStruct): RowGroup => ({
  rows: numberField(group, 3),
  columns: new Map(structsField(group, 1).map((chunk) => columnOf(structField(chunk, 3)))),
})

const columnOf = (meta: ThriftStruct): readonly [string, ColumnChunk] => {
  const dictionary = meta.get(11)
  const data = numberField(meta, 9)
  return [
    textsField(meta, 3).join('.'),
    {
      codec: numberField(meta, 4),
      values: numberField(meta, 5),
      from: typeof dictionary === 'number' ? Math.min(dictionary, data) : data,
      bytes: numberField(meta, 7),
    },
  ]
}
