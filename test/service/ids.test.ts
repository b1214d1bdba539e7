/** Searches by ids: more than one request may name, and beyond what JavaScript's numbers hold; on the real server. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import type { SearchInput } from '../../src/contract/requests.ts'
import { pull } from '../../src/jobs/pull.ts'
import { commitRun, planRun, workRun } from '../../src/jobs/run-steps.ts'
import { sync } from '../../src/jobs/sync.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { LakeServer } from '../../src/server/serve-lake.ts'
import type { Service } from '../../src/source/service/service.ts'
import { companyLine, openBench, queryLake } from '../run/batch-bench.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { makeServable, openClient, openServer, TOKEN } from './serving.ts'

vi.setConfig({ testTimeout: 120_000 })

/** As a number each but the last is one of the others. */
const LARGE = ['9007199254740992', '9007199254740993', '9007199254740994', '9223372036854775807'] as const
const SMALL = Array.from({ length: 700 }, (_, at) => at + 1)

const relationsOf = (id: string): string =>
  `{"InternalId":${id},"Name":"Company ${id}","CountryCode":"SE","Children":[]}`
const companyOf = (id: string, day = '2025-01-01'): string =>
  companyLine(0, {
    MetaData: { CurrentCurrencyCode: 'USD', ContentUpdatedAt: day, RelationsUpdatedAt: day },
  }).replace('"InternalId":0', `"InternalId":${id}`)

let server: LakeServer
let from: Service
beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  await bench.write('companies.jsonl', [
    ...SMALL.map((id) => companyOf(String(id))),
    ...LARGE.map((id) => companyOf(id)),
  ])
  await bench.write('relations.jsonl', [...SMALL.map(String), ...LARGE].map(relationsOf))
  await bench.run(['companies.jsonl', 'relations.jsonl'])
  await makeServable(bench.lake)
  server = await openServer(bench.lake)
  from = openClient(server.address)
  return async () => {
    await from.close()
    await server.close()
    await rm(bench.folder, { recursive: true, force: true })
  }
})

const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')
const idsIn = async (lake: string, table: string): Promise<readonly string[]> =>
  (await queryLake(lake, `SELECT internal_id::VARCHAR FROM ${table} ORDER BY internal_id`)).map(([id]) =>
    String(id),
  )
const strings = (ids: readonly (number | string)[]): string[] => ids.map(String)

test.each([
  [500, 1],
  [501, 2],
])('pull brings relations of %i ids in %i windows', async (count, windows) => {
  const lake = await newLake()
  const ids = SMALL.slice(0, count)
  const { pull: pulled } = await pull({ from, lake, content: 'relations', search: { internalid: ids } })
  expect(pulled.windows.map(({ received }) => received)).toHaveLength(windows)
  expect(pulled.entry).toMatchObject({
    announced: count,
    planned: count,
    received: count,
    search: { internalid: ids },
  })
  expect(await idsIn(lake, 'relations')).toEqual(strings(ids))
})

test('pull asks for each of many ids once, however often and in whatever form it is named', async () => {
  const lake = await newLake()
  const search = {
    InternalId: [...SMALL.slice(0, 400), ...SMALL.slice(0, 300), ...strings(SMALL.slice(390, 450))],
  }
  const { pull: pulled } = await pull({ from, lake, content: 'relations', search })
  expect(pulled.windows).toHaveLength(1)
  expect(pulled.entry).toMatchObject({ announced: 450, received: 450 })
  expect(await queryLake(lake, 'SELECT count(*) FROM relations_history')).toEqual([[450]])
})

test('pull by many ids goes on since the last time, and cuts by ids where a window must be smaller', async () => {
  const lake = await newLake()
  const asked = { from, lake, content: 'relations', search: { InternalId: SMALL.slice(0, 700) } } as const
  const first = await pull({ ...asked, cap: 200 })
  expect(first.pull.windows.length).toBeGreaterThan(3)
  expect(first.pull.entry).toMatchObject({ announced: 700, received: 700 })
  const again = await pull({ ...asked, since: 'last' })
  expect(again.pull.plan.since?.from).toMatch(/^\d{4}-/)
  expect(again.pull.entry).toMatchObject({ announced: 0, received: 0 })
})

