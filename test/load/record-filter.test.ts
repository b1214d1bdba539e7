import { expect, test } from 'vitest'
import { query } from '../../src/jobs/query.ts'
import { filterById, type RecordFilter } from '../../src/load/record-filter.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ANY = { maxQuarantined: { kind: 'share', share: 1 } } as const
const odd = filterById((id) => id % 2n === 1n)
const belowFive: RecordFilter = filterById((id) => id < 5n)
const idsOf = async (bench: Bench, table: string): Promise<unknown> =>
  (await bench.query(`SELECT DISTINCT internal_id FROM ${table} ORDER BY 1`)).flat()

test('records that a filter leaves out have no rows, and lines are records, quarantined and filtered', async () => {
  const bench = openBench(await temporaryFolder())
  const lines = [1, 2, 3, 4, 5, 6, 7].map((id) => companyLine(id))
  await bench.write('in/a.jsonl', [...lines, 'bad', companyLine(3)])
  const { summary } = await bench.run(['in'], { ...ANY, filters: [odd, belowFive] })
  expect(summary.partitions.map(({ counts }) => counts)).toMatchObject([
    { lines: 8, records: 2, quarantined: 1, filtered: 5 },
    { lines: 1, records: 1, quarantined: 0 },
  ])
  expect(summary.partitions[1]?.counts).not.toHaveProperty('filtered')
  expect(await idsOf(bench, 'companies_history')).toEqual([1, 3])
  expect(await idsOf(bench, 'financials_history')).toEqual([1, 3])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
  for (const view of ['runs', 'partitions', 'sources'])
    expect(
      await query({
        lake: bench.lake,
        sql: `SELECT sum(lines)::INT AS lines, sum(records)::INT AS records, sum(quarantined)::INT AS quarantined,
           sum(filtered)::INT AS filtered FROM ${view}`,
      }),
    ).toEqual([{ lines: 9, records: 3, quarantined: 1, filtered: 5 }])
})

test('small sources that share a partition each have what was left out of them', async () => {
  const bench = openBench(await temporaryFolder())
  const names = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => `in/small-${id}.jsonl`)
  for (const [at, name] of names.entries())
    await bench.write(name, at % 3 === 0 ? ['bad', companyLine(at + 1)] : [companyLine(at + 1)])
  const { summary } = await bench.run(['in'], { ...ANY, filters: [odd] })
  const [partition] = summary.partitions
  expect(partition?.counts).toMatchObject({ lines: 12, records: 5, quarantined: 3, filtered: 4 })
  expect(partition?.sources?.map(({ counts }) => counts).slice(0, 4)).toEqual([
    { lines: 2, records: 1, quarantined: 1 },
    { lines: 1, records: 0, quarantined: 0, filtered: 1 },
    { lines: 1, records: 1, quarantined: 0 },
    { lines: 2, records: 0, quarantined: 1, filtered: 1 },
  ])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a file of which everything is left out is loaded, and not read again', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('in/a.jsonl', [companyLine(2), companyLine(4)])
  const first = await bench.run(['in'], { ...ANY, filters: [odd], onlyRows: true })
  expect(first.summary.partitions.map(({ counts }) => counts)).toEqual([
    { lines: 2, records: 0, quarantined: 0, filtered: 2, rows: {} },
  ])
  const second = await bench.run(['in'], { ...ANY, filters: [odd] })
  expect(second.summary.skipped).toHaveLength(1)
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})
