/** The whole way round: a lake is served, pulled over HTTP into a second lake, and both hold the same rows. */

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LIMITS } from '../../src/contract/limits.ts'
import { convert } from '../../src/jobs/convert.ts'
import { pull } from '../../src/jobs/pull.ts'
import { pullBatchFiles } from '../../src/jobs/pull-batch-files.ts'
import { query } from '../../src/jobs/query.ts'
import { serve } from '../../src/jobs/serve.ts'
import { loadRates } from '../../src/lake/rates/lake-rates.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { batchFiles } from '../../src/source/inputs.ts'
import { createService } from '../../src/source/service/service.ts'
import { companyLine, openBench, relationsLine } from '../run/batch-bench.ts'
import { PROJECT } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { compareLakes } from './compare-lakes.ts'

/** The country whose companies come as a batch file: there is no rate for its currency. */
const BY_BATCH_FILE = 'PL'
/** The currency to ask for if a company has none, or one without a rate: its figures come unconverted. */
const ANY_CURRENCY = 'USD'
const MEMORY_BYTES = 256 * 1024 ** 2

interface CompanyRow {
  readonly internal_id: bigint
  readonly country_code: string | null
  readonly current_currency_code: string | null
}

test('a lake that is served and pulled back over HTTP holds the same rows in all tables', async () => {
  const folder = await temporaryFolder()
  const [lake, second] = [join(folder, 'lake'), join(folder, 'second')]
  for (const delivery of ['sample', 'sample-second'])
    await convert({ from: [join(PROJECT, 'data', delivery)], lake })
  const index = await currentIndex({ lake, memoryBytes: MEMORY_BYTES })
  await makeBatchFiles({ lake, index })
  await index.close()
  const server = await serve({ lake, port: 0 })
  onTestFinished(server.close)
  const from = createService({ url: server.url, token: server.token ?? '', maxRequestsPerSecond: 1000 })
  onTestFinished(from.close)

  const rates = await loadRates(lake)
  const companies = await query<CompanyRow>({
    lake,
    sql: 'SELECT internal_id, country_code, current_currency_code FROM companies ORDER BY 1',
  })
  const byPage = companies.filter((one) => one.country_code !== BY_BATCH_FILE)
  const groups = Map.groupBy(byPage, ({ current_currency_code: own }) =>
    own !== null && rates.has(own) ? own : ANY_CURRENCY,
  )
  // Pages convert the figures to the currency that is asked for.
  for (const [currency, rows] of groups)
    await pull({
      ...{ from, lake: second, content: 'companies', currency, pageSize: 200 },
      search: { InternalId: rows.map((one) => Number(one.internal_id)) },
    })
  const relations = await query<{ readonly internal_id: bigint }>({
    lake,
    sql: 'SELECT internal_id FROM relations ORDER BY 1',
  })
  for (let at = 0; at < relations.length; at += LIMITS.idsPerRequest)
    await pull({
      ...{ from, lake: second, content: 'relations', pageSize: 200 },
      search: {
        InternalId: relations.slice(at, at + LIMITS.idsPerRequest).map((one) => Number(one.internal_id)),
      },
    })
  await pullBatchFiles({
    from: batchFiles(from, { content: 'companies', countries: [BY_BATCH_FILE] }),
    lake: second,
  })

  // The Score of an earlier search is in no page.
  const compared = await compareLakes(lake, second, { memoryBytes: MEMORY_BYTES, scoreOf: BY_BATCH_FILE })
  expect(compared.map(({ onlyFirst, onlySecond }) => onlyFirst + onlySecond)).toEqual(compared.map(() => 0))
  const rowsOf = Object.fromEntries(compared.map(({ table, rows }) => [table, rows]))
  expect(rowsOf).toMatchObject({ companies: 912, financials: 48_336, relations: 821 })
})

test('compareLakes finds rows of one lake only, and a Score of one country only', async () => {
  const [one, other] = [openBench(await temporaryFolder()), openBench(await temporaryFolder())]
  const compare = async (scoreOf: string) => {
    const tables = await compareLakes(one.lake, other.lake, { scoreOf, memoryBytes: MEMORY_BYTES })
    return Object.fromEntries(tables.map(({ table, ...counts }) => [table, Object.values(counts)]))
  }
  await one.write('companies.jsonl', [companyLine(1), companyLine(2), companyLine(3, { Score: 0.5 })])
  await one.write('relations.jsonl', [7, 8].map(relationsLine))
  await other.write('companies.jsonl', [
    companyLine(1),
    companyLine(2, {}, 9),
    companyLine(3),
    companyLine(4),
  ])
  await other.write('relations.jsonl', [8].map(relationsLine))
  for (const bench of [one, other]) await bench.run(['companies.jsonl', 'relations.jsonl'])
  expect(await compare('PL')).toEqual({
    ...{ companies: [3, 1, 2], financials: [6, 0, 2], employees: [0, 0, 0] },
    ...{ relations: [2, 1, 0], relation_entities: [2, 1, 0], ownerships: [0, 0, 0], roles: [0, 0, 0] },
    line_items: [104, 0, 0],
  })
  expect(await compare('SE')).toMatchObject({ companies: [3, 2, 3] })
})
