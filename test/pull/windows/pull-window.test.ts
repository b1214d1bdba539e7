import { appendFile, readdir, readFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pullWindow, type WindowOptions, type WindowRequest } from '../../../src/pull/windows/pull-window.ts'
import { type Checkpoint, readCheckpoint } from '../../../src/pull/windows/window-file.ts'
import { createService } from '../../../src/source/service/service.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { flipBit } from '../../manifest/damage.ts'
import {
  cursorAt,
  type FakeCompany,
  type FakeRequest,
  type FakeService,
  type FakeServiceOptions,
  type Instead,
  openFakeService,
} from '../../service/fake-service.ts'
import { answeringServer, client, FACTS, page, status, TOKEN } from '../../source/service/answering-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SEARCH = { CountryCode: ['SE'] }
const EXPIRED = 'Cursor has not a valid value.'

/** Companies with ids 10, 20, … */
const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({ id: 10 * (at + 1), country: 'SE' }))

const idsIn = async (path: string): Promise<number[]> =>
  (await readFile(path, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).BasicDetails.InternalId)

const tens = (count: number): number[] => companies(count).map(({ id }) => id)

interface Bench {
  readonly fake: FakeService
  readonly path: string
  readonly pull: (options?: Partial<WindowOptions>, request?: Partial<WindowRequest>) => Promise<Checkpoint>
}

const bench = async (options: FakeServiceOptions): Promise<Bench> => {
  const fake = await openFakeService({ now: '2026-06-15T12:00:00Z', ...options })
  const service = createService({
    url: fake.url,
    token: fake.token,
    now: fake.clock,
    maxRequestsPerSecond: 2000,
  })
  onTestFinished(async () => {
    await service.close()
    await fake.close()
  })
  const path = join(await temporaryFolder(), 'window.jsonl')
  return {
    fake,
    path,
    pull: (more, request) =>
      pullWindow(
        { content: 'companies', name: 'all', searches: [SEARCH], pageSize: 10, ...request },
        { service, path, ...more },
      ),
  }
}

test('pullWindow follows the chain to its end and says what it got', async () => {
  const one = await bench({ companies: companies(35) })
  const whole = await one.pull()
  expect(await idsIn(one.path)).toEqual(tens(35))
  expect(whole).toMatchObject({ announced: 35, records: 35, pages: 4, asOf: '2026-06-15T12:00:00.000Z' })
  expect(whole.bytes).toBe((await stat(one.path)).size)
  expect(whole.sha256).toBe(sha256Of(await readFile(one.path)))
  expect(one.fake.pages.map(({ search }) => search)).toEqual(Array(4).fill(SEARCH))
})

test('pullWindow takes an empty page behind the last one as the end, and an empty window too', async () => {
  const one = await bench({
    companies: companies(20),
    before: (_, nth) => {
      if (nth === 2) return { companies: companies(20).slice(10), cursor: cursorAt(200, 20, SEARCH) }
      return nth === 3 ? { companies: [], cursor: cursorAt(200, 20, SEARCH) } : undefined
    },
  })
  expect(await one.pull()).toMatchObject({ records: 20, pages: 2 })
  expect(one.fake.pages).toHaveLength(3)
  const none = await bench({ companies: [] })
  expect(await none.pull()).toMatchObject({ records: 0, pages: 0, bytes: 0, announced: 0 })
  expect(await readFile(none.path, 'utf8')).toBe('')
})

