import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { queryLake } from '../run/batch-bench.ts'
import {
  type FakeCompany,
  type FakeService,
  type FakeServiceOptions,
  openFakeService,
} from '../service/fake-service.ts'
import { type CliResult, type CommandOptions, runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, errorCode } from './run-cli.ts'

const SEARCH = ['--search', '{"CountryCode":["SE"]}']

const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    country: 'SE',
    dates: { ContentUpdatedAt: `2026-0${1 + (at % 5)}-0${1 + (at % 9)}` },
  }))

interface Bench {
  readonly fake: FakeService
  readonly folder: string
  readonly lake: string
  readonly run: (args: readonly string[], options?: CommandOptions) => Promise<CliResult>
}

const bench = async (options: FakeServiceOptions): Promise<Bench> => {
  const fake = await openFakeService(options)
  onTestFinished(fake.close)
  const folder = await temporaryFolder()
  const env = { FIRMLAKE_URL: fake.url, FIRMLAKE_TOKEN: fake.token }
  const run: Bench['run'] = async (args, more) => {
    const result = await runCommand([...args, '--max-requests-per-second', '1000'], {
      cwd: folder,
      env,
      ...more,
    })
    expect(result.stdout + result.stderr).not.toContain(fake.token)
    return result
  }
  return { fake, folder, lake: join(folder, 'lake'), run }
}

test('pull tells what it pulls and what it pulled', async () => {
  const one = await bench({ companies: companies(30) })
  const args = ['pull', 'companies', '--lake', 'lake', ...SEARCH, '--page-size', '10']
  const { code, stdout, stderr } = await one.run([...args, '--cap', '20'])
  expect(code).toBe(0)
  expect(stderr).toContain('30 records announced, in 2 windows by ContentUpdatedAt')
  expect(stdout).toContain('30 of 30 companies received')
  expect(stdout).toContain('companies 1/2: CountryCode=SE ContentUpdatedAt=0001-01-01..')
  const again = await one.run([...args, '--since', 'last', '--json'])
  const dayBefore = new Date(one.fake.clock().getTime() - 86_400_000).toISOString().slice(0, 10)
  expect(JSON.parse(again.stdout).pull).toMatchObject({
    ...{ content: 'companies', from: dayBefore, since: dayBefore, announced: 0, received: 0, gap: 0 },
    ...{ requests: expect.any(Number), retries: 0 },
  })
})

test('pull says how many companies left the service, or why none is marked', async () => {
  const one = await bench({ companies: companies(30) })
  const args = ['pull', 'companies', '--lake', 'lake', ...SEARCH]
  await one.run(args)
  one.fake.hold(companies(30).slice(1))
  const kept = await one.run(args)
  expect([kept.code, kept.stderr.match(/^warning: companies.*$/m)?.[0]]).toEqual([
    0,
    'warning: companies that left the service are not marked for search {"CountryCode":["SE"]}: ' +
      '1 of 30 companies of the search were not listed (3.33 %), more than the 2 % of --max-gone',
  ])
  const marked = await one.run([...args, '--max-gone', '1'])
  expect(marked.stdout).toContain('No longer listed by the service: 1 company, kept in companies_all')
  expect((await one.run([...args, '--max-gone', 'some'])).stderr).toContain('Cannot read --max-gone "some"')
  expect(await queryLake(one.lake, 'SELECT count(*) FROM companies')).toEqual([[29]])
})

test('pull that is killed resumes at its last page, when the same command is run again', async () => {
  let kill: (() => void) | undefined
  const one = await bench({
    companies: companies(60),
    before: (_, nth) => {
      if (nth !== 5) return undefined
      kill?.()
      return new Promise(() => undefined)
    },
  })
  await writeFile(join(one.folder, 'search.json'), '{"CountryCode":["SE"]}')
  const args = [
    'pull',
    'companies',
    '--lake',
    'lake',
    '--search',
    '@search.json',
    '--page-size',
    '10',
    '--json',
  ]
  const killed = await cli([...args, '--max-requests-per-second', '1000'], {
    cwd: one.folder,
    env: { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token },
    onStart: (child) => {
      kill = () => child.kill('SIGKILL')
    },
  })
  expect(killed.code).toBe(null)
  const asked = one.fake.pages.length
  const { code, stdout } = await one.run(args)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ records: 60, pull: { announced: 60, received: 60 } })
  // Four pages were answered; the last of them may have been on its way to the disk.
  expect(one.fake.pages.length - asked).toBeLessThanOrEqual(3)
  expect(await queryLake(one.lake, 'SELECT count(*) FROM companies_history')).toEqual([[60]])
})

