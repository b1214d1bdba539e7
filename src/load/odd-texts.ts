/** Finds the values of a part's relations that only DuckDB reads: see `odd-values.ts`. */

import { isOddJson, TextReader } from '../rows/cell-values.ts'
import type { OddTexts } from '../rows/odd-values.ts'
import type { RecordRows, RowCells } from '../rows/record-rows.ts'
import { FORM_BITS, MASKED, ODD } from '../rows/row-columns.ts'

/** The texts of such values, each once. */
export const oddTextsOf = (rows: RecordRows, block: Buffer): OddTexts => {
  const texts = { instants: new Set<string>(), jsons: new Set<string>() }
  if (!rows.hasOdd) return texts
  for (const cells of [rows.records, rows.entities, rows.ownerships, rows.roles]) addOdd(texts, cells, block)
  return texts
}

const addOdd = (
  { instants, jsons }: { instants: Set<string>; jsons: Set<string> },
  { cells }: RowCells,
  block: Buffer,
): void => {
  const text = new TextReader()
  const { column, low, high } = cells.columns
  for (let cell = 0; cell < cells.length; cell++) {
    const form = column[cell]! & FORM_BITS
    if (form === ODD) {
      text.read(block, low[cell]!, high[cell]!)
      instants.add(text.text())
    } else if (form === MASKED) {
      const json = block.toString('utf8', low[cell]!, high[cell]!)
      if (isOddJson(json)) jsons.add(json)
    }
  }
}
