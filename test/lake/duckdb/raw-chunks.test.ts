import { expect, onTestFinished, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'

const openSession = async (): Promise<Session> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  return engine.connect()
}

/** Fails long after the first rows were given. */
const FAILING = `SELECT (CASE WHEN i = 500_000 THEN 'x' ELSE '1' END)::BIGINT AS a FROM range(600_000) AS t (i)`

const counted = async (parts: AsyncIterable<unknown>): Promise<number> => {
  let count = 0
  for await (const _ of parts) count += 1
  return count
}

test.each<[string, (session: Session) => Promise<AsyncIterable<unknown>>]>([
  ['stream', async (session) => session.stream(FAILING)],
  ['streamRows', async (session) => (await session.streamRows(FAILING)).rows],
  ['streamColumns', async (session) => session.streamColumns(FAILING)],
  ['streamTexts', async (session) => session.streamStrings(FAILING)],
  ['rawChunks', async (session) => (await session.rawChunks(FAILING)).chunks],
])('%s does not take rows that end with an error for all rows', async (_name, read) => {
  const session = await openSession()
  await expect(read(session).then(counted)).rejects.toMatchObject({ code: 'ENGINE_FAILED' })
  expect(await session.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('stream does not take rows that were interrupted for all rows', async () => {
  const session = await openSession()
  const read = async (): Promise<void> => {
    for await (const _ of session.stream('SELECT i FROM range(100_000_000) AS t (i)')) session.interrupt()
  }
  await expect(read()).rejects.toThrow()
})