test('pull ends with 75 where the service asks to wait too long, and goes on later', async () => {
  const one = await bench({
    companies: companies(50),
    before: (_, nth) => (nth === 3 ? { busy: 3600 } : undefined),
  })
  const args = ['pull', 'companies', '--lake', 'lake', ...SEARCH, '--page-size', '10', '--json']
  const busy = await one.run([...args, '--max-wait', '5s'])
  expect(busy.code).toBe(75)
  expect(errorCode(busy)).toBe('SERVICE_BUSY')
  const status = await runCommand(['status', '--lake', 'lake'], { cwd: one.folder })
  expect(status.stdout).toContain('firmlake resume')
  const asked = one.fake.pages.length
  const elsewhere = await one.run(['resume', '--lake', 'lake', '--json'], {
    env: { FIRMLAKE_URL: 'https://elsewhere.example', FIRMLAKE_TOKEN: one.fake.token },
  })
  expect([elsewhere.code, errorCode(elsewhere)]).toEqual([2, 'PLAN_ORIGIN'])
  const nowhere = await one.run(['resume', '--lake', 'lake', '--json'], {
    env: { FIRMLAKE_URL: '', FIRMLAKE_TOKEN: one.fake.token },
  })
  expect([nowhere.code, errorCode(nowhere)]).toEqual([2, 'USAGE'])
  expect(nowhere.stderr).toMatch(/FIRMLAKE_URL.*--url/)
  expect(one.fake.pages.length).toBe(asked)
  const resumed = await one.run(['resume', '--lake', 'lake', '--json', '--url', one.fake.url], {
    env: { FIRMLAKE_URL: 'https://elsewhere.example', FIRMLAKE_TOKEN: one.fake.token },
  })
  expect(resumed.code).toBe(0)
  expect(await queryLake(one.lake, 'SELECT count(*) FROM companies')).toEqual([[50]])
  expect(one.fake.pages.length).toBe(6)
})

test('run work sends the token only to the service that the worker names', async () => {
  const one = await bench({ companies: companies(50) })
  const planned = await one.run([
    ...['pull', '--plan-only', 'companies', '--lake', 'lake', ...SEARCH, '--json'],
    ...['--url', one.fake.url, '--max-wait', '1m'],
  ])
  expect(planned.code).toBe(0)
  const work = ['run', 'work', JSON.parse(planned.stdout).run, '--lake', 'lake', '--shard', '0/1', '--json']
  const asked = one.fake.pages.length
  const token = { FIRMLAKE_TOKEN: one.fake.token }
  const outcomes = []
  for (const FIRMLAKE_URL of ['https://elsewhere.example', '']) {
    const result = await runCommand(work, { cwd: one.folder, env: { ...token, FIRMLAKE_URL } })
    outcomes.push([result.code, errorCode(result)])
  }
  expect(outcomes).toEqual([
    [4, 'PLAN_ORIGIN'],
    [2, 'USAGE'],
  ])
  expect(one.fake.pages.length).toBe(asked)
  const env = { ...token, FIRMLAKE_URL: one.fake.url }
  expect((await runCommand(work, { cwd: one.folder, env })).code).toBe(0)
  expect(one.fake.pages.length).toBeGreaterThan(asked)
})

test('plan shows windows, requests and what no window covers, and pulls nothing', async () => {
  const some = companies(40).map((one) => (one.id > 30 ? { id: one.id, country: 'SE' } : one))
  const one = await bench({ companies: some })
  const args = ['plan', 'companies', ...SEARCH, '--cap', '20', '--page-size', '10']
  const { code, stdout } = await one.run(args)
  expect(code).toBe(0)
  expect(stdout).toContain('40 companies in 2 windows by ContentUpdatedAt')
  expect(stdout).toContain(
    '10 records of 40 not covered by any window, without ContentUpdatedAt; lists by InternalId find',
  )
  expect(stdout).toContain('Of the requests at most 1 list companies to find those, and 1 fetch them')
  expect(stdout).not.toContain('Batch files are the better way')
  const json = JSON.parse((await one.run([...args, '--json'])).stdout)
  expect(json).toMatchObject({ announced: 40, planned: 30, gap: 10, closing: { lists: 1, pages: 1 } })
  expect(json.requests).toBe(json.pages + 2 + 2)
  const open = await one.run([...args, '--no-close-gap'])
  expect(open.stdout).toContain('10 records of 40 not covered by any window: without ContentUpdatedAt')
  expect(open.stdout).toContain('Batch files are the better way: no window covers 10 of 40 records')
  expect(one.fake.pages).toEqual([])
})

