import { expect, test } from 'vitest'
import { comparedNumber, comparedNumberSql } from '../../src/core/person-keys.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'

const CASES = [
  ['556012-3456', '5560123456'],
  [' 12 34\t5\r\n', '12345'],
  ['1\u00a02\u20033\u30004\u20285\ufeff6\u200b7\u00858', '12345678'],
  ['1\u20102\u20113\u20134\u20145\u00ad6', '123456'],
  ['Ab_1.2/3', 'Ab_1.2/3'],
  ['-', ''],
] as const

test('comparedNumber leaves out whitespace and hyphens of every script, and nothing else', () => {
  for (const [text, compared] of CASES) expect(comparedNumber(text)).toBe(compared)
})

test('comparedNumberSql compares every character as comparedNumber does', async () => {
  const engine = await Engine.open({ memoryBytes: 128 * 1024 * 1024 })
  const session = await engine.connect()
  const strings: string[] = CASES.map(([text]) => text)
  for (let code = 1; code < 0x3100; code += 1) strings.push(`a${String.fromCharCode(code)}b`)
  const rows = await session.rows(
    `SELECT ${comparedNumberSql('t')} AS compared FROM (SELECT unnest(json_transform($1, '["VARCHAR"]')) AS t)`,
    [JSON.stringify(strings)],
  )
  expect(rows.map(({ compared }) => compared)).toEqual(strings.map(comparedNumber))
  engine.close()
})
