/** Rows of a slice's companies in the lake's files of a table that is kept by company: ranges that stand together. */

import { setImmediate } from 'node:timers/promises'
import { CodedColumn, dictionaryLongs } from './parquet/column-reader.ts'
import { ParquetFile, type RowGroup } from './parquet/parquet-file.ts'

/** What is done with rows. */
export interface RangeReader {
  /** Reads the columns of a row group that has rows of these companies. */
  readonly readGroup: (file: ParquetFile, group: RowGroup) => void
  /** Takes the rows of a company from `start` to before `end` of that row group. */
  readonly addRange: (place: number, start: number, end: number) => void
}

const NONE = -1

export class CompanyRanges {
  readonly #ids = new CodedColumn('internal_id')

  /**
   * @param files in which rows of the companies may stand, beside those of others
   * @param places of the companies by their ids
   */
  async read(
    files: readonly string[],
    places: ReadonlyMap<bigint, number>,
    { readGroup, addRange }: RangeReader,
  ): Promise<void> {
    for (const path of places.size === 0 ? [] : files) {
      const file = new ParquetFile(path)
      try {
        for (const group of file.groups) {
          this.#ids.read(file, group)
          const placeOf = Int32Array.from(dictionaryLongs(this.#ids), (id) => places.get(id) ?? NONE)
          if (!placeOf.some((place) => place !== NONE)) continue
          readGroup(file, group)
          this.#eachRange(placeOf, group.rows, addRange)
          await setImmediate()
        }
      } finally {
        file.close()
      }
    }
  }

  #eachRange(placeOf: Int32Array, rows: number, addRange: RangeReader['addRange']): void {
    const { codes } = this.#ids
    for (let start = 0; start < rows; ) {
      const code = codes[start] ?? 0
      let end = start + 1
      while (end < rows && codes[end] === code) end++
      const place = placeOf[code] ?? NONE
      if (place !== NONE) addRange(place, start, end)
      start = end
    }
  }
}
