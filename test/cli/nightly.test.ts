/** A night by `firmlake.toml`: several parts, one of which fails; killed, and started again. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { NightPart } from '../../src/nightly/night-parts.ts'
import { companyLine } from '../run/batch-bench.ts'
import { openPullBench, type PullBench } from '../service/pull-bench.ts'
import { runCommand } from '../support/run-command.ts'

const NO_VARIABLES = { FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_TOKEN: '', FIRMLAKE_CONFIG: '' }
/** The clock of this machine, which the command has too. */
const NOW = new Date().toISOString()
const COMPANIES = [1, 2, 3].map((id) => ({ id, country: 'SE' }))

/** A folder with `firmlake.toml` for a service, and its token in `.env`. */
const nightFolder = async ({ fake, lake }: PullBench, more: string): Promise<string> => {
  const folder = join(dirname(lake), 'night')
  await mkdir(join(folder, 'inbox'), { recursive: true, mode: 0o755 })
  const head = `lake = ${JSON.stringify(lake)}\n[service]\nurl = "${fake.url}"\ntoken_env = "NIGHT_TOKEN"\nmax_requests_per_second = 500\n`
  await writeFile(join(folder, 'firmlake.toml'), head + more, { mode: 0o644 })
  await writeFile(join(folder, '.env'), `NIGHT_TOKEN=${fake.token}\n`, { mode: 0o600 })
  return folder
}

interface NightResult {
  readonly outcome: string
  readonly parts: readonly NightPart[]
  readonly error?: { readonly code: string }
}

const night = async (cwd: string, args: readonly string[] = []) => {
  const { code, stdout, stderr } = await runCommand(['nightly', ...args, '--quiet'], {
    cwd,
    env: NO_VARIABLES,
  })
  expect(stderr).toBe('')
  const result = JSON.parse(stdout) as NightResult
  const states = Object.fromEntries(result.parts.map(({ name, state }) => [name, state]))
  return { code, result, states, snapshots: result.parts.map(({ snapshot }) => snapshot) }
}

const PULLS = `
[[pull]]
name = "swedish"
content = "companies"
search = { CountryCode = ["SE"] }
[[pull]]
name = "owners"
content = "relations"
search = { CountryCode = ["SE"] }
`
const FILES = '[[files]]\nname = "own"\nfrom = ["inbox/*.jsonl"]\n'

test('a night says where each part begins and how it has ended', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const folder = await nightFolder(one, `${PULLS}[check]\nmin_companies = 4\n`)
  const { code, stderr } = await runCommand(['nightly'], { cwd: folder, env: NO_VARIABLES })
  expect(code).toBe(5)
  expect(stderr.replaceAll(/ after \d+\.\d s/g, ' after 1.0 s').split('\n')).toEqual([
    'swedish begins',
    'owners begins',
    'swedish done after 1.0 s: 3 records, snapshot 1',
    'owners done after 1.0 s: 3 records, snapshot 1',
    'check begins',
    expect.stringMatching(/^check failed after 1\.0 s: CHECK_FAILED, .*companies/),
    '',
  ])
})

test('a night does all that the file says in one snapshot, and a quiet one makes none', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const more = `${PULLS}${FILES}[targets]\npublish = ["delta"]\nsinks = ["csv:out"]\n[gc]\nkeep_days = 30\n[check]\nmax_age = "26h"\nmin_companies = 4\n[report]\nto = "report.html"\n[compact]\npartitions = 50\n`
  const folder = await nightFolder(one, more)
  await writeFile(join(folder, 'inbox', 'a.jsonl'), `${companyLine(900)}\n`)
  const first = await night(folder)
  expect(first.result.error).toBeUndefined()
  expect(first.code).toBe(0)
  expect(first.states).toEqual({
    ...{ swedish: 'done', owners: 'done', own: 'done', targets: 'done' },
    ...{ compact: 'nothing', gc: 'nothing', check: 'done', report: 'done' },
  })
  expect(first.snapshots.slice(0, 3)).toEqual([1, 1, 1])
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['out', 'report.html']))
  const quiet = await night(folder)
  expect(quiet.code).toBe(0)
  expect(quiet.states).toMatchObject({ swedish: 'nothing', owners: 'nothing', own: 'nothing', check: 'done' })
  expect((await one.snapshot()).snapshot).toBe(1)
})

