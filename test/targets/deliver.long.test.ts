/** Runs that are delivered while a compaction works. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a compaction never comes after a run that was loaded while it worked', async () => {
  const one = openBench(await temporaryFolder())
  const { lake } = one
  const database = join(one.folder, 'out.duckdb')
  const load = async (id: number): Promise<void> => {
    await one.write(`${id}.jsonl`, [companyLine(id)])
    await one.run([`${id}.jsonl`])
  }
  for (const id of [1, 2]) await load(id)
  await compact({ lake })
  await deliver({ lake, sinks: [database] })
  await load(3)
  const newest = { InternalId: 1, CompanyName: 'newest', CountryCode: 'SE' }
  await one.write('newest.jsonl', [companyLine(1, { BasicDetails: newest })])
  // The whole load takes place within the compaction: its commit comes after the run is delivered.
  await compact({
    lake,
    onEvent: ({ kind }) => {
      if (kind !== 'started') return
      const args = ['convert', join(one.folder, 'newest.jsonl'), '--lake', lake, '--sink', database]
      expect(spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' })).toMatchObject({ status: 0 })
    },
  })
  await deliver({ lake, sinks: [database] })
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(database)} AS db (READ_ONLY)`)
    const names = await session.rows('SELECT company_name AS name FROM db.companies ORDER BY internal_id')
    expect(names.map(({ name }) => name)).toEqual(['newest', 'Company 2', 'Company 3'])
  } finally {
    engine.close()
  }
})
