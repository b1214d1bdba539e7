/** The loader's ENUM types while the sets of names that they are made of grow. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Block } from '../../src/core/block.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { type CheckedBlock, checkBlock, refusedLine } from '../../src/load/check-block.ts'
import { RecordChecker } from '../../src/load/check-record.ts'
import { type LoadedPart, openLoader } from '../../src/load/loader.ts'
import { newSeenSets } from '../../src/load/seen-sets.ts'
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
const SECOND = blockOf(company(2, 'ZZ', 'ZZD', { NewSheet: { NewItem: { 2023: 2 } } }))

test.each(['country', 'currency', 'category', 'line_item'])(
  'load takes a name that was seen while the ENUM of each %s was being made',
  async (grown) => {
    const lake = await temporaryFolder()
    const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2, threads: 1 })
    try {
      const seen = newSeenSets()
      const checker = new RecordChecker('companies', seen)
      const connect = engine.connect.bind(engine)
      let second: CheckedBlock | undefined
      engine.connect = async () => {
        const session = await connect()
        const setEnum = session.setEnum.bind(session)
        session.setEnum = async (name, values) => {
          const made = setEnum(name, values)
          // The next block is checked while DuckDB makes the type for this one.
          if (name === grown) second ??= checkBlock(SECOND, checker)
          await made
        }
        return session
      }
      const loader = await openLoader(engine, { spoolFolder: join(lake, 'spool'), seen })
      const sink = await parquetLake({ lake }).open('run')
      const load = async (partition: string, block: Block, checked: CheckedBlock): Promise<LoadedPart> => {
        const [part] = checked.parts
        if (part === undefined) throw new Error('No part')
        const reject: Parameters<typeof loader.load>[0]['reject'] = (stretch, code, reason) =>
          refusedLine(block, stretch, code, reason)
        const { bytes } = block
        const request = {
          partition,
          content: 'companies',
          bytes,
          part,
          rejected: [],
          source: 'a',
          reject,
        } as const
        return loader.load(request, sink)
      }
      await load('a-0', FIRST, checkBlock(FIRST, checker))
      if (second === undefined) throw new Error('The ENUM was not made')
      const loaded = await load('a-1', SECOND, second)
      expect(loaded.refused).toBe(0)
      expect(loaded.receipts.map(({ table, rows }) => [table, rows])).toEqual([
        ['companies', 1],
        ['financials', 1],
        ['employees', 0],
      ])
      await loader.close()
    } finally {
      engine.close()
    }
  },
)
