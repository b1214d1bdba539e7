import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { inLake } from '../../../src/lake/files/layout.ts'
import { mainTables, TABLES } from '../../../src/lake/tables/tables.ts'
import {
  filesOf,
  HIDDEN_SCHEMA,
  makeSuperseded,
  readTable,
  supersededTable,
} from '../../../src/lake/views/current-versions.ts'
import { markOld } from '../../../src/lake/views/rows-in-order.ts'
import { oldFrom } from '../../../src/lake/views/source-macros.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const restated = (id: number, sales: number): string =>
  companyLine(id, { Financials: { ProfitAndLoss: { NetSales: { 2023: sales } } } })

test.each([1, 3, 4, 64])(
  'old rows are found by their places, in segments of %i rows',
  async (segmentRows) => {
    const one = openBench(await temporaryFolder())
    // Each company has one figure: a row's place is its company's.
    const loads = [
      [1, 2, 3, 4, 5],
      [6, 7, 8],
      [2, 9, 7],
      [2, 8, 10],
    ]
    for (const [at, ids] of loads.entries()) {
      await one.write(
        `${at}.jsonl`,
        ids.map((id) => restated(id, 1000 * at + id)),
      )
      await one.run([`${at}.jsonl`])
    }
    const listed = await readSnapshot(one.lake)
    const [table] = TABLES.filter(({ name }) => name === 'financials')
    const [main] = mainTables().filter(({ content }) => content === 'companies')
    if (table === undefined || main === undefined) throw new TypeError('Cannot find the tables')
    const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2, keepsOrder: true })
    try {
      const session = await engine.connect()
      const placeOf = (path: string): string => inLake(one.lake, path)
      await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
      await session.run(makeSuperseded(listed, placeOf, main))
      await session.run(oldFrom(main, supersededTable('companies')))
      const isOld = await markOld(session, table, listed, placeOf, segmentRows)
      const rows = readTable(table, filesOf(listed, placeOf, table.name), 'with-place')
      const shown = await session.rows(`SELECT value, ${isOld} AS is_old FROM (${rows})`)
      const all = loads.flatMap((ids, at) => ids.map((id) => ({ at, id })))
      expect(shown).toEqual(
        all.map(({ at, id }) => ({
          value: 1000 * at + id,
          is_old: loads.slice(at + 1).some((later) => later.includes(id)),
        })),
      )
    } finally {
      engine.close()
    }
  },
)
