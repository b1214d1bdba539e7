import { beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { folded, foldedSql } from '../../../src/server/ranking/folded.ts'

let session: Session
beforeAll(async () => {
  const engine = await Engine.open({ memoryBytes: 200_000_000 })
  session = await engine.connect()
  return () => {
    session.close()
    engine.close()
  }
})

const FOLDED = [
  ['Skåne', 'skane'],
  ['Ska\u030ane', 'skane'],
  ['Łódź', 'lodz'],
  ['Straße', 'strasse'],
  ['STRAẞE', 'strasse'],
  ['Ærø Økologi', 'aero okologi'],
  ['Þór og Guðrún', 'thor og gudrun'],
  ['Đorđević', 'dordevic'],
  ['IŞIK', 'isik'],
  ['ışık', 'isik'],
  ['İstanbul', 'istanbul'],
  ['Œuvre', 'oeuvre'],
  ['Ħal Ŧ Ŋ', 'hal t n'],
  ['ΑΘΉΝΑΣ', 'αθηνασ'],
  ['Αθήνας', 'αθηνασ'],
  ['Ёлка', 'елка'],
  ['한국', '한국'],
  ['ガス', 'カス'],
  ["O'Neill & Sons 100%", "o'neill & sons 100%"],
] as const

test.each(FOLDED)('folded and foldedSql give the same for %j', async (text, wanted) => {
  const [row] = await session.rows(`SELECT ${foldedSql('$1::VARCHAR')} AS folded`, [text])
  expect(folded(text)).toBe(wanted)
  expect(row?.folded).toBe(wanted)
})
