import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { instantsOf } from '../../../src/lake/tables/value-sql.ts'

const STRINGS = [
  '2020-01-02T03:04:05 Europe/Oslo',
  '2020-01-02T03:04:05',
  '2020-01-02',
  '2020-1-2',
  '2020-01-02 03:04:05',
  '2020-01-02 3:4:5',
  '2020-01-02T03:04',
  '2020-01-02 03:04:05.5 ',
  '2020-01-02T03:04:05.',
  '2020-01-02T03:04:05.123456789',
  '2020-01-02 03:04:05Z',
  '2020-01-02T03:04:05+02:00',
]

test('instantsOf gives a text without an offset its instant in UTC, whatever zone a text before it names', async () => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  const session = await engine.connect()
  const together = await session.rows(
    `SELECT unnest(${instantsOf(`[${STRINGS.map(literal).join(', ')}]`)})::VARCHAR AS instant`,
  )
  const alone = await Promise.all(
    STRINGS.map(async (text) => {
      const [row] = await session.rows(`SELECT (${instantsOf(`[${literal(text)}]`)})[1]::VARCHAR AS instant`)
      return { instant: row?.instant }
    }),
  )
  session.close()
  engine.close()
  expect(together).toEqual(alone)
  expect(alone.slice(0, 3).map(({ instant }) => instant)).toEqual([
    '2020-01-02 02:04:05+00',
    '2020-01-02 03:04:05+00',
    '2020-01-02 00:00:00+00',
  ])
})