test('pullWindow resumes at its last page', async () => {
  const stop = new AbortController()
  const one = await bench({
    companies: companies(50),
    before: (_, nth) => {
      if (nth === 4) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({ signal: stop.signal })).rejects.toThrow()
  expect(await readCheckpoint(one.path)).toMatchObject({ records: 30, pages: 3, lastId: '300' })
  // What a process wrote behind its last checkpoint does not count.
  await appendFile(one.path, '{"BasicDetails":{"Intern')
  const before = one.fake.pages.length
  expect(await one.pull()).toMatchObject({ records: 50, pages: 5, announced: 50 })
  expect(one.fake.pages.length - before).toBe(2)
  expect(await idsIn(one.path)).toEqual(tens(50))
  expect(await one.pull()).toMatchObject({ sha256: sha256Of(await readFile(one.path)) })
  expect(one.fake.pages.length - before).toBe(2)
})

test('pullWindow starts over where the file has lost what its checkpoint counts', async () => {
  const stop = new AbortController()
  const one = await bench({
    companies: companies(50),
    before: (_, nth) => {
      if (nth === 3) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({ signal: stop.signal })).rejects.toThrow()
  await truncate(one.path, 40)
  expect(await one.pull()).toMatchObject({ records: 50, announced: 50 })
  expect(await idsIn(one.path)).toEqual(tens(50))
})

test('pullWindow starts over where a byte of what its checkpoint counts has changed', async () => {
  const stop = new AbortController()
  const one = await bench({
    companies: companies(50),
    before: (_, nth) => {
      if (nth === 3) stop.abort()
      return undefined
    },
  })
  await expect(one.pull({ signal: stop.signal })).rejects.toThrow()
  await flipBit(one.path, 40, 1)
  expect(await one.pull()).toMatchObject({ records: 50, announced: 50 })
  expect(await idsIn(one.path)).toEqual(tens(50))
})

test('pullWindow does not go on from a checkpoint of which a byte has changed', async () => {
  const one = await bench({ companies: companies(50) })
  await one.pull()
  await flipBit(one.path.replace('.jsonl', '.json'), 20, 0)
  await expect(one.pull()).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
})

test('pullWindow begins again where the cursor has expired, and doubles nothing', async () => {
  const one = await bench({
    companies: companies(50),
    before: (_, nth) => (nth === 4 ? { refuse: EXPIRED } : undefined),
  })
  expect(await one.pull()).toMatchObject({ records: 50, announced: 50, pages: 5 })
  expect(await idsIn(one.path)).toEqual(tens(50))
  expect(one.fake.pages).toHaveLength(4 + 5)
})

test('pullWindow gives up where the cursor is refused each time', async () => {
  const one = await bench({
    companies: companies(50),
    before: ({ cursor }) => (cursor === '*' ? undefined : { refuse: EXPIRED }),
  })
  await expect(one.pull()).rejects.toMatchObject({ code: 'CURSOR_REFUSED', context: { window: 'all' } })
  expect(one.fake.pages).toHaveLength(2 * 4)
})

test.each([
  ['drops a page that comes twice', cursorAt(200, 20, SEARCH)],
  ['asks again instead of following the cursor of a page that came before', cursorAt(300, 30, SEARCH)],
])('pullWindow %s', async (_what, cursor) => {
  const one = await bench({
    companies: companies(40),
    before: (_, nth) => (nth === 3 ? { companies: companies(20).slice(10), cursor } : undefined),
  })
  expect(await one.pull()).toMatchObject({ records: 40, pages: 4 })
  expect(await idsIn(one.path)).toEqual(tens(40))
})

test('pullWindow asks again where a page has not as many records as its header says', async () => {
  const short = await bench({
    companies: companies(40),
    before: (_, nth) =>
      nth === 3
        ? { companies: companies(25).slice(20), count: 10, cursor: cursorAt(300, 30, SEARCH) }
        : undefined,
  })
  expect(await short.pull()).toMatchObject({ records: 40, pages: 4 })
  const empty = await bench({
    companies: companies(40),
    before: (_, nth) => (nth === 2 ? { companies: [], count: 10, cursor: null } : undefined),
  })
  expect(await empty.pull()).toMatchObject({ records: 40, pages: 4 })
  expect(await idsIn(empty.path)).toEqual(tens(40))
})

test('pullWindow begins again in a new process, however often earlier ones did', async () => {
  const one = await bench({
    companies: companies(50),
    before: ({ cursor }, nth) => (nth <= 9 && cursor !== '*' ? { refuse: EXPIRED } : undefined),
  })
  await expect(one.pull()).rejects.toMatchObject({ code: 'CURSOR_REFUSED' })
  expect(await one.pull()).toMatchObject({ records: 50, pages: 5 })
  expect(await idsIn(one.path)).toEqual(tens(50))
})

/** Ends the chain instead of the page that its cursor is due: with the page, or with an empty one. */
const endingEarly =
  (at: (cursor: string, nth: number) => boolean, rows: readonly FakeCompany[], totalCount?: number) =>
  ({ cursor = '' }: FakeRequest, nth: number): Instead | undefined =>
    at(cursor, nth)
      ? { companies: rows, cursor: null, ...(totalCount !== undefined && { totalCount }) }
      : undefined

const second = companies(25).slice(10, 20)

test.each<[string, readonly FakeCompany[]]>([
  ['with a page of records', second],
  ['with a page of some', second.slice(0, 4)],
  ['with an empty page', []],
])('pullWindow resumes a chain that ends too early %s, at that page', async (_what, rows) => {
  const one = await bench({
    companies: companies(25),
    before: endingEarly((_, nth) => nth === 2 || nth === 3, rows),
  })
  expect(await one.pull()).toMatchObject({ records: 25, announced: 25, pages: 3 })
  expect(await idsIn(one.path)).toEqual(tens(25))
  const cursors = one.fake.pages.map(({ cursor }) => cursor)
  expect([cursors.length, new Set(cursors.slice(1, 4)).size]).toEqual([5, 1])
})

test('pullWindow resumes a chain wherever it ends too early', async () => {
  const asked = new Map<string, number>()
  const one = await bench({
    companies: companies(40),
    before: endingEarly((cursor) => {
      asked.set(cursor, (asked.get(cursor) ?? 0) + 1)
      return (asked.get(cursor) ?? 0) <= 2
    }, []),
  })
  expect(await one.pull()).toMatchObject({ records: 40, announced: 40, pages: 4 })
  expect(await idsIn(one.path)).toEqual(tens(40))
})

test('pullWindow takes what there is where a chain ends too early each time, and says how much it is', async () => {
  const one = await bench({
    companies: companies(25),
    before: endingEarly((cursor) => cursor !== '*', second.slice(0, 3)),
  })
  expect(await one.pull()).toMatchObject({ records: 13, announced: 25, pages: 2 })
  expect(one.fake.pages).toHaveLength(4)
  const none = await bench({ companies: companies(25), before: endingEarly(() => true, []) })
  expect(await none.pull()).toMatchObject({ records: 0, announced: 25, pages: 0 })
  expect(none.fake.pages).toHaveLength(3)
})

test('pullWindow counts anew where fewer came than at first, and what left meanwhile is not missing', async () => {
  const one = await bench({
    companies: companies(25),
    before: (_, nth) => {
      if (nth === 2) one.fake.hold(companies(20))
      return undefined
    },
  })
  expect(await one.pull()).toMatchObject({ records: 20, announced: 20, pages: 2 })
  expect([one.fake.pages.length, one.fake.counts()]).toEqual([5, 1])
})

test('pullWindow does not believe a page that ends a chain and counts nothing', async () => {
  const once = await bench({ companies: companies(25), before: endingEarly((_, nth) => nth === 2, [], 0) })
  expect(await once.pull()).toMatchObject({ records: 25, announced: 25 })
  const always = await bench({
    companies: companies(25),
    before: endingEarly((cursor) => cursor !== '*', [], 0),
  })
  expect(await always.pull()).toMatchObject({ records: 10, announced: 25 })
})

test('pullWindow ends with an error where the same page comes for ever', async () => {
  const one = await bench({
    companies: companies(40),
    before: (_, nth) =>
      nth > 2 ? { companies: companies(20).slice(10), cursor: cursorAt(200, 20, SEARCH) } : undefined,
  })
  await expect(one.pull()).rejects.toMatchObject({ code: 'ANSWER_DISORDERED' })
})

test('pullWindow refuses pages that overlap or go back', async () => {
  const overlapping = await bench({
    companies: companies(40),
    before: (_, nth) =>
      nth === 3 ? { companies: companies(25).slice(15), cursor: cursorAt(250, 25, SEARCH) } : undefined,
  })
  await expect(overlapping.pull()).rejects.toMatchObject({
    code: 'ANSWER_DISORDERED',
    context: { window: 'all', page: 3 },
  })
  const back = await bench({
    companies: companies(40),
    before: (_, nth) =>
      nth === 2 ? { companies: companies(40).slice(10, 20).reverse(), cursor: null } : undefined,
  })
  await expect(back.pull()).rejects.toMatchObject({ code: 'ANSWER_DISORDERED', context: { window: 'all' } })
})

test('pullWindow delivers a chain of exactly the cap', async () => {
  const one = await bench({ companies: companies(50), cap: 50 })
  expect(await one.pull()).toMatchObject({ records: 50, announced: 50 })
  expect(one.fake.pages).toHaveLength(5)
})

test('pullWindow cuts a window again that outgrew the cap, and pulls the parts into the same file', async () => {
  const one = await bench({ companies: companies(60), cap: 50 })
  const asked: number[] = []
  const whole = await one.pull({
    cutAgain: async (_, atMost) => {
      asked.push(atMost)
      const searches = [
        { InternalId: tens(30), CountryCode: ['SE'] },
        { InternalId: tens(60).slice(30), CountryCode: ['SE'] },
      ]
      return { searches, missing: 0 }
    },
  })
  expect(asked).toEqual([25])
  expect(whole).toMatchObject({ records: 60, announced: 60, pages: 6 })
  expect(await idsIn(one.path)).toEqual(tens(60))
})

test('pullWindow gives up a window that outgrew the cap and cannot be cut', async () => {
  const one = await bench({ companies: companies(60), cap: 50 })
  await expect(
    one.pull({ cutAgain: async (search) => ({ searches: [search], missing: 0 }) }),
  ).rejects.toMatchObject({
    code: 'CURSOR_CAP',
    context: { window: 'all' },
  })
})

test('pullWindow pulls several searches into one file, each in its own order', async () => {
  const one = await bench({ companies: companies(30) })
  const searches = [{ InternalId: tens(30).slice(10) }, { InternalId: tens(10) }]
  expect(await one.pull({}, { searches })).toMatchObject({ records: 30, announced: 30, chains: searches })
  expect(await idsIn(one.path)).toEqual([...tens(30).slice(10), ...tens(10)])
})

test('pullWindow keeps no token on the disk where the service repeats it as its cursor, and goes on from there', async () => {
  const records = (...ids: number[]) => ({
    Companies: ids.map((id) => ({ BasicDetails: { InternalId: id } })),
  })
  const facts = { ...FACTS, Count: 2, TotalCount: 4 }
  const server = await answeringServer(
    page(records(1, 2), { ...facts, Cursor: `x${TOKEN}/${TOKEN}` }),
    status(401),
    page(records(3, 4), { ...facts, Cursor: null }),
  )
  const folder = await temporaryFolder()
  const path = join(folder, 'window.jsonl')
  const request = { content: 'companies', name: 'all', searches: [SEARCH], pageSize: 2 } as const
  const pull = (): Promise<Checkpoint> => pullWindow(request, { service: client(server.url), path })
  await expect(pull()).rejects.toMatchObject({ code: 'TOKEN_REFUSED' })
  expect((await readCheckpoint(path))?.records).toBe(2)
  for (const name of await readdir(folder))
    expect(await readFile(join(folder, name), 'utf8'), name).not.toContain(TOKEN)
  expect((await pull()).records).toBe(4)
  expect(server.seen.map(({ body }) => JSON.parse(body).Cursor)).toEqual([
    '*',
    `x${TOKEN}/${TOKEN}`,
    `x${TOKEN}/${TOKEN}`,
  ])
  expect(await idsIn(path)).toEqual([1, 2, 3, 4])
})
