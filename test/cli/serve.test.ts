import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyLake } from '../support/lakes.ts'
import type { CliResult } from '../support/run-command.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { cli, errorCode } from './run-cli.ts'

const TOKEN = 'token-of-the-test'
const SWEDE = 'token-of-a-swede'

let folder = ''
let lake = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await copyLake('relations', join(folder, 'lake'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts a server, asks it, stops it by a signal. `said` gives what stands on its standard error. */
const serving = async (
  args: readonly string[],
  ask: (url: string, said: () => string) => Promise<void>,
  { signal = 'SIGTERM', env = {} }: { signal?: NodeJS.Signals; env?: Record<string, string> } = {},
): Promise<CliResult> => {
  const asked = Promise.withResolvers<void>()
  const result = cli(['serve', '--lake', lake, '--port', '0', ...args], {
    env: { FIRMLAKE_SERVE_TOKEN: '', FIRMLAKE_CURSOR_KEY: '', ...env },
    onStart: (child) => {
      let [stderr, isAsked] = ['', false]
      child.once('exit', () => asked.resolve())
      const onText = (text: string): void => {
        stderr += text
        const url = /Serving snapshot 1 of .* at (http:\S+)\n/.exec(stderr)?.[1]
        if (url === undefined || isAsked) return
        isAsked = true
        ask(url, () => stderr)
          .then(asked.resolve, asked.reject)
          .finally(() => child.kill(signal))
      }
      child.stderr?.on('data', onText)
    },
  })
  await asked.promise
  return result
}

const post = (url: string, token: string, body: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const totalOf = (response: Response): number =>
  JSON.parse(response.headers.get('x-pagination') ?? '{}').TotalCount

test('serve makes a fresh token on loopback, answers with it, logs without it, and SIGTERM ends it with 0', async () => {
  let token = ''
  const { code, stdout } = await serving([], async (url, said) => {
    token = /shown only here: (\S+)\n/.exec(said())?.[1] ?? ''
    const found = await post(`${url}/v2/companies`, token, {
      SearchParameters: { CountryCode: ['SE', 'NO'] },
    })
    expect(found.status).toBe(200)
    expect(totalOf(found)).toBeGreaterThan(0)
    expect(((await found.json()) as { Companies: object[] }).Companies).toHaveLength(10)
    expect((await post(`${url}/v2/relations`, 'wrong', {})).status).toBe(401)
    const refused = await fetch(`${url}/v2/companies`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"SearchParameters":',
    })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      errors: { parameters: ['Request body must be a JSON object.'] },
    })
  })
  expect(code).toBe(0)
  expect(token).toHaveLength(43)
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ route, status, token: name }) => [route, status, name])).toEqual([
    ['/v2/companies', 200, 'fresh'],
    ['/v2/relations', 401, null],
    ['/v2/companies', 400, 'fresh'],
  ])
  expect(stdout).not.toContain(token)
})

test('serve takes tokens, faults, a rate limit, a cap and a log file, and Ctrl-C ends it with 0', async () => {
  const tokens = join(folder, 'tokens.json')
  const faults = join(folder, 'faults.json')
  const log = join(folder, 'access.jsonl')
  await writeFile(
    tokens,
    '{"tokens":[{"name":"swede","token":"token-of-a-swede","countries":{"SE":["Owner"]}}]}',
  )
  await chmod(tokens, 0o644)
  await writeFile(faults, '{"faults":[{"on":"relations","fault":"503","retryAfter":2,"at":[1]}]}')
  const options = [
    '--tokens',
    tokens,
    '--faults',
    faults,
    '--log',
    log,
    '--cursor-cap',
    '3',
    '--rate-limit',
    '3',
    '--follow',
  ]
  const { code, stdout, stderr } = await serving(
    options,
    async (url) => {
      const search = { SearchParameters: { CountryCode: ['SE'] }, PageSize: 2 }
      const first = await post(`${url}/v2/companies`, SWEDE, { ...search, Cursor: '*' })
      const { Cursor } = JSON.parse(first.headers.get('x-pagination') ?? '')
      const second = await post(`${url}/v2/companies`, SWEDE, { ...search, Cursor })
      expect(((await second.json()) as { Companies: object[] }).Companies).toHaveLength(1)
      expect((await post(`${url}/v2/relations`, SWEDE, search)).headers.get('retry-after')).toBe('2')
      // The limit is a rate: one request more may come when its second is over, of twenty at once some are too many.
      const statuses = new Set<number>()
      while (!statuses.has(429)) {
        const answers = Array.from({ length: 20 }, () => post(`${url}/v2/relations`, SWEDE, search))
        for (const { status } of await Promise.all(answers)) statuses.add(status)
      }
    },
    { signal: 'SIGINT' },
  )
  expect([code, stdout]).toEqual([0, ''])
  if (process.platform !== 'win32') expect(stderr).toContain('Others on this machine may read')
  const routes = (await readFile(log, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).route)
  expect(routes.slice(0, 3)).toEqual(['/v2/companies', '/v2/companies', '/v2/relations'])
  expect(new Set(routes.slice(3))).toEqual(new Set(['/v2/relations']))
})

