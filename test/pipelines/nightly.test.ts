import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { runProgram } from '../../src/jobs/common/run-program.ts'
import { convert } from '../../src/jobs/convert/convert.ts'
import { nightly as runNightly } from '../../src/jobs/nightly/nightly.ts'
import { chooseTokens } from '../../src/server/access/choose-tokens.ts'
import { hashingEmbedder } from '../../src/server/ranking/hashing-embedder.ts'
import { type LakeServer, serveLake } from '../../src/server/serve-lake.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { companyLine, openBench, queryLake, relationsLine } from '../run/batch-bench.ts'
import { answeringServer } from '../source/service/answering-server.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NIGHTLY = fileURLToPath(new URL('../../pipelines/nightly.ts', import.meta.url))
const TOKEN = 'token-of-the-night'
const LONG_AGO = '2025-03-01T00:00:00'
const FAR_AHEAD = '2099-03-01T00:00:00'

interface Night {
  readonly code: number | null
  readonly summary: Readonly<Record<string, unknown>>
}

type Env = Readonly<Record<string, string>>

const BASE: Env = { FIRMLAKE_SEARCH: '{"CountryCode":["SE"]}', FIRMLAKE_TOKEN: TOKEN }

/** What the program does, in this process. */
const nightly = async (env: Env): Promise<Night> => {
  let summary: object = {}
  try {
    await runProgram(
      (program) => runNightly({ ...program, env: { ...BASE, ...env } }),
      (shown) => {
        summary = shown
      },
    )
    expect(JSON.stringify(summary)).not.toContain(TOKEN)
    return { code: Number(process.exitCode ?? 0), summary: { ...summary } }
  } finally {
    process.exitCode = undefined
  }
}

/** Runs the program itself to its end; what it prints must be one line of JSON without the token. */
const nightlyProcess = async (env: Env, onStart?: (child: ChildProcess) => void): Promise<Night> => {
  const child = spawn(process.execPath, [NIGHTLY], { env: { ...process.env, ...BASE, ...env } })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  onStart?.(child)
  const [code] = (await once(child, 'close')) as [number | null]
  expect(printed).not.toContain(TOKEN)
  return { code, summary: JSON.parse(printed) }
}

/**
 * Serves a lake of five companies, one without dates.
 *
 * @param changes when one of them changed last
 */
const serve = async (folder: string, changes: string): Promise<LakeServer> => {
  const bench = openBench(folder)
  const meta = (at: string) => ({
    MetaData: { CurrentCurrencyCode: 'USD', ContentUpdatedAt: at, RelationsUpdatedAt: at },
  })
  await bench.write('companies.jsonl', [
    ...[1, 2, 3].map((id) => companyLine(id, meta(LONG_AGO))),
    companyLine(4, meta(changes)),
    companyLine(5, { MetaData: { CurrentCurrencyCode: 'USD' } }),
  ])
  await bench.write(
    'relations.jsonl',
    [1, 4].map((id) => relationsLine(id)),
  )
  await bench.run(['companies.jsonl', 'relations.jsonl'])
  const { registry } = await chooseTokens({ token: TOKEN, host: '127.0.0.1', random: randomBytes })
  return serveLake({
    lake: bench.lake,
    tokens: registry,
    embedder: hashingEmbedder(),
    cursorKey: randomBytes(32),
    cursorCap: 100_000,
    queryTimeoutMs: 30_000,
    memoryBytes: 256 * 1024 ** 2,
    http: { port: 0 },
  })
}

