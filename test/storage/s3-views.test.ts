/** The views of a lake in a bucket as SQL, run by DuckDB's own command line against the S3 server. */

import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { writeLakeFiles } from '../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { HTTPFS, missingHttpfs } from '../support/httpfs.ts'
import { needs } from '../support/needs.ts'
import { askDuckdbCli, duckdbCliMissing } from '../support/readers.ts'
import type { S3Server } from '../support/s3-server.ts'
import { LAKE, s3Bench } from './s3-bench.ts'
import { succeed } from './s3-cli.ts'

const company = (InternalId: number, NetSales: number): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode: 'SE' },
  Financials: { ProfitAndLoss: { NetSales: { 2023: NetSales } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})

const load = (...records: readonly object[]) =>
  convert({ from: fromRecords('crm', records), lake: LAKE, again: true })

const secretOf = ({ endpoint, accessKey, secretKey }: S3Server): string =>
  `LOAD '${HTTPFS}';
CREATE SECRET (TYPE s3, KEY_ID '${accessKey}', SECRET '${secretKey}', ENDPOINT '${new URL(endpoint).host}',
  URL_STYLE 'path', USE_SSL false, REGION 'us-east-1');`

const QUESTIONS = [
  'SELECT internal_id, value FROM financials ORDER BY 1',
  'SELECT internal_id, value, snapshot, version, is_current FROM financials_history ORDER BY ALL',
  'SELECT internal_id, old_value, new_value, snapshot FROM restatements',
  "SELECT internal_id, round(value, 6) AS value FROM financials_in('EUR') ORDER BY 1",
  'SELECT snapshot, parent, pipeline FROM snapshots ORDER BY 1',
  'SELECT snapshot, records FROM runs ORDER BY 1',
]

test('views of a lake in a bucket, printed as SQL, give what query gives, also of an earlier snapshot', async (context) => {
  needs(context, "DuckDB's command line", duckdbCliMissing())
  needs(context, "DuckDB's httpfs", missingHttpfs())
  const { server } = await s3Bench(context)
  await load(company(1, 5), company(2, 6))
  await load(company(1, 7))
  const secret = secretOf(server)
  const ask = async (questions: readonly string[], ...more: readonly string[]) =>
    askDuckdbCli(':memory:', questions, `${secret}\n${(await succeed('views', ...more)).stdout}`)
  const expected = await Promise.all(QUESTIONS.map((sql) => query({ lake: LAKE, sql })))
  expect(await ask(QUESTIONS)).toEqual(expected)
  expect(expected[0]).toEqual([
    { internal_id: 1, value: 7 },
    { internal_id: 2, value: 6 },
  ])
  expect(expected[2]).toHaveLength(1)
  expect(await ask(QUESTIONS.slice(0, 1), '--snapshot', '1')).toEqual([
    [
      { internal_id: 1, value: 5 },
      { internal_id: 2, value: 6 },
    ],
  ])

  // The bucket has no lake.duckdb, and the command says what to do in its place.
  const { stderr } = await succeed('verify', '--repair')
  expect(stderr).toContain('Wrote no lake.duckdb: the lake is in a bucket; "firmlake views" prints its views')
  // A lake.ducklake stands in a bucket too.
  expect(await writeLakeFiles(LAKE)).toMatchObject({
    views: { kind: 'skipped' },
    catalog: { kind: 'written', snapshot: 2 },
  })
  await compact({ lake: LAKE })
  expect(await ask(QUESTIONS.slice(0, 1))).toEqual(expected.slice(0, 1))
})
