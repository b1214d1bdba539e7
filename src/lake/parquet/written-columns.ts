/**
 * Columns of a row group that is being filled, each as its pages stand in a file but for their heads: a page of the
 * first version with its values, before it one of a dictionary. Their memory is used again for the next group.
 * Source: parquet-format, Encodings.md.
 */

import type { ByteWriter } from '../../support/byte-writer.ts'
import type { Runs } from './hybrid-writer.ts'

/** What a file says of a column of a group. */
export interface ColumnFacts {
  /** Rows without a value. */
  readonly nulls: number
  /** Values of its dictionary; absent where it has none. */
  readonly distinct: number | undefined
  /** The smallest and the largest value, as Parquet writes it; absent where there is none, or none that is worth it. */
  readonly least: Buffer | undefined
  readonly greatest: Buffer | undefined
  /** Absent where there shall be none. */
  readonly filter: Buffer | undefined
}

/** A column's pages; their bytes stand until the column is cleared. */
export interface ColumnPages {
  readonly facts: ColumnFacts
  readonly dictionary: Buffer | undefined
  readonly page: Buffer
}

export interface WrittenColumn {
  readonly clear: () => void
  readonly pages: () => ColumnPages
}

const LENGTH_BYTES = 4
export const lengthBytes = (length: number): Buffer => {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt32LE(length)
  return bytes
}

/** Begins a page: which of its rows have a value. */
export const startPage = (page: ByteWriter, levels: Runs): void => {
  page.clear()
  page.append(lengthBytes(0))
  levels.write(page, 1)
  page.bytes.writeUInt32LE(page.length - LENGTH_BYTES, 0)
}

/** Of a row that has no value. */
export const NO_VALUE = -1