/** The address of a service of which one company changes again and again. */
let changing = ''
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  const server = await serve(folder, FAR_AHEAD)
  changing = server.address
  return async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test('nightly pulls everything in the first night and what changed since then in the second', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await writeFile(join(folder, 'token'), `${TOKEN}\n`)
  const env = {
    FIRMLAKE_URL: changing,
    FIRMLAKE_LAKE: lake,
    FIRMLAKE_RELATIONS_SEARCH: '{"InternalId":[1,4]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
  }
  expect(await nightlyProcess(env)).toMatchObject({
    code: 0,
    summary: {
      ...{ outcome: 'done', retries: 0, throttled: 0, seconds: expect.any(Number) },
      pulls: [
        {
          content: 'companies',
          snapshot: 1,
          since: null,
          announced: 5,
          received: 5,
          gap: 0,
          differences: [],
        },
        { content: 'relations', snapshot: 1, since: null, announced: 2, received: 2, gap: 0 },
      ],
    },
  })
  const fromFile = { ...env, FIRMLAKE_TOKEN: '', FIRMLAKE_TOKEN_FILE: join(folder, 'token') }
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
  expect(await nightly(fromFile)).toMatchObject({
    code: 0,
    summary: {
      pulls: [
        { content: 'companies', since, announced: 1, received: 1, undated: 1 },
        { content: 'relations', since, announced: 1, received: 1, undated: 0 },
      ],
    },
  })
  // What came again is as it was. In the third night it is not.
  const versions = 'SELECT count(*)::INTEGER FROM companies_history WHERE internal_id = 4'
  expect(await queryLake(lake, versions)).toEqual([[1]])
  await convert({ from: fromRecords('own', [JSON.parse(companyLine(4))]), lake })
  expect(await nightly(fromFile)).toMatchObject({
    code: 0,
    summary: { pulls: [{ snapshot: 3 }, { snapshot: 3 }] },
  })
  expect(
    await queryLake(
      lake,
      `SELECT internal_id::INTEGER, count(*)::INTEGER FROM companies_history GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 3],
    [5, 1],
  ])
})

/** The first night has written them. */
const withoutCatalogs = (): void => {
  for (const name of ['FIRMLAKE_DUCKLAKE', 'FIRMLAKE_DUCKDB']) vi.stubEnv(name, 'false')
}

test('nightly delivers to every sink and publishes, and the next night only what is new', async () => {
  withoutCatalogs()
  const folder = await temporaryFolder()
  const [csv, json] = [join(folder, 'csv'), join(folder, 'json')]
  const lake = join(folder, 'lake')
  const env = {
    FIRMLAKE_URL: changing,
    FIRMLAKE_LAKE: lake,
    FIRMLAKE_RELATIONS_SEARCH: '{"InternalId":[1,4]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
    FIRMLAKE_SINKS: `csv:${csv} jsonl:${json}`,
    FIRMLAKE_PUBLISH: 'delta',
  }
  const delivered = (summary: Night['summary']) =>
    Array.isArray(summary.delivered) && summary.delivered.map(({ runs }) => runs.length)
  const first = await nightly(env)
  expect(first).toMatchObject({
    code: 0,
    summary: { outcome: 'done', published: { formats: ['delta'], snapshot: 1 } },
  })
  expect(delivered(first.summary)).toEqual([1, 1])
  expect(await readdir(join(lake, 'companies', '_delta_log'))).not.toEqual([])
  await convert({ from: fromRecords('own', [JSON.parse(companyLine(4))]), lake })
  const third = await nightly(env)
  expect(third).toMatchObject({ code: 0, summary: { published: { snapshot: 3 } } })
  expect(delivered(third.summary)).toEqual([2, 2])
  for (const sink of [csv, json]) expect(await readdir(join(sink, 'companies'))).toHaveLength(3)
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})

test('nightly, as a command too, makes no snapshot where nothing came, and the next night asks from where it was', async () => {
  withoutCatalogs()
  const server = await serve(await temporaryFolder(), LONG_AGO)
  onTestFinished(() => server.close())
  const env = {
    FIRMLAKE_URL: server.address,
    FIRMLAKE_LAKE: join(await temporaryFolder(), 'lake'),
    FIRMLAKE_RELATIONS_SEARCH: '{"InternalId":[1]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
  }
  await nightly(env)
  for (const _night of ['second', 'third']) {
    const { code, stdout } = await runCommand(['nightly', '--quiet'], { env: { ...BASE, ...env } })
    expect([code, JSON.parse(stdout).pulls]).toMatchObject([
      0,
      [
        { content: 'companies', snapshot: null, received: 0 },
        { content: 'relations', snapshot: null, received: 0 },
      ],
    ])
  }
  const snapshots = await readdir(join(env.FIRMLAKE_LAKE, '_manifest'))
  expect(snapshots.filter((name) => /^\d+\.json$/.test(name))).toHaveLength(1)
  expect(await readdir(join(env.FIRMLAKE_LAKE, '_runs'))).toEqual([])
})

test('nightly loads the companies although the search of relations is refused, and says so', async () => {
  withoutCatalogs()
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const env = {
    FIRMLAKE_URL: changing,
    FIRMLAKE_LAKE: lake,
    FIRMLAKE_RELATIONS_SEARCH: '{"NoSuchParameter":[1]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
    FIRMLAKE_SINKS: `csv:${join(folder, 'csv')}`,
  }
  const { code, summary } = await nightly(env)
  expect([code, summary]).toMatchObject([
    1,
    {
      outcome: 'failed',
      pulls: [
        { content: 'companies', snapshot: 1, received: 5 },
        { content: 'relations', error: { code: 'PARAMETER_REFUSED' } },
      ],
      delivered: [{ runs: [expect.any(String)] }],
      error: { code: 'PARAMETER_REFUSED' },
    },
  ])
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})

test('nightly keeps the lake and serves the other sinks when one of them fails', async () => {
  withoutCatalogs()
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'not-a-folder'), '')
  const { code, summary } = await nightly({
    FIRMLAKE_URL: changing,
    FIRMLAKE_LAKE: join(folder, 'lake'),
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
    FIRMLAKE_SINKS: `csv:${join(folder, 'not-a-folder')} csv:${join(folder, 'csv')}`,
  })
  expect([code, summary.outcome]).toEqual([1, 'failed'])
  expect(summary).toMatchObject({
    pulls: [{ snapshot: 1 }, { snapshot: 1 }],
    error: { code: expect.any(String) },
  })
  expect(await readdir(join(folder, 'csv', 'companies'))).toHaveLength(1)
})

test('nightly ends with 75 where the service asks to wait too long', async () => {
  const { url, seen } = await answeringServer((response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end()
  })
  const lake = join(await temporaryFolder(), 'lake')
  const { code, summary } = await nightlyProcess({ FIRMLAKE_URL: url, FIRMLAKE_LAKE: lake })
  expect(code).toBe(75)
  expect(summary).toMatchObject({ outcome: 'later', pulls: [], error: { code: 'SERVICE_BUSY' } })
  expect(seen).toHaveLength(1)
})

test('nightly ends with 143 when it is told to stop', async () => {
  let child: ChildProcess | undefined
  const { url } = await answeringServer(() => child?.kill('SIGTERM'))
  const env = { FIRMLAKE_URL: url, FIRMLAKE_LAKE: join(await temporaryFolder(), 'lake') }
  const { code, summary } = await nightlyProcess(env, (started) => {
    child = started
  })
  expect([code, summary.outcome]).toEqual([143, 'stopped'])
})

test.each([
  [2, 'USAGE', { FIRMLAKE_LAKE: '' }],
  [2, 'USAGE', { FIRMLAKE_SEARCH: '["SE"]' }],
  [2, 'USAGE', { FIRMLAKE_MAX_WAIT_SECONDS: 'long' }],
  [2, 'USAGE', { FIRMLAKE_PUBLISH: 'delta hudi' }],
  [2, 'USAGE', { FIRMLAKE_SINKS: 'csv:out companies.csv' }],
  [2, 'TOKEN_MISSING', { FIRMLAKE_TOKEN: '' }],
  [1, 'TOKEN_REFUSED', {}],
])('nightly ends with %i and %s', async (code, error, env) => {
  const { url } = await answeringServer((response) => {
    response.writeHead(401).end()
  })
  const lake = join(await temporaryFolder(), 'lake')
  expect(await nightly({ FIRMLAKE_URL: url, FIRMLAKE_LAKE: lake, ...env })).toMatchObject({
    code,
    summary: { outcome: 'failed', error: { code: error } },
  })
})