test('a part that fails holds back no other, unless it is needed; the exit code is that of the first failure', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const refused = '[[pull]]\nname = "refused"\ncontent = "companies"\nsearch = { NoSuchParameter = [1] }\n'
  const folder = await nightFolder(one, `${refused}${PULLS}[check]\nmin_companies = 100\ndata = false\n`)
  const first = await night(folder)
  expect(first.code).toBe(1)
  expect(first.states).toEqual({ refused: 'failed', swedish: 'done', owners: 'done', check: 'failed' })
  expect(first.result).toMatchObject({ outcome: 'failed', error: { code: 'PARAMETER_REFUSED' } })
  expect(first.result.parts[3]).toMatchObject({
    code: 'CHECK_FAILED',
    reason: expect.stringContaining('companies'),
  })
  await nightFolder(one, `${refused}needed = true\n${PULLS}[check]\nmin_companies = 100\n`)
  expect((await night(folder)).states).toEqual({
    ...{ refused: 'failed', swedish: 'held-back', owners: 'held-back', check: 'held-back' },
  })
  await nightFolder(one, `${PULLS}[check]\nmin_companies = 100\ndata = false\n`)
  const checked = await runCommand(['nightly', '--text'], { cwd: folder, env: NO_VARIABLES })
  expect(checked.stdout).toContain('\nThe night failed after ')
  expect(checked.code).toBe(5)
  expect(checked.stdout).toMatch(/check +check +failed +CHECK_FAILED: .*1 of 2 checks failed: companies/)
  expect((await one.snapshot()).snapshot).toBe(1)
})

test('a night compacts once the lake has enough partitions, in a snapshot of its own', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const folder = await nightFolder(one, `${PULLS}[compact]\npartitions = 2\n[gc]\nkeep = 1\n`)
  const { states, result } = await night(folder)
  expect(states).toEqual({ swedish: 'done', owners: 'done', compact: 'done', gc: 'done' })
  expect(result.parts[2]).toMatchObject({ snapshot: 2 })
  expect(await one.snapshot()).toMatchObject({ snapshot: 2, pipeline: 'compact' })
})

test('a night names what is not set: the variable of the token, the lake', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const folder = await nightFolder(one, PULLS)
  await writeFile(join(folder, '.env'), '', { mode: 0o600 })
  const { code, stdout } = await runCommand(['nightly'], { cwd: folder, env: NO_VARIABLES })
  expect([code, JSON.parse(stdout)]).toMatchObject([
    2,
    { error: { code: 'TOKEN_MISSING', message: expect.stringContaining('"NIGHT_TOKEN"') } },
  ])
  await writeFile(join(folder, 'firmlake.toml'), PULLS)
  const nothing = await runCommand(['nightly'], { cwd: folder, env: NO_VARIABLES })
  expect([nothing.code, JSON.parse(nothing.stdout)]).toMatchObject([2, { error: { code: 'USAGE' } }])
})

const CHECKED_FIRST = '[check]\nbefore = "commit"\nrules = "rules"\nmax_age = "26h"\n'

/** Bytes of all files below a folder, by their paths. */
const bytesBelow = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const paths = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = paths.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (path) => [path, await readFile(path, 'base64')] as const)),
  )
}

