/** Parts of one run: what reads the rows of one reads those of the next. */

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Content } from '../../src/contract/objects.ts'
import { Workbench } from './loaded-lake.ts'
import { recordLines } from './records.ts'
import { canonicalAll, idOf } from './same-record.ts'

/** `FIRMLAKE_ROUNDS=20` looks longer. */
const ROUNDS = Number(process.env.FIRMLAKE_ROUNDS ?? 1)

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

/** What is current of lines that came in this order. */
const lastOf = (lines: readonly string[], content: Content): string[] => [
  ...new Map(lines.map((line) => [idOf(line, content), line])).values(),
]

test.for(['companies', 'relations'] as const)(
  'parts of %s show nothing of the parts before',
  async (content) => {
    const parts = fc.array(recordLines(content, 6), { minLength: 3, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(parts, async (all) => {
        const lake = await bench.load(...all.map((lines) => ({ content, lines })))
        const last = lastOf(all.flat(), content)
        expect(canonicalAll(await lake.givenBack(content), content)).toEqual(canonicalAll(last, content))
      }),
      { numRuns: 2 * ROUNDS, seed: 11 },
    )
  },
)

test('texts of 5 MB in one part leave nothing in the next, nor lists and dates that only DuckDB reads', async () => {
  const long = 'ø'.repeat(2_500_000)
  const full = {
    InternalId: 1,
    Parents: [
      {
        InternalId: 2,
        Name: long,
        UpdatedAt: '2020-01-02T03:04',
        Citizenships: [long, null, 'b'],
        Addresses: [{ City: long }, { Street: 'a"b\\' }],
      },
    ],
  }
  const bare = { InternalId: 3, Parents: [{ InternalId: 4 }] }
  const records = [full, bare]
  const lake = await bench.load(
    ...records.map((record) => ({ content: 'relations' as const, lines: [record] })),
  )
  const came = records.map((record) => JSON.stringify(record))
  expect(canonicalAll(await lake.givenBack(), 'relations')).toEqual(canonicalAll(came, 'relations'))
})