test('a token that is taken out of the file signs in no more, and standard error says where the file is damaged', async () => {
  const tokens = join(folder, 'changing.json')
  const write = (text: string): Promise<void> => writeFile(tokens, text, { mode: 0o600 })
  const entry = (name: string, token: string): string => JSON.stringify({ name, token, everything: true })
  await write(`{"tokens":[${entry('one', TOKEN)},${entry('two', SWEDE)}]}`)
  const { stderr } = await serving(['--tokens', tokens], async (url, said) => {
    const statusOf = async (token: string): Promise<number> =>
      (await fetch(`${url}/v2/batches/batch-files`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await statusOf(TOKEN), await statusOf(SWEDE)]).toEqual([200, 200])
    await write(`{"tokens":[${entry('two', SWEDE)}]}`)
    await expect.poll(() => statusOf(TOKEN), { interval: 50, timeout: 60_000 }).toBe(401)
    expect(await statusOf(SWEDE)).toBe(200)
    await write('{"tokens":[')
    // The file is looked at when somebody signs in.
    const saidSince = async (): Promise<string> => {
      await statusOf(SWEDE)
      return said()
    }
    await expect.poll(saidSince, { interval: 50, timeout: 60_000 }).toContain('it is no JSON')
    expect([await statusOf(TOKEN), await statusOf(SWEDE)]).toEqual([401, 200])
  })
  expect(stderr).toContain('it is no JSON, expected one JSON object. The tokens before still count')
  expect(stderr).not.toContain(SWEDE)
})

test('batches make writes files that serve offers', async () => {
  const made = await runCommandJson<{ made: boolean; files: { BatchFileId: string; Count: number }[] }>([
    'batches',
    'make',
    '--lake',
    lake,
    '--companies-per-file',
    '50',
  ])
  expect(made.made).toBe(true)
  expect(made.files.reduce((sum, { Count }) => sum + Count, 0)).toBe(570)
  expect(made.files.every(({ Count }) => Count <= 50)).toBe(true)
  const again = await runCommand(['batches', 'make', '--lake', lake])
  expect(again.stdout).toContain('There already: ')
  const env = { FIRMLAKE_SERVE_TOKEN: TOKEN }
  await serving(
    [],
    async (url) => {
      const listing = await fetch(`${url}/v2/batches/batch-files`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      })
      const { BatchFiles } = (await listing.json()) as { BatchFiles: object[] }
      expect(BatchFiles).toHaveLength(made.files.length)
    },
    { env },
  )
})

test.each([
  ['a port that is none', ['--port', '70000'], 'USAGE'],
  ['a rate of nothing', ['--rate-limit', '0'], 'USAGE'],
  ['a proxy that is none', ['--proxy', 'somewhere'], 'USAGE'],
  ['connections of none', ['--max-connections', '0'], 'USAGE'],
  ['an open address without tokens', ['--host', '0.0.0.0'], 'USAGE'],
  ['a file of tokens that is not there', ['--tokens', 'absent.json'], 'TOKENS_UNREADABLE'],
  ['a file of faults that is not there', ['--faults', 'absent.json'], 'FAULTS_UNREADABLE'],
  ['a log that cannot be opened', ['--log', '/proc/absent/log'], 'WRITE_FAILED'],
  ['a snapshot that is not there', ['--snapshot', '9'], 'SNAPSHOT_NOT_FOUND'],
  ['a snapshot beside the newest one', ['--snapshot', '1', '--follow'], 'USAGE'],
])('serve refuses %s', async (_what, args, code) => {
  const result = await runCommand(['serve', '--lake', lake, ...args], { env: { FIRMLAKE_SERVE_TOKEN: '' } })
  expect(result.code).toBe(code === 'USAGE' ? 2 : 1)
  expect(result.stderr).toContain(`error ${code}: `)
})

test('rates load adds rates to a lake, and rates list shows them', async () => {
  const csv = join(folder, 'rates.csv')
  await writeFile(csv, 'currency,year,units_per_usd\nXTS,2024,4.5\nSEK,2024,11\n')
  const change = await runCommandJson<object>(['rates', 'load', csv, '--lake', lake])
  expect(change).toMatchObject({ rates: 2, replaced: 1, currencies: ['SEK', 'XTS'] })
  const list = await runCommandJson<object[]>(['rates', 'list', '--lake', lake, '--year', '2024'])
  expect(list).toContainEqual({ currency: 'XTS', year: 2024, unitsPerUsd: 4.5 })
  expect(list).toContainEqual({ currency: 'SEK', year: 2024, unitsPerUsd: 11 })
  const all = await runCommandJson<{ currency: string; year: number }[]>(['rates', 'list', '--lake', lake])
  expect(all.filter(({ currency }) => currency === 'XTS')).toEqual([
    { currency: 'XTS', year: 2024, unitsPerUsd: 4.5 },
  ])
  const swedish = all.filter(({ currency }) => currency === 'SEK')
  expect(swedish.length).toBeGreaterThan(5)
  expect(swedish.map(({ year }) => year)).toEqual(swedish.map(({ year }) => year).toSorted((a, b) => a - b))
  expect(swedish).toContainEqual({ currency: 'SEK', year: 2024, unitsPerUsd: 11 })
  const text = await runCommand(['rates', 'list', '--lake', lake])
  expect(text.stdout).toMatch(/^XTS +2024 +4\.5$/m)
  const absent = await runCommand(['rates', 'load', join(folder, 'no.csv'), '--lake', lake, '--json'])
  expect(errorCode(absent)).toBe('RATES_UNREADABLE')
  const nowhere = await runCommand(['rates', 'load', csv, '--lake', join(folder, 'no'), '--json'])
  expect(errorCode(nowhere)).toBe('LAKE_NOT_FOUND')
})
