/** Values of scaled figures and the figures given back, against exact arithmetic. */

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimals } from '../support/decimals.ts'
import { exactProduct } from '../support/exact-product.ts'
import { Workbench } from './loaded-lake.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const SCALES = { None: 0, Thousands: 3, Millions: 6, Billions: 9 } as const
const FIRST_YEAR = 1000

const reported = fc.record({
  scale: fc.constantFrom('None', 'Thousands', 'Millions', 'Billions'),
  strings: fc.array(fc.tuple(decimals, fc.boolean()), { minLength: 100, maxLength: 200, size: 'max' }),
})

const lineOf = (id: number, scale: string, strings: readonly string[]): string =>
  `{"BasicDetails":{"InternalId":${id}},"Financials":{"BalanceSheet":{"TotalAssets":{${strings
    .map((text, at) => `"${FIRST_YEAR + at}":${text}`)
    .join(',')}}}},"MetaData":{"FinancialFigureScale":"${scale}"}}`

test('every value is the double nearest to the exact product, and every figure is given back', async () => {
  let figures = 0
  await fc.assert(
    fc.asyncProperty(fc.array(reported, { minLength: 20, maxLength: 40 }), async (companies) => {
      const finite = companies.map(({ scale, strings }) => ({
        scale,
        strings: strings.filter(([text]) => Number.isFinite(exactProduct(text, SCALES[scale]))),
      }))
      const lake = await bench.load({
        content: 'companies',
        lines: finite.map(({ scale, strings }, id) =>
          lineOf(
            id,
            scale,
            strings.map(([text, isQuoted]) => (isQuoted ? `"${text}"` : text)),
          ),
        ),
      })
      expect(lake.rejected).toEqual([])
      // A Parquet file has one entry for both zeros, so their sign is lost where both occur.
      const values = new Map(
        (await lake.rows('financials', 'internal_id::INT AS id, fiscal_year, value')).map((row) => [
          `${row.id} ${row.fiscal_year}`,
          Number(row.value) + 0,
        ]),
      )
      const records = await lake.givenBack()
      for (const [id, { scale, strings }] of finite.entries()) {
        const record = JSON.parse(records[id] ?? '')
        for (const [at, [text]] of strings.entries()) {
          const year = FIRST_YEAR + at
          figures++
          expect([text, scale, values.get(`${id} ${year}`)]).toEqual([
            text,
            scale,
            exactProduct(text, SCALES[scale]) + 0,
          ])
          const figure = record.Financials.BalanceSheet.TotalAssets[year] + 0
          expect([text, figure]).toEqual([text, Number(text) + 0])
        }
      }
    }),
    { numRuns: 2, endOnFailure: true },
  )
  expect(figures).toBeGreaterThan(3000)
})
