/** Loads of a database file that are stopped or killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { companies, useDatabases } from './database-bench.ts'

const bench = useDatabases()

test('a process killed in the midst of its commit leaves the file as it was, and the run can be loaded', async () => {
  const { load, ask, file, staging } = await bench()
  await load('run-1', [['p-0', 'companies', companies([1, 'one'])]])
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child-loads-database.ts'), file, staging],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  // It says so when the transaction has begun to write.
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(await ask('SELECT run FROM db.firmlake_loads')).toEqual([{ run: 'run-1' }])
  await load('run-2', [['p-0', 'companies', companies([2, 'two'])]], duckdbFile(file, { staging }))
  expect(await ask('SELECT count(*) AS n FROM db.companies')).toEqual([{ n: '2' }])
})

/** Longer than anything takes on a machine that has more to do: only what hangs shall fail. */
const BUSY_MACHINE_MS = 200_000

test('duckdbFile that is stopped while it loads leaves the file as it was, and loads the run the next time', async () => {
  const one = await bench()
  await one.load('run-1', [['p-0', 'answers', 'SELECT 1 AS i']])
  const controller = new AbortController()
  const lent = { staging: one.staging, signal: controller.signal, what: 'the export' }
  const stopped = await duckdbFile(one.file).open('run-2', lent)
  const rows = one.session.relation('SELECT i, hash(i) AS h FROM range(5000000) AS t (i)')
  const { files } = await stopped.write('p-0', 'answers', rows)
  const loading = stopped.commit(files)
  const settled = expect(loading).rejects.toMatchObject({ code: 'INTERRUPTED' })
  // DuckDB writes rows of a transaction to the file before its end.
  const before = statSync(one.file).size
  await expect
    .poll(() => statSync(one.file).size, { interval: 1, timeout: BUSY_MACHINE_MS })
    .toBeGreaterThan(before)
  controller.abort()
  await settled
  expect(await one.ask('SELECT i FROM db.answers')).toEqual([{ i: 1 }])
  expect(await one.sink.deliveredRuns()).toEqual(new Set(['run-1']))
  await (await one.sink.open('run-2')).commit(files)
  expect(await one.ask('SELECT count(*) AS n FROM db.answers')).toEqual([{ n: '5000000' }])
})
