/** Headcounts of a slice's companies as JSON texts by id: the two series that stand in EnhancedDetails. */

import { CONSOLIDATIONS } from '../../contract/dictionaries.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { numberText } from '../../lake/tables/json-text.ts'
import { ByteWriter } from '../../support/byte-writer.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { idsOf, type Texts, verbatimTexts } from './column-texts.ts'
import { NUMBER_BYTES, writeAscii } from './number-text.ts'
import { sliceView } from './slices.ts'

const { QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

export interface Headcounts {
  /** Appends a company's series as the text of a row. */
  appendTo(texts: Texts, id: bigint, series: number): void
}

const SERIES = CONSOLIDATIONS.length

const rowsOf = (employees: string): string => `SELECT internal_id,
  (${CONSOLIDATIONS.map(({ name }, at) => `${at} * (consolidation = ${literal(name)})::INTEGER`).join(' + ')})::INTEGER AS series,
  fiscal_year::INTEGER AS fiscal_year, ${numberText('employees')} AS headcount
FROM ${employees} ORDER BY internal_id, series, fiscal_year`

export const readHeadcounts = async (session: Session): Promise<Headcounts> => {
  const bytes = new ByteWriter()
  const numbers = verbatimTexts()
  /** By id and series where the text begins and ends. */
  const places = new Map<bigint, Uint32Array>()
  let place: Uint32Array | undefined
  let series = -1
  let before: bigint | undefined
  const end = (): void => {
    if (place === undefined) return
    bytes.byte(CLOSE_BRACE)
    place[2 * series + 1] = bytes.length
  }
  const { chunks } = await session.rawChunks(rowsOf(sliceView('employees')))
  for await (const { rows, columns } of chunks) {
    const [owner, kind, fiscalYear, headcount] = columns
    if (!owner || !kind || !fiscalYear || !headcount)
      throw new TypeError('Cannot read headcounts: columns are missing')
    const ids = idsOf(owner, rows)
    const kinds = new Int32Array(kind.data.buffer, kind.data.byteOffset, rows)
    const years = new Int32Array(fiscalYear.data.buffer, fiscalYear.data.byteOffset, rows)
    const texts = numbers(headcount, rows)
    for (const [row, id] of ids.entries()) {
      const isSame = id === before && kinds[row] === series
      if (!isSame) {
        end()
        before = id
        series = kinds[row] ?? 0
        place = places.get(id) ?? new Uint32Array(2 * SERIES)
        places.set(id, place)
        place[2 * series] = bytes.length
      }
      bytes.byte(isSame ? COMMA : OPEN_BRACE)
      bytes.byte(QUOTE)
      bytes.reserve(NUMBER_BYTES)
      bytes.length = writeAscii(bytes.words, bytes.length, String(years[row] ?? 0))
      bytes.byte(QUOTE)
      bytes.byte(COLON)
      texts.appendTo(bytes, row)
    }
  }
  end()
  return {
    appendTo: (texts, id, at) => {
      const found = places.get(id)
      if (found) texts.writer.append(bytes.bytes, found[2 * at] ?? 0, found[2 * at + 1] ?? 0)
      texts.endRow()
    },
  }
}