test('a night holds back what makes a check fail: targets stay as they were, and release shows all of its loads', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const targets = '[targets]\npublish = ["delta", "iceberg"]\nsinks = ["csv:out"]\n'
  const folder = await nightFolder(one, `${PULLS}${FILES}${targets}${CHECKED_FIRST}`)
  await mkdir(join(folder, 'rules'))
  await writeFile(
    join(folder, 'rules', 'small.sql'),
    'SELECT internal_id, value FROM financials WHERE value > 5000',
  )
  await writeFile(join(folder, 'inbox', 'a.jsonl'), `${companyLine(900)}\n`)
  const first = await night(folder)
  expect([first.code, first.states.own]).toEqual([0, 'done'])
  const [shown, out] = [await bytesBelow(join(one.lake, 'published')), await bytesBelow(join(folder, 'out'))]
  await writeFile(join(folder, 'inbox', 'b.jsonl'), `${companyLine(9000)}\n`)
  one.fake.hold([
    ...COMPANIES,
    { id: 4, country: 'SE', dates: { ContentUpdatedAt: NOW, RelationsUpdatedAt: NOW } },
  ])
  const second = await night(folder)
  expect(second.code).toBe(5)
  expect(second.result.error).toMatchObject({ code: 'LOAD_HELD' })
  expect(second.states).toMatchObject({ swedish: 'failed', owners: 'failed', own: 'failed', targets: 'done' })
  expect(second.result.parts[2]?.reason).toMatch(/^Snapshot 2 is held back: .*small \(found 2, /)
  expect(await bytesBelow(join(one.lake, 'published'))).toEqual(shown)
  expect(await bytesBelow(join(folder, 'out'))).toEqual(out)
  const third = await night(folder)
  expect([third.code, third.result.parts[0]?.reason]).toEqual([
    5,
    expect.stringContaining('is held back since'),
  ])
  const status = await runCommand(['status', '--json'], { cwd: folder, env: NO_VARIABLES })
  expect(JSON.parse(status.stdout).held).toMatchObject({
    ...{ snapshot: 2, run: expect.any(String), at: expect.any(String) },
    checks: [{ name: 'small', value: 2 }],
  })
  const asked = one.fake.pages.length + one.fake.counts()
  const released = await runCommand(['release', '--json'], { cwd: folder, env: NO_VARIABLES })
  expect([released.code, JSON.parse(released.stdout)]).toMatchObject([0, { snapshot: 2, records: 3 }])
  expect(one.fake.pages.length + one.fake.counts()).toBe(asked)
  expect(await one.query('SELECT list(internal_id ORDER BY internal_id) FROM companies')).toEqual([
    [[1, 2, 3, 4, 900, 9000]],
  ])
  const quiet = await night(folder)
  expect([quiet.code, quiet.states]).toMatchObject([
    0,
    { swedish: 'nothing', own: 'nothing', targets: 'done' },
  ])
  expect(await bytesBelow(join(folder, 'out'))).not.toEqual(out)
})

test('a dry night says how the lake would change, offline what it would ask, and changes nothing', async () => {
  const one = await openPullBench({ companies: COMPANIES, now: NOW })
  const folder = await nightFolder(
    one,
    `${PULLS}${FILES}[targets]\nsinks = ["csv:out"]\n[gc]\nkeep_days = 30\n`,
  )
  await writeFile(join(folder, 'inbox', 'a.jsonl'), `${companyLine(900)}\n`)
  const offline = await night(folder, ['--dry-run', '--offline'])
  expect(offline.code).toBe(0)
  expect(offline.states).toEqual({
    swedish: 'planned',
    owners: 'planned',
    own: 'planned',
    targets: 'planned',
    gc: 'planned',
  })
  expect(offline.result.parts[0]?.reason).toMatch(
    /^would pull the companies of the search \{"CountryCode":\["SE"\]\}, changed since the last pull, from http/,
  )
  expect(one.fake.pages.length + one.fake.counts()).toBe(0)
  expect((await night(folder)).code).toBe(0)
  const before = await bytesBelow(one.lake)
  one.fake.hold([
    ...COMPANIES,
    { id: 4, country: 'SE', dates: { ContentUpdatedAt: NOW, RelationsUpdatedAt: NOW } },
  ])
  await writeFile(join(folder, 'inbox', 'b.jsonl'), `${companyLine(901)}\n`)
  const { code, stdout } = await runCommand(['nightly', '--dry-run'], { cwd: folder, env: NO_VARIABLES })
  const result = JSON.parse(stdout)
  expect([code, result.dryRun]).toMatchObject([
    0,
    { snapshot: 2, changes: { companies: { new: 2, changed: 0, gone: 0 } } },
  ])
  expect(result.parts.map(({ state }: NightPart) => state)).toEqual([
    'done',
    'done',
    'done',
    'planned',
    'planned',
  ])
  expect(await bytesBelow(one.lake)).toEqual(before)
})

