import { cp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { IndexDescription } from '../../../src/server/serving-index/index-form.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import { Workbench } from '../../load/loaded-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  documentsIn,
  fileOf,
  LIMIT,
  loadServed,
  type MadeIndex,
  MEMORY_BYTES,
  madeIndex,
  placesOf,
  sampleLines,
} from './served-lake.ts'

let bench: Workbench
let made: MadeIndex

beforeAll(async () => {
  bench = await Workbench.open()
  made = await madeIndex(
    await loadServed(bench, { content: 'companies', lines: await sampleLines('companies', 60) }),
  )
})
afterAll(async () => {
  await made.index.close()
  await bench.close()
})

const SLOW =
  'SELECT count(*) AS n FROM range(1_000_000_000) AS a, range(1000) AS b WHERE a.range * b.range = 7'

test.each(['companies', 'relations', 'minified', 'search', 'index.json', 'files.json'] as const)(
  'openIndex refuses an index whose file of %s is missing, and one whose file is cut',
  async (what) => {
    const name = what === 'index.json' || what === 'files.json' ? what : await fileOf(made.folder, what)
    const folder = join(await temporaryFolder(), 'copy')
    await cp(made.folder, folder, { recursive: true })
    const { size } = await stat(join(folder, name))
    if (size > 0) {
      await truncate(join(folder, name), size - 1)
      if (name === 'index.json') await truncate(join(folder, name), size - 2)
      await expect(openIndex({ folder, memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
        code: 'INDEX_UNUSABLE',
      })
    }
    await rm(join(folder, name))
    await expect(openIndex({ folder, memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
      code: 'INDEX_UNUSABLE',
      context: { folder },
    })
  },
)

test('openIndex refuses an index of another version, a damaged DuckDB file, and a folder that is not there', async () => {
  const parent = await temporaryFolder()
  const folder = join(parent, 'copy')
  const opening = () => openIndex({ folder, memoryBytes: MEMORY_BYTES })
  await expect(opening()).rejects.toMatchObject({ code: 'INDEX_UNUSABLE' })
  await cp(made.folder, folder, { recursive: true })
  const description: IndexDescription = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))
  await writeFile(join(folder, 'index.json'), JSON.stringify({ ...description, contract: 'a'.repeat(64) }))
  await expect(opening()).rejects.toMatchObject({ code: 'INDEX_UNUSABLE', message: /of version 4-a/ })
  await cp(made.folder, folder, { recursive: true, force: true })
  const path = join(folder, await fileOf(folder, 'search'))
  const { size } = await stat(path)
  await writeFile(path, Buffer.alloc(size, 1))
  await expect(opening()).rejects.toMatchObject({
    code: 'INDEX_UNUSABLE',
    message: /"search-.*.duckdb" is damaged: its SHA-256 is/,
  })
})

test('openIndex opens a index that is open already', async () => {
  const again = await openIndex({ folder: made.folder, memoryBytes: MEMORY_BYTES })
  expect(again.description).toEqual(made.index.description)
  expect(
    await again.query((session) => session.rows('SELECT count(*) AS n FROM serving.company'), LIMIT),
  ).toEqual(await made.rows('SELECT count(*) AS n FROM serving.company'))
  await again.close()
})

test.each([
  'DELETE FROM segment_0.company',
  "SELECT * FROM read_csv('/etc/passwd')",
  "COPY (SELECT 1) TO 'out.csv'",
  "ATTACH 'other.duckdb'",
  'SET enable_external_access = true',
])('query refuses %s', async (sql) => {
  await expect(made.rows(sql)).rejects.toThrow(/cannot|permission|disabled/i)
})

