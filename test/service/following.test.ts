import { readdir } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { inLake, SERVE_FOLDER } from '../../src/lake/files/layout.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import type { FollowSettings, LakeServer } from '../../src/server/serve-lake.ts'
import { buildAside } from '../../src/server/serving-index/build/build-aside.ts'
import { type Bench, companyLine, openBench, runIn } from '../run/batch-bench.ts'
import { LAKE, s3Bench } from '../storage/s3-bench.ts'
import { startChild } from '../support/children.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openServer, SEARCH, TOKEN } from './serving.ts'

const MEMORY_BYTES = 256 * 1024 ** 2
const COMPANIES = 40

/** A file of all companies, each with the version in its name. */
const writeVersion = async (bench: Bench, version: number): Promise<string> => {
  const name = `version-${version}.jsonl`
  const lines = Array.from({ length: COMPANIES }, (_, at) =>
    companyLine(
      at + 1,
      { BasicDetails: { InternalId: at + 1, CompanyName: `Version ${version}`, CountryCode: 'SE' } },
      version,
    ),
  )
  await bench.write(name, lines)
  return name
}
const load = async (bench: Bench, version: number): Promise<void> => {
  await bench.run([await writeVersion(bench, version)])
}

interface Moves {
  readonly server: LakeServer
  readonly errors: string[]
  /** Waits until the server serves a snapshot. */
  readonly at: (snapshot: number) => Promise<void>
}

const follow = async (lake: string, settings: Partial<FollowSettings> = {}): Promise<Moves> => {
  const errors: string[] = []
  const server = await openServer(lake, {
    follow: { everyMs: 10, ...settings, onFollowError: ({ message }) => errors.push(message) },
  })
  onTestFinished(() => server.close())
  const at = async (snapshot: number): Promise<void> => {
    while (server.snapshot < snapshot) await setTimeout(5)
  }
  return { server, errors, at }
}

interface Page {
  readonly versions: readonly string[]
  readonly ids: readonly number[]
  readonly cursor: string | null
  readonly total: number
}

const ask = async ({ address }: LakeServer, body: object): Promise<Page> => {
  const answer = await fetch(`${address}/v2/companies`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ SearchParameters: SEARCH, ...body }),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`The server answered ${answer.status}: ${text}`)
  const { Companies }: { Companies: { BasicDetails: { InternalId: number; CompanyName: string } }[] } =
    JSON.parse(text)
  const { TotalCount, Cursor = null } = JSON.parse(answer.headers.get('x-pagination') ?? '')
  return {
    versions: [...new Set(Companies.map(({ BasicDetails }) => BasicDetails.CompanyName))],
    ids: Companies.map(({ BasicDetails }) => BasicDetails.InternalId),
    cursor: Cursor,
    total: TotalCount,
  }
}

test('a server that follows answers every request from one snapshot while loads, a compaction and gc go on', async () => {
  const bench = openBench(await temporaryFolder())
  await load(bench, 1)
  const { server, errors, at } = await follow(bench.lake)
  const seen: string[] = []
  let done = false
  const asking = async (): Promise<void> => {
    while (!done) {
      const { versions, ids, total } = await ask(server, { PageSize: 500 })
      expect([versions.length, ids.length, total]).toEqual([1, COMPANIES, COMPANIES])
      seen.push(...versions)
      await setTimeout(5)
    }
  }
  const changing = async (): Promise<void> => {
    await load(bench, 2)
    await at(2)
    await load(bench, 3)
    await compact({ lake: bench.lake, memoryBytes: 2 * MEMORY_BYTES, threads: 1 })
    await removeGarbage({ lake: bench.lake, now: new Date(), keep: 1 })
    await at(4)
  }
  await Promise.all([changing().finally(() => (done = true)), asking()])
  expect(errors).toEqual([])
  const order = seen.filter((version, at) => version !== seen[at - 1])
  expect(['Version 1', 'Version 2', 'Version 3'].filter((version) => order.includes(version))).toEqual(order)
  expect((await ask(server, {})).versions).toEqual(['Version 3'])
  expect(await (await fetch(`${server.address}/healthz`)).json()).toEqual({ status: 'ok', snapshot: 4 })
})

test('a chain that was begun before a move ends on its snapshot, whatever gc removes', async () => {
  const bench = openBench(await temporaryFolder())
  await load(bench, 1)
  const { server, at } = await follow(bench.lake, { idleMs: 60_000 })
  const first = await ask(server, { PageSize: 15, Cursor: '*' })
  await load(bench, 2)
  await at(2)
  await removeGarbage({ lake: bench.lake, now: new Date(), keep: 1 })
  const second = await ask(server, { PageSize: 15, Cursor: first.cursor })
  expect((await ask(server, { PageSize: 15, Cursor: '*' })).versions).toEqual(['Version 2'])
  const third = await ask(server, { PageSize: 15, Cursor: second.cursor })
  for (const { versions, total } of [first, second, third])
    expect([versions, total]).toEqual([['Version 1'], COMPANIES])
  expect([...first.ids, ...second.ids, ...third.ids]).toEqual(
    Array.from({ length: COMPANIES }, (_, at) => at + 1),
  )
  expect(third.cursor).toBeNull()
})

test('a server that follows keeps its snapshot while the newer index cannot be built, says so once, and moves when it can', async () => {
  const bench = openBench(await temporaryFolder())
  await load(bench, 1)
  let isBroken = true
  let attempts = 0
  const { server, errors, at } = await follow(bench.lake, {
    build: async (snapshot, signal) => {
      attempts += 1
      if (isBroken) throw new Error('the disk is full')
      await buildAside({ lake: bench.lake, snapshot, memoryBytes: MEMORY_BYTES, threads: 1 }, signal)
    },
  })
  await load(bench, 2)
  while (attempts < 3) expect((await ask(server, {})).versions).toEqual(['Version 1'])
  expect(errors).toEqual(['the disk is full'])
  isBroken = false
  await at(2)
  expect((await ask(server, {})).versions).toEqual(['Version 2'])
})

test('a server that follows a lake in a bucket moves to what another machine has committed', async (context) => {
  await s3Bench(context)
  const bench = openBench(await temporaryFolder())
  await runIn(bench.folder, LAKE, [await writeVersion(bench, 1)])
  const { server, errors, at } = await follow(LAKE)
  expect((await ask(server, {})).versions).toEqual(['Version 1'])
  await runIn(bench.folder, LAKE, [await writeVersion(bench, 2)])
  await at(2)
  expect((await ask(server, {})).versions).toEqual(['Version 2'])
  expect(errors).toEqual([])
})

test('a server that is killed while the next index is built leaves nothing unfinished, and the next server follows on', async () => {
  const bench = openBench(await temporaryFolder())
  await load(bench, 1)
  const child = startChild(new URL('child-follows.ts', import.meta.url), bench.lake)
  await child.nextLine()
  await load(bench, 2)
  const unfinished = async (): Promise<boolean> =>
    (await readdir(inLake(bench.lake, SERVE_FOLDER))).some((name) => name.startsWith('.tmp-'))
  while (!(await unfinished())) await setTimeout(1)
  await child.kill()
  while (await unfinished()) await setTimeout(5)
  const { server, errors, at } = await follow(bench.lake)
  await load(bench, 3)
  await at(3)
  expect((await ask(server, {})).versions).toEqual(['Version 3'])
  expect(errors).toEqual([])
})
