/** Blocks that are loaded while the sets of names that their columns refer to grow. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CheckedBlock, checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import type { Block } from '../../src/core/lines.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { type LoadedPart, openLoader } from '../../src/load/loader.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import { parquetLake } from '../../src/sink/parquet-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const blockOf = (record: object): Block => ({
  bytes: Buffer.from(`${JSON.stringify(record)}\n`),
  firstLine: 1,
  offset: 0,
  overlong: [],
})

const company = (id: number, country: string, currency: string, figures: object): object => ({
  BasicDetails: { InternalId: id, CountryCode: country },
  MetaData: { CurrentCurrencyCode: currency, FinancialFigureScale: 'None' },
  Financials: figures,
})

const FIRST = blockOf(company(1, 'SE', 'SEK', { ProfitAndLoss: { NetSales: { 2023: 1 } } }))
const SECOND = blockOf(
  company(2, 'ZZ', 'ZZD', { NewSheet: { NewItem: { 2023: 2 } }, CashFlow: { NetChangeInCash: { 2023: 3 } } }),
)

test('load takes names that were seen while the block before was being loaded', async () => {
  const lake = await temporaryFolder()
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2, threads: 1 })
  try {
    const checker = new RecordChecker('companies', newSeenSets())
    const loader = openLoader(async () => engine, { spoolFolder: join(lake, 'spool') })
    const sink = await parquetLake({ lake }).open('run')
    const load = (partition: string, block: Block, checked: CheckedBlock): Promise<LoadedPart> => {
      const [part] = checked.parts
      if (part === undefined) throw new Error('No part')
      const { bytes } = block
      const request = {
        partition,
        content: 'companies',
        bytes,
        part,
        rejected: [],
        source: 'a',
      } as const
      return loader.load(request, (table, rows) => sink.write(partition, table, rows))
    }
    const first = load('a-0', FIRST, checkBlock(FIRST, checker))
    const second = load('a-1', SECOND, checkBlock(SECOND, checker))
    for (const [at, loaded] of (await Promise.all([first, second])).entries()) {
      expect(loaded.receipts.map(({ table, rows }) => [table, rows])).toEqual([
        ['companies', 1],
        ['financials', at + 1],
        ['employees', 0],
      ])
    }
    const session = await engine.connect()
    const files = `read_parquet('${join(lake, '_runs/run/staging/financials')}/*.parquet')`
    const columns = 'country_code, currency, category, line_item'
    expect(await session.rows(`SELECT ${columns} FROM ${files} ORDER BY internal_id, category`)).toEqual([
      { country_code: 'SE', currency: 'SEK', category: 'ProfitAndLoss', line_item: 'NetSales' },
      { country_code: 'ZZ', currency: 'ZZD', category: 'CashFlow', line_item: 'NetChangeInCash' },
      { country_code: 'ZZ', currency: null, category: 'NewSheet', line_item: 'NewItem' },
    ])
    session.close()
    await loader.close()
  } finally {
    engine.close()
  }
})