test('query interrupts a statement that takes too long, and the session works again', async () => {
  const index = await openIndex({ folder: made.folder, memoryBytes: MEMORY_BYTES, sessions: 1 })
  for (let round = 0; round < 3; round += 1) {
    await expect(index.query((session) => session.rows(SLOW), { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      context: { timeoutMs: 30 },
    })
    expect(await index.query((session) => session.rows('SELECT 1 AS one'), LIMIT)).toEqual([{ one: 1 }])
  }
  await index.close()
})

test('query interrupts also the statements that follow, and a stream that is being read', async () => {
  const index = await openIndex({ folder: made.folder, memoryBytes: MEMORY_BYTES, sessions: 1 })
  let tries = 0
  const stubborn = index.query(
    async (session) => {
      for (;;) {
        tries += 1
        await session.rows(SLOW).catch(() => undefined)
        if (tries === 3) return 'late'
      }
    },
    { timeoutMs: 30 },
  )
  await expect(stubborn).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  expect(tries).toBe(3)
  const streaming = index.query(
    async (session) => {
      for await (const _ of session.stream('SELECT range FROM range(100_000_000_000)'));
    },
    { timeoutMs: 50 },
  )
  await expect(streaming).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  expect(await index.query((session) => session.rows('SELECT 1 AS one'), LIMIT)).toEqual([{ one: 1 }])
  await index.close()
})

test('query ends with the reason of its signal', async () => {
  const stop = new AbortController()
  const running = made.index.query((session) => session.rows(SLOW), { ...LIMIT, signal: stop.signal })
  stop.abort(new Error('the client left'))
  await expect(running).rejects.toThrow('the client left')
  const never = made.index.query(() => Promise.reject(new TypeError('was begun')), {
    ...LIMIT,
    signal: stop.signal,
  })
  await expect(never).rejects.toThrow('the client left')
})

test('query waits for a session no longer than its time, and those behind it have their turn', async () => {
  const index = await openIndex({ folder: made.folder, memoryBytes: MEMORY_BYTES, sessions: 1 })
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const holding = index.query(() => held, LIMIT)
  const waiting = index.query(() => Promise.resolve('first'), { timeoutMs: 10 })
  const behind = index.query(() => Promise.resolve('second'), LIMIT)
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  letGo()
  await holding
  expect(await behind).toBe('second')
  await index.close()
})

test('query passes on what the work throws', async () => {
  await expect(made.index.query(() => Promise.reject(new TypeError('mine')), LIMIT)).rejects.toThrow('mine')
  await expect(made.rows('SELECT nothing')).rejects.toThrow(/Binder Error/)
})

test('close waits for the query that runs, and refuses those that wait and those that come', async () => {
  const index = await openIndex({ folder: made.folder, memoryBytes: MEMORY_BYTES, sessions: 1 })
  const running = index.query((session) => session.rows('SELECT count(*) AS n FROM range(10_000_000)'), LIMIT)
  const waiting = index.query((session) => session.rows('SELECT 1'), LIMIT)
  const closing = index.close()
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  await expect(index.query((session) => session.rows('SELECT 1'), LIMIT)).rejects.toMatchObject({
    code: 'QUERY_FAILED',
  })
  expect(await running).toEqual([{ n: '10000000' }])
  await closing
  await index.close()
})

test('documents gives documents in the order of their places, also one twice', async () => {
  const rows = await made.rows('SELECT * FROM serving.company ORDER BY segment, block_at, "at"')
  const places = placesOf(rows)
  const lines = await documentsIn(join(made.folder, await fileOf(made.folder, 'companies')))
  const lineAt = new Map(places.map(({ blockAt, at }, line) => [`${blockAt} ${at}`, lines[line]]))
  const orders = [
    places,
    places.toReversed(),
    [...places, ...places],
    places.filter((_, at) => at % 17 === 3),
    [],
  ]
  for (const order of orders) {
    const documents = await made.index.documents('companies', order)
    expect(documents.map(String)).toEqual(order.map(({ blockAt, at }) => lineAt.get(`${blockAt} ${at}`)))
  }
})

test.each([
  ['a block behind the end of the file', { blockAt: 1e9 }],
  ['bytes behind the end of the block', { at: 1e9 }],
  ['another segment', { segment: 1 }],
])('documents refuses a place in %s', async (_what, wrong) => {
  const [place] = placesOf(await made.rows('SELECT * FROM serving.company LIMIT 1'))
  if (place === undefined) throw new Error('No company')
  const folder = join(await temporaryFolder(), 'copy')
  await cp(made.folder, folder, { recursive: true })
  const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
  await expect(index.documents('companies', [{ ...place, ...wrong }])).rejects.toMatchObject({
    code: 'INDEX_UNUSABLE',
  })
  await index.close()
})
