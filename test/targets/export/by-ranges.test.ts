import { expect, test } from 'vitest'
import { openLakeQuery } from '../../../src/lake/query/lake-query.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { byRanges } from '../../../src/targets/export/export-rows.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const lakeOf = async (ids: readonly number[]): Promise<string> => {
  const bench = openBench(await temporaryFolder())
  await bench.write(
    'a.jsonl',
    ids.map((id) => companyLine(id)),
  )
  await bench.run(['a.jsonl'])
  return bench.lake
}

test('there are at most 40 ranges', async () => {
  const lake = await lakeOf(Array.from({ length: 81 }, (_, at) => at))
  const query = await openLakeQuery({
    lake,
    snapshot: await readSnapshot(lake),
    memoryBytes: 128 * 1024 ** 2,
  })
  try {
    const sql = await byRanges(query, 'FROM financials_wide', 1)
    expect(sql.split('UNION ALL')).toHaveLength(27)
    expect(sql).toContain('internal_id < 3\n')
  } finally {
    query.close()
  }
})

test('a view of many columns is asked for by ranges of companies, and gives the same rows', async () => {
  const lake = await lakeOf([1, 2, 3, 5, 8, 13, 21])
  const query = await openLakeQuery({
    lake,
    snapshot: await readSnapshot(lake),
    memoryBytes: 128 * 1024 ** 2,
  })
  const rowsOf = async (sql: string): Promise<string[]> => {
    const { rows } = await query.run(sql)
    const all: string[] = []
    for await (const chunk of rows) all.push(...chunk.map((row) => JSON.stringify(row)))
    return all.sort()
  }
  try {
    for (const companies of [1, 3, 7, 100]) {
      const sql = await byRanges(query, 'FROM financials_wide;', companies)
      expect(sql.split('UNION ALL')).toHaveLength(Math.ceil(7 / companies))
      const rows = await rowsOf(sql)
      expect(rows).toHaveLength(14)
      expect(rows).toEqual(await rowsOf('FROM financials_wide'))
    }
    expect(await byRanges(query, ' select * from Financials_Wide ', 4)).toContain('internal_id < 8')
    for (const other of [
      'FROM latest_figures',
      'FROM financials_wide LIMIT 3',
      'SELECT NetSales FROM financials_wide',
      'SELECT * FROM financials_wide ORDER BY internal_id',
    ])
      expect(await byRanges(query, other, 1)).toBe(other)
  } finally {
    query.close()
  }
})
