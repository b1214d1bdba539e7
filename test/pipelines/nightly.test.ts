import type { ChildProcess } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { answeringServer } from '../source/service/answering-server.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { BASE, LONG_AGO, nightly, nightlyProcess, serve, useChanging } from './nights.ts'

const changing = useChanging()

/** The first night has written them. */
const withoutCatalogs = (): void => {
  for (const name of ['FIRMLAKE_DUCKLAKE', 'FIRMLAKE_DUCKDB']) vi.stubEnv(name, 'false')
}

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
    FIRMLAKE_URL: changing(),
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
    FIRMLAKE_URL: changing(),
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
