/** The DuckLake catalog of a lake in a bucket, read by DuckDB's extension against the S3 server. */

import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { gc } from '../../src/jobs/gc.ts'
import { query } from '../../src/jobs/query.ts'
import { verify } from '../../src/jobs/verify.ts'
import { Engine, type Row } from '../../src/lake/duckdb/engine.ts'
import { writeLakeFiles } from '../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { duckLakeFile, missingDuckLake } from '../support/ducklake.ts'
import { HTTPFS, missingHttpfs } from '../support/httpfs.ts'
import { needs } from '../support/needs.ts'
import type { S3Server } from '../support/s3-server.ts'
import { LAKE, s3Bench } from './s3-bench.ts'

const company = (InternalId: number, NetSales: number): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode: 'SE' },
  Financials: { ProfitAndLoss: { NetSales: { 2023: NetSales } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})

const load = (...records: readonly object[]) =>
  convert({ from: fromRecords('crm', records), lake: LAKE, again: true })

const inCatalog = async (
  { endpoint, accessKey, secretKey }: S3Server,
  ...questions: readonly string[]
): Promise<readonly Row[][]> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    for (const sql of [
      `LOAD '${HTTPFS}'`,
      `LOAD '${duckLakeFile()}'`,
      `CREATE SECRET (TYPE s3, KEY_ID '${accessKey}', SECRET '${secretKey}', ENDPOINT '${new URL(endpoint).host}',
  URL_STYLE 'path', USE_SSL false, REGION 'us-east-1')`,
      `ATTACH 'ducklake:${LAKE}/lake.ducklake' AS lake (READ_ONLY)`,
      'USE lake',
    ])
      await session.run(sql)
    const answers: Row[][] = []
    for (const sql of questions) answers.push(await session.rows(sql))
    return answers
  } finally {
    engine.close()
  }
}

test('a lake in a bucket has a catalog: each commit, a compaction and a gc write it, in files too', async (context) => {
  needs(context, "DuckDB's extension ducklake", missingDuckLake())
  needs(context, "DuckDB's httpfs", missingHttpfs())
  const { server } = await s3Bench(context)
  expect(await load(company(1, 5), company(2, 6))).not.toHaveProperty('noViews')
  await load(company(1, 7))
  const sales = 'SELECT internal_id::INTEGER AS id, value FROM financials'
  const at = (snapshot: number): string => `${sales} AT (VERSION => ${snapshot}) ORDER BY 1`
  const asked = (snapshot: number) => query({ lake: LAKE, sql: `${sales} ORDER BY 1`, snapshot })
  const both = [await asked(1), await asked(2)]
  expect(await inCatalog(server, at(1), at(2))).toEqual(both)
  await writeLakeFiles(LAKE, { mostInlined: 0 })
  expect(await inCatalog(server, at(1), at(2))).toEqual(both)
  // Bounds were read from the ends of the files.
  const bounds = `SELECT min_value AS min, max_value AS max
FROM __ducklake_metadata_lake.ducklake_file_column_stats JOIN __ducklake_metadata_lake.ducklake_column USING (table_id, column_id)
WHERE table_id = 41 AND column_name = 'value' ORDER BY ALL`
  expect(await inCatalog(server, bounds)).toEqual([
    [
      { min: '5.0', max: '6.0' },
      { min: '7.0', max: '7.0' },
    ],
  ])
  await compact({ lake: LAKE })
  await load(company(2, 8))
  await gc({ lake: LAKE, keep: 1 })
  const history =
    'SELECT internal_id::INTEGER AS id, value, snapshot, is_current FROM financials_history ORDER BY ALL'
  expect(await inCatalog(server, history)).toEqual([await query({ lake: LAKE, sql: history })])
  expect((await verify({ lake: LAKE })).problems).toEqual([])
})