const DAYS_MS = 24 * 3_600_000

test('a night that brings changes alone says since when nobody has looked for companies that left; a whole one finds them', async () => {
  let daysAgo = 9
  const all = [1, 2, 3, 4, 5, 6].map((id) => ({ id, country: 'SE' }))
  const one = await openPullBench({
    companies: all,
    now: () => new Date(Date.now() - daysAgo * DAYS_MS).toISOString(),
  })
  const search = 'content = "companies"\nsearch = { CountryCode = ["SE"] }\n'
  const sections = (more: string): string =>
    `trust_clock = true\n[load]\nmax_gone = "50%"\n[[pull]]\nname = "swedish"\n${search}${more}[check]\ndata = false\n`
  const folder = await nightFolder(one, sections(''))
  expect((await night(folder)).states).toEqual({ swedish: 'done', check: 'failed' })
  const first = await one.snapshot()
  one.fake.hold(all.slice(1))
  daysAgo = 1
  const unlooked = await night(folder)
  const day = first.pulls?.[0]?.asOf.slice(0, 10)
  expect(unlooked.result).toMatchObject({ gone: null })
  expect(unlooked.result.parts).toMatchObject([
    { state: 'nothing', reason: `no new record came; left companies: not looked for since ${day}` },
    {
      code: 'CHECK_FAILED',
      reason: expect.stringMatching(/unlooked_seconds \(found 9 d, expected at most 8 d\)/),
    },
  ])
  const asked = await runCommand(['query', 'SELECT gone_since FROM companies_all'], {
    cwd: folder,
    env: NO_VARIABLES,
  })
  expect(asked.stderr).toContain(`gone_since knows the companies that had left by ${day}`)

  await nightFolder(one, sections('whole = "sunday"\n'))
  const whole = await night(folder)
  expect([whole.code, whole.states]).toEqual([0, { swedish: 'done', check: 'done' }])
  expect(whole.result).toMatchObject({ gone: [{ marked: 1 }] })
  expect(whole.result.parts[0]).toMatchObject({ reason: '1 company left the service' })
  expect(await one.query('SELECT list(internal_id ORDER BY internal_id) FROM companies')).toEqual([
    [[2, 3, 4, 5, 6]],
  ])
  // Changes alone, and not a second time all.
  const pages = one.fake.pages.length
  await night(folder)
  expect(one.fake.pages.length - pages).toBeLessThanOrEqual(1)
})

/** Nights with a sync, whose service is some days behind. */
const syncNights = async (daysAgo: () => number) => {
  const all = [1, 2, 3, 4, 5, 6].map((id) => ({ id, country: 'SE' }))
  const one = await openPullBench({
    companies: all,
    now: () => new Date(Date.now() - daysAgo() * DAYS_MS).toISOString(),
  })
  const folder = await nightFolder(
    one,
    'trust_clock = true\n[load]\nmax_gone = "50%"\n[[sync]]\nname = "swedish"\nsearch = { CountryCode = ["SE"] }\n',
  )
  return { one, all, next: () => night(folder) }
}

test('a sync that finds only companies that left is done', async () => {
  const { one, all, next } = await syncNights(() => 0)
  await next()
  const quiet = await next()
  expect([quiet.states, (await one.snapshot()).snapshot]).toEqual([{ swedish: 'nothing' }, 1])
  one.fake.hold(all.slice(1))
  const left = await next()
  expect(left.result.parts).toMatchObject([
    { state: 'done', snapshot: 2, records: 0, reason: '1 company left the service' },
  ])
})

test('a sync that finds nothing is written down once its record is six days old', async () => {
  let daysAgo = 5
  const { one, next } = await syncNights(() => daysAgo)
  await next()
  await next()
  expect((await one.snapshot()).snapshot).toBe(1)
  const other = await syncNights(() => daysAgo)
  daysAgo = 6
  await other.next()
  daysAgo = 0
  const { result } = await other.next()
  expect((await other.one.snapshot()).pulls).toHaveLength(2)
  expect(result.parts[0]?.reason).toBe('no new record came')
})