test('planRun cuts relations of many ids into windows, and their workers bring all', async () => {
  const lake = await newLake()
  const load = {
    load: 'pull',
    from,
    content: 'relations',
    search: { InternalId: SMALL.slice(0, 501) },
  } as const
  const { run, units } = await planRun({ ...load, lake })
  expect(units).toBe(2)
  const service = (url: string) => openClient(url)
  await workRun({ lake, run: run ?? '', shard: { index: 0, of: 1 }, service })
  expect(await commitRun({ lake, run: run ?? '' })).toMatchObject({ kind: 'committed', records: 501 })
  expect((await readSnapshot(lake)).pulls).toMatchObject([{ announced: 501, received: 501 }])
})

const large = (content: string): string => `{"InternalId":[${content}]}`

test.each(['companies', 'relations'] as const)(
  'pull brings the %s that are named, beyond 2^53 too',
  async (content) => {
    const [, second, , last] = LARGE
    const searches: readonly SearchInput[] = [
      { InternalId: [second, last] },
      { InternalId: [BigInt(second), BigInt(last)] },
    ]
    for (const search of searches) {
      const lake = await newLake()
      const { pull: pulled } = await pull({ from, lake, content, search })
      expect(pulled.entry).toMatchObject({ received: 2, search: { InternalId: [second, last] } })
      expect(await idsIn(lake, content)).toEqual([second, last])
    }
  },
)

test('pull refuses an id that was rounded before it came', async () => {
  const search = { internalId: [7, Number(LARGE[1])] }
  await expect(pull({ from, lake: await newLake(), content: 'companies', search })).rejects.toMatchObject({
    code: 'VALUES_REFUSED',
    message: expect.stringContaining('9007199254740992 is no exact whole number'),
  })
})

test('ids beyond 2^53 keep their digits from the command line, a file and firmlake.toml to the lake', async () => {
  const url = server.address
  const folder = await temporaryFolder()
  const env = { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN, FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '' }
  const [, second, third] = LARGE
  await writeFile(join(folder, 'search.json'), large(`${second}, "${third}"`))
  for (const [lake, search] of [
    ['a', large(`${second},${third}`)],
    ['b', '@search.json'],
  ] as const) {
    await runCommandJson(['pull', 'companies', '--lake', lake, '--search', search], { cwd: folder, env })
    expect(await idsIn(join(folder, lake), 'companies')).toEqual([second, third])
    const { stdout } = await runCommand(['records', '--lake', lake, '--id', third], { cwd: folder, env })
    expect(stdout.match(/"InternalId":\d+/g)).toEqual([`"InternalId":${third}`])
  }
  await writeFile(
    join(folder, 'firmlake.toml'),
    `lake = "night"\n[[pull]]\nname = "some"\ncontent = "companies"\nsearch = { InternalId = [${second}, ${third}] }\n`,
    { mode: 0o644 },
  )
  const night = await runCommand(['nightly'], {
    cwd: folder,
    env: { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN },
  })
  expect(night.code).toBe(0)
  expect(await idsIn(join(folder, 'night'), 'companies')).toEqual([second, third])
})

test('sync finds, fetches and compares ids beyond 2^53', async () => {
  const lake = await newLake()
  const search = { InternalId: [...LARGE] }
  const first = await sync({ from, lake, search })
  expect(first.sync).toMatchObject({ findings: { listed: 4, new: [...LARGE] }, fetched: 4 })
  expect(await idsIn(lake, 'companies')).toEqual([...LARGE])
  const second = await sync({ from, lake, search })
  expect(second.sync).toMatchObject({
    findings: { new: [], changed: [], unchanged: 4, vanished: [] },
    fetched: 0,
  })
})
