/** Work that obeys no signal: it is left behind, and the next question is answered. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { type LakeTurns, newLakeTurns } from '../../../src/server/explorer/lake-turns.ts'
import { SessionPool } from '../../../src/server/serving-index/session-pool.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { leftBehind, mostLeftBehind } from '../../../src/support/left-behind.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NEVER = new AbortController().signal
const TIMEOUT_MS = 20
const MEMORY_BYTES = 128 * 1024 ** 2

const openTurns = async (): Promise<LakeTurns> => {
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: fromRecords('crm', [{ BasicDetails: { InternalId: 1 } }]), lake })
  return newLakeTurns({ lake, served: () => 1, memoryBytes: MEMORY_BYTES, threads: 1, timeoutMs: 10_000 })
}

/** Work that ends when it is told, and not by a signal. */
const stubborn = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, end: resolve }
}

const companiesIn = (turns: LakeTurns): Promise<unknown> =>
  turns.take('b', NEVER, async ({ lake: query }) => {
    const { rows } = await query.run('SELECT count(*)::INTEGER FROM companies')
    return (await Array.fromAsync(rows)).flat(2)
  })

test('an engine is left a second after its time, and another one answers; of those left there are few', async () => {
  const turns = await openTurns()
  const companies = (): Promise<unknown> => companiesIn(turns)
  expect(mostLeftBehind({})).toBe(3)
  expect(mostLeftBehind({ UV_THREADPOOL_SIZE: '2' })).toBe(1)
  expect(await companies()).toEqual([1])
  const works = Array.from({ length: 3 }, stubborn)
  for (const [at, { promise }] of works.entries()) {
    const left = turns.take('a', AbortSignal.timeout(TIMEOUT_MS), () => promise)
    await expect(left).rejects.toMatchObject({ name: 'TimeoutError' })
    if (at < 2) expect(await companies()).toEqual([1])
    else await expect(companies()).rejects.toMatchObject({ code: 'QUERY_FAILED' })
    expect(leftBehind()).toBe(at + 1)
  }
  await expect(companies()).rejects.toThrow(
    'Cannot answer: 3 statements that DuckDB cannot stop are still running, expected them to end first; ask again later',
  )
  for (const one of works) one.end()
  await expect.poll(leftBehind).toBe(0)
  expect(await companies()).toEqual([1])
  await turns.close()
})

test('a session of a serving index is left, too, and its place taken', async () => {
  const pool = await SessionPool.open(() => Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1 }), 1)
  const one = stubborn()
  const left = pool.use(() => one.promise, { timeoutMs: TIMEOUT_MS })
  await expect(left).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  await expect.poll(leftBehind).toBe(1)
  const rows = await pool.use((session) => session.rows('SELECT 1 AS one'), { timeoutMs: 10_000 })
  expect(rows).toEqual([{ one: 1 }])
  await pool.close()
  one.end()
  await expect.poll(leftBehind).toBe(0)
})
