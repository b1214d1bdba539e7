import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { SessionPool } from '../../../src/server/serving-index/session-pool.ts'
import { LIMIT, MEMORY_BYTES } from './served-lake.ts'

test('SessionPool opens another engine where the first one is of no use any more', async () => {
  const engines: Engine[] = []
  const pool = await SessionPool.open(async () => {
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
    engines.push(engine)
    return engine
  }, 1)
  const broken = pool.use(async (session) => {
    session.close()
    engines[0]?.close()
    return session.rows('SELECT 1')
  }, LIMIT)
  await expect(broken).rejects.toThrow()
  expect(await pool.use((session) => session.rows('SELECT 1 AS one'), LIMIT)).toEqual([{ one: 1 }])
  expect(engines).toHaveLength(2)
  await pool.close()
})