test('sync reports new, changed, unchanged companies and those that left the search', async () => {
  const one = await bench({ companies: companies(10) })
  await one.run(['pull', 'companies', '--lake', 'lake', ...SEARCH])
  one.fake.hold(companies(12).slice(1))
  const { code, stdout } = await one.run(['sync', '--lake', 'lake', ...SEARCH, '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout).sync).toMatchObject({
    new: 2,
    changed: 0,
    unchanged: 9,
    vanished: [1],
    fetched: 2,
  })
  expect((await one.run(['sync', '--lake', 'lake', ...SEARCH])).stdout).toContain('1 left the search')
})

test('plan --parameters prints the live search parameters and the values of one', async () => {
  const one = await bench({ companies: companies(1) })
  expect((await one.run(['plan', 'relations', '--parameters'])).stdout).toContain('RelationsUpdatedAt')
  const { stdout } = await one.run(['plan', 'companies', '--parameter', 'countrycode', '--json'])
  expect(JSON.parse(stdout)).toEqual({
    content: 'companies',
    parameters: [{ name: 'CountryCode', datatype: 'string', values: [{ value: 'SE', name: 'SE' }] }],
  })
})

test('pull refuses what cannot be meant, and says what is wanted', async () => {
  const one = await bench({ companies: companies(1) })
  const pull = ['pull', 'companies', '--lake', 'lake', '--json']
  const outcomes = [
    [[...pull, '--search', '{"ContryCode":["SE"]}'], 1, 'PARAMETER_REFUSED'],
    [[...pull, '--search', '["SE"]'], 2, 'USAGE'],
    [[...pull, '--search', '{"CountryCode":"SE"}'], 2, 'USAGE'],
    [[...pull, '--search', '@none.json'], 1, 'SOURCE_NOT_FOUND'],
    [[...pull, ...SEARCH, '--since', 'yesterday'], 2, 'USAGE'],
    [['plan', 'companies', ...SEARCH, '--since', 'last', '--json'], 2, 'USAGE'],
    [[...pull, ...SEARCH, '--page-size', '501'], 2, 'USAGE'],
    [['pull', 'relations', '--lake', 'lake', '--json', ...SEARCH, '--currency', 'EUR'], 2, 'USAGE'],
    [['pull', 'people', '--lake', 'lake', '--json', ...SEARCH], 2, 'USAGE'],
  ] as const
  for (const [args, code, wanted] of outcomes) {
    const result = await one.run(args)
    expect([result.code, errorCode(result)]).toEqual([code, wanted])
  }
  const noToken = await one.run([...pull, ...SEARCH], {
    cwd: one.folder,
    env: { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: '' },
  })
  expect(errorCode(noToken)).toBe('TOKEN_MISSING')
  const noUrl = await one.run([...pull, ...SEARCH], { cwd: one.folder, env: { FIRMLAKE_URL: '' } })
  expect([noUrl.code, errorCode(noUrl)]).toEqual([2, 'USAGE'])
})

test('pull asks the service for any country, says that nothing was found, and exits with 1 where that is not enough', async () => {
  const one = await bench({ companies: companies(5) })
  const args = ['pull', 'companies', '--lake', 'lake', '--search', '{"CountryCode":["ZZ"]}']
  const plain = await one.run(args)
  expect(plain.code).toBe(0)
  expect(plain.stdout).toContain('Nothing found: the service has no companies of this search')
  const strict = await one.run([...args, '--require-records', '--json'])
  expect(strict.code).toBe(1)
  expect(errorCode(strict)).toBe('NOTHING_FOUND')
  expect(JSON.parse(strict.stdout).pull).toMatchObject({ nothingFound: true, announced: 0, received: 0 })
  const found = await one.run([...args.slice(0, 4), ...SEARCH, '--require-records', '--json'])
  expect(found.code).toBe(0)
  expect(JSON.parse(found.stdout).pull).toMatchObject({ nothingFound: false, received: 5 })
  const synced = await one.run(['sync', ...args.slice(2), '--require-records', '--json'])
  expect(synced.code).toBe(1)
  expect(JSON.parse(synced.stdout).sync).toMatchObject({ nothingFound: true, listed: 0 })
})
