/** Statements that need a part of a table: they answer as all of it would, and open no other file. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Three runs; the second one has company 2 again. */
const threeRuns = async (): Promise<string> => {
  const bench = openBench(await temporaryFolder())
  for (const [at, ids] of [
    [1, 2],
    [2, 3],
    [4, 5],
  ].entries()) {
    await bench.write(
      `${at}.jsonl`,
      ids.map((id) => companyLine(id, {}, at + 1)),
    )
    await bench.run([`${at}.jsonl`])
  }
  return bench.lake
}

const opened = async (lake: string): Promise<LakeQuery> => {
  const query = await LakeQuery.open({
    lake,
    snapshot: await readSnapshot(lake),
    memoryBytes: 256 * 1024 ** 2,
  })
  onTestFinished(() => query.close())
  return query
}

const answer = async (query: LakeQuery, sql: string): Promise<readonly (readonly unknown[])[]> => {
  const all: (readonly unknown[])[] = []
  for await (const rows of (await query.run(sql)).rows) all.push(...rows)
  return all
}

test('a question about some ids answers the same before and after one about all', async () => {
  const query = await opened(await threeRuns())
  const statements = [
    'SELECT internal_id, content_updated_at::VARCHAR FROM companies WHERE internal_id = 2',
    'SELECT version, snapshot, is_current FROM companies_history WHERE internal_id = 2 ORDER BY version',
    'SELECT fiscal_year, value FROM financials WHERE internal_id IN (2, 4, 99) ORDER BY ALL',
    'SELECT count(*) FROM companies WHERE internal_id = 99',
    'SELECT count(*) FROM companies',
    'SELECT count(*) FROM companies_history',
    'SELECT count(*) FROM financials_history',
  ]
  const first = []
  for (const sql of statements) first.push(await answer(query, sql))
  for (const table of ['companies', 'financials', 'companies_history', 'financials_history'])
    await answer(query, `SELECT count(*), max(internal_id) FROM ${table}`)
  const again = []
  for (const sql of statements) again.push(await answer(query, sql))
  expect(first).toEqual(again)
  expect(first.slice(3)).toEqual([[[0]], [[5]], [[6]], [[12]]])
  expect(first[1]?.map(([, snapshot, isCurrent]) => [snapshot, isCurrent])).toEqual([
    [1, false],
    [2, true],
  ])
})

test('questions one after the other do not share what one of them needs', async () => {
  const query = await opened(await threeRuns())
  const relation = await query.relation('SELECT internal_id FROM companies WHERE internal_id = 1')
  const ids = [1, 2, 3, 4, 5]
  const one = (id: number): string => `SELECT internal_id FROM companies WHERE internal_id = ${id}`
  const answers = []
  for (const sql of [...ids.map(one), 'SELECT sum(internal_id)::INTEGER FROM companies', ...ids.map(one)])
    answers.push(await answer(query, sql))
  expect(answers).toEqual([...ids.map((id) => [[id]]), [[15]], ...ids.map((id) => [[id]])])
  const rows = []
  for await (const chunk of relation.rows()) rows.push(...chunk)
  expect(rows).toEqual([{ internal_id: '1' }])
})

test('a view that shows less is counted as it shows them', async () => {
  const query = await opened(await threeRuns())
  await query.narrow([
    { name: 'companies', select: (rowsOf) => `FROM ${rowsOf('companies')} WHERE internal_id > 3` },
  ])
  expect(await answer(query, 'SELECT count(*) FROM companies')).toEqual([[2]])
  expect(await answer(query, 'SELECT internal_id FROM companies WHERE internal_id = 1')).toEqual([])
  expect(await answer(query, 'SELECT internal_id FROM companies WHERE internal_id = 4')).toEqual([[4]])
})

test('no file is opened that holds none of the ids, and none for a number of rows', async () => {
  const lake = await threeRuns()
  const { partitions } = await readSnapshot(lake)
  for (const file of partitions.slice(0, 2).flatMap(({ files }) => files)) await rm(join(lake, file.path))
  const query = await opened(lake)
  expect(await answer(query, 'SELECT internal_id FROM companies WHERE internal_id = 4')).toEqual([[4]])
  expect(await answer(query, 'SELECT count(*) FROM financials_history')).toEqual([[12]])
  expect(await answer(query, 'SELECT count(*) FROM companies')).toEqual([[5]])
  await expect(answer(query, 'SELECT internal_id FROM companies WHERE internal_id = 3')).rejects.toThrow(
    'there is no such file',
  )
})
