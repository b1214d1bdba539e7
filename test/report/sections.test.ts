/** Charts, tables and `query` agree: each statement of a report is run again as it stands on the page. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { report } from '../../src/jobs/report.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { checkWords } from '../../src/report/checks.ts'
import { drawCheckNights } from '../../src/report/draw/check-nights.ts'
import { drawNights } from '../../src/report/draw/nights.ts'
import { numbersIn } from '../../src/report/numbers.ts'
import { loads } from '../../src/report/pages/loads.ts'
import { tiles } from '../../src/report/tiles.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { sharedLake } from '../support/lakes.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { loadEmptyLake } from './lakes.ts'
import { every, plain, sectionsOf, ungrouped } from './read-report.ts'

const written = async (lake: string): Promise<string> => {
  const to = join(await temporaryFolder(), 'report.html')
  await report({ lake, to })
  return readFile(to, 'utf8')
}

/** Numbers at the ends of bars. */
const barsOf = (drawing: string): readonly number[] =>
  every(drawing, /<\/svg><\/td><td class="n"><b>(.*?)<\/b>/g).map((text) => Number(ungrouped(text)))

test('a lake without records, and one without companies, give a whole report', async () => {
  const folder = await temporaryFolder()
  await loadEmptyLake(join(folder, 'empty'), folder)
  await convert({
    from: [fromRecords('one', [{ InternalId: 1, Name: 'x' }])],
    lake: join(folder, 'relations'),
  })
  for (const name of ['empty', 'relations']) {
    const page = await written(join(folder, name))
    expect(sectionsOf(page).length).toBe(25)
    // One sentence stands for a page without a row; what it would show is folded.
    const changes = page.split('<section id="changes"')[1]?.split('</section>')[0] ?? ''
    expect(plain(changes)).toContain('No figure came again with another value.\n')
    expect(changes).not.toContain('class="grid"')
    expect(changes.match(/<details><summary><h3 /g)?.length).toBe(3)
    expect(page).toMatch(/<\/html>\n$/)
  }
})

test('the command writes the file in one go, says what it wrote, and names what it could not', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await loadEmptyLake(lake, folder)
  const to = join(folder, 'out', 'report.html')
  const failed = await runCommand(['report', '--lake', lake, '--to', to, '--json'])
  expect([failed.code === 0, JSON.parse(failed.stderr).error.code]).toEqual([false, 'WRITE_FAILED'])
  const kept = join(folder, 'kept.html')
  await writeFile(kept, 'as it was')
  const absent = await runCommand(['report', '--lake', join(folder, 'none'), '--to', kept, '--json'])
  expect(JSON.parse(absent.stderr).error.code).toBe('LAKE_NOT_FOUND')
  expect(await readFile(kept, 'utf8')).toBe('as it was')
  const own = join(lake, 'lake.duckdb')
  const views = await readFile(own)
  const refused = await runCommand(['report', '--lake', lake, '--to', own, '--json'])
  expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'TARGET_REFUSED'])
  expect((await readFile(own)).equals(views)).toBe(true)
  const before = await readdir(folder)
  const result = await runCommandJson<{ bytes: number; path: string; snapshot: number }>([
    ...['report', '--lake', lake, '--to', kept, '--max-age', '26h', '--line-item', "It's"],
    ...['--min-companies', '1'],
  ])
  const page = await readFile(kept)
  expect(result).toMatchObject({ path: kept, bytes: page.length, snapshot: 1 })
  expect(page.toString('utf8')).toContain('Age of the newest load')
  expect(page.toString('utf8')).toMatch(/Companies in all[\s\S]{0,200}at least 1/)
  expect(await readdir(folder)).toEqual(before)
})

test('what was found and what is allowed have the digits that tell them apart', () => {
  const numbers = numbersIn('en')
  const check = { status: 'failed', expected: '' } as const
  expect([
    checkWords({ ...check, name: 'quarantined_share', value: 0.0100004, limit: 0.01 }, numbers),
    checkWords({ ...check, name: 'age_seconds', value: 93_700, limit: 93_600 }, numbers),
  ]).toMatchObject([
    { found: '1.00004\u00a0%', allowed: 'at most 1\u00a0%' },
    { found: '26.027778 h', allowed: 'at most 26 h' },
  ])
})

test('checks over the nights: those that failed first, with how often, and a part of the bar for each night', () => {
  const row = (rule: string, night: string, status: string, value: number | null, limit: number | null) => ({
    ...{ rule, night, status, value, value_limit: limit, expected: 'no finding' },
  })
  const rows = [
    row('balance', '2026-11-26', 'note', 3, null),
    row('restated_share', '2026-11-26', 'passed', 0.004, 0.01),
    row('own_<rule>', '2026-11-26', 'passed', 0, null),
    row('balance', '2026-11-25', 'passed', 0, null),
    row('restated_share', '2026-11-25', 'failed', 0.257, 0.01),
    row('restated_share', '2026-11-24', 'passed', 0, 0.01),
  ]
  const drawn = drawCheckNights(rows, numbersIn('en')).text
  expect(every(drawn, /<tr>([\s\S]*?)<\/tr>/g).map(plain)).toEqual([
    'Companies that a load restatesat most 1\u00a0%; ✖ failed on 1 of 3 nights, last 25\u00a0Nov0.4\u00a0%',
    'Assets do not add upnone3 notes',
    'own_<rule>no finding0',
  ])
  const lefts = every(drawn, /<svg([\s\S]*?)<\/svg>/g).map((svg) =>
    [...svg.matchAll(/class="(f.)" x="([\d.]+)"/g)].map(([, tone, left]) => [tone, Number(left)]),
  )
  expect(lefts).toEqual([
    [
      ['fu', 66.67],
      ['fb', 33.33],
      ['fu', 0],
    ],
    [
      ['fr', 66.67],
      ['fu', 33.33],
    ],
    [['fu', 66.67]],
  ])
})

test('what failed comes first, with links; a run that failed after the newest snapshot with its reason as status has it', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const file = join(folder, 'a.jsonl')
  await writeFile(file, '{"InternalId": 1}\n{"broken"\n')
  await convert({ from: [file], lake, content: 'relations', maxQuarantined: 1 })
  const { time: loaded } = await readSnapshot(lake)
  const options = { lake, maxAgeMs: 3_600_000, maxQuarantined: 0.25, maxGap: 3 }
  const pageOf = async (name: string): Promise<string> => {
    const to = join(folder, `${name}.html`)
    await report({ ...options, to, now: () => new Date(Date.parse(loaded) + 90 * 60_000) })
    return readFile(to, 'utf8')
  }
  const verdictOf = (page: string): readonly string[] => {
    const [verdict = ''] = every(page, /<div class="verdict">([\s\S]*?)<\/ul><\/div>/g)
    return every(verdict, /<(?:h2|p|li)>([\s\S]*?)<\/(?:h2|p|li)>/g).map(plain)
  }
  const before = await pageOf('before')
  expect(verdictOf(before)).toEqual([
    '✖ 2 of 11 checks failed',
    '9 are good',
    'The newest load is 90 min oldexpected: at most 60 min',
    '50\u00a0% of the newest load’s lines are badexpected: at most 25\u00a0%',
  ])
  const links = every(before.split('class="verdict"')[1] ?? '', /<li><a href="#(.*?)">/g)
  expect(links).toEqual(['loads', 'quarantine'])
  for (const id of links) expect(before).toContain(`id="${id}"`)
  const tiles = every(before, /<div><dt>(.*?)<\/div>/g).map(plain)
  expect(tiles[5]).toBe('Quarantined lines11 by the newest load')

  const failed = await runCommand(['convert', file, '--again', '--lake', lake, '--max-quarantined', '0'])
  expect(failed.code).toBe(3)
  const { unfinished: known } = await runCommandJson<{
    unfinished: { run: string; failure: { code: string; message: string } }[]
  }>(['status', '--lake', lake])
  const [{ run, failure } = { run: '', failure: { code: '', message: '' } }, ...others] = known
  expect(others).toEqual([])
  const after = await pageOf('after')
  const verdict = verdictOf(after)
  expect(verdict[0]).toBe('✖ The newest run failed')
  expect(verdict[1]).toMatch(
    /^\d+\u00a0[A-Z][a-z]{2}\u00a0\d{4},\u00a0\d\d:\d\d\u00a0UTC; 2 of 11 checks failed$/,
  )
  expect(verdict.slice(2, 5)).toEqual([
    `Why it failed${failure.code}: ${failure.message}`,
    'The lake is wholeeverything here is of snapshot 1; nothing was half written',
    `To continuerun the same command again, or firmlake resume ${run}`,
  ])
  const [runs = ''] = every(after, /Runs without a snapshot<\/caption>([\s\S]*?)<\/table>/g)
  expect(plain(runs)).toContain(`${run}gone${failure.code}: ${failure.message}`)
})

test('title, name, language of numbers and an explorer are options; others are refused', async () => {
  const folder = await temporaryFolder()
  const lake = await sharedLake('deliveries')
  const to = join(folder, 'report.html')
  await runCommand([
    ...['report', '--lake', lake, '--to', to, '--title', 'Our <firms>', '--logo-text', 'A & B'],
    ...['--language', 'sv', '--explorer', 'https://lake.example.com/x/#/loads'],
  ])
  const page = await readFile(to, 'utf8')
  expect(page).toContain('<h1>Our &lt;firms&gt;</h1>')
  expect(page).toContain('<title>Our &lt;firms&gt;: report of snapshot 2</title>')
  expect(page).toContain('</svg>A &amp; B</a>')
  expect(page).toMatch(/<dt>Figures<\/dt><dd>\d\d\u00a0\d{3}</)
  expect(page).toMatch(/<a href="https:\/\/lake\.example\.com\/x\/#\/company\/\d+">/)
  expect(page).not.toContain('#company-')
  for (const wrong of [{ language: 'no_language' }, { explorer: 'javascript:alert(1)' }]) {
    const [[name, value] = ['', '']] = Object.entries(wrong)
    await expect(report({ lake, to, ...wrong })).rejects.toMatchObject({ code: 'USAGE' })
    const refused = await runCommand(['report', '--lake', lake, '--to', to, `--${name}`, value])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`--${name} "${value}"`)])
  }
  expect(await readFile(to, 'utf8')).toBe(page)
})

test('nights that failed and nights without a load are rows of their own', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const load = async (day: number, text: string): Promise<void> => {
    vi.setSystemTime(Date.UTC(2026, 2, day, 2))
    const file = join(folder, `${day}.jsonl`)
    await writeFile(file, text)
    await convert({ from: [file], lake, content: 'companies', maxQuarantined: 0 }).catch(() => undefined)
  }
  const company = (id: number): string => `${JSON.stringify({ BasicDetails: { InternalId: id } })}\n`
  await load(1, company(1) + company(2))
  await load(3, '{"broken"\n')
  await load(4, company(1))
  vi.setSystemTime(Date.UTC(2026, 2, 6, 9))
  const nights = sectionsOf(await written(lake)).find(({ id }) => id === 'nights')
  expect(nights?.rows).toEqual([
    ['2026-03-05', '0', '0', '0', '0', '0', '0', '0', 'no load'],
    ['2026-03-04', '1', '0', '0', '0', '1', '0', '1', 'loaded'],
    ['2026-03-03', '0', '0', '0', '0', '0', '0', '0', 'failed'],
    ['2026-03-02', '0', '0', '0', '0', '0', '0', '0', 'no load'],
    ['2026-03-01', '2', '2', '0', '0', '0', '0', '1', 'loaded'],
  ])
  // A lake that nobody has loaded for long shows its nights all the same.
  vi.setSystemTime(Date.UTC(2027, 2, 6))
  const later = sectionsOf(await written(lake)).find(({ id }) => id === 'nights')
  expect(later?.rows.length).toBe(18)
  const earlier = await query({ lake, sql: later?.sql ?? '' })
  expect(earlier.length).toBe(18)
})

test('a company that several loads of a night bring counts once, as the first that holds', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const load = async (day: number, sales: Readonly<Record<number, number>>): Promise<void> => {
    vi.setSystemTime(Date.UTC(2026, 2, day, 2))
    const records = Object.entries(sales).map(([id, value]) => ({
      BasicDetails: { InternalId: Number(id) },
      Financials: { ProfitAndLoss: { NetSales: { 2025: value } } },
    }))
    await convert({ from: [fromRecords('crm', records)], lake, again: true })
  }
  await load(1, { 1: 5, 2: 6 })
  await load(1, { 1: 5, 3: 7 })
  await load(2, { 1: 5, 2: 8 })
  await load(2, { 1: 9, 2: 8, 3: 7 })
  const [nights] = loads({}).sections
  const rows = await query({ lake, sql: nights?.sql ?? '' })
  const none = { changed: 0, older: 0, loads: 2, state: 'loaded' }
  expect(rows).toEqual([
    // 1 restated by the second load, 2 by the first one, 3 as it was.
    { night: '2026-03-02', companies: 3, added: 0, restated: 2, unchanged: 1, ...none },
    { night: '2026-03-01', companies: 3, added: 3, restated: 0, unchanged: 0, ...none },
  ])
  expect(plain(nights?.draw?.(rows, { numbers: numbersIn('en'), companyHref: String }).text ?? '')).toContain(
    '1\u00a0Mar\u00a02026',
  )
})

test('loads of one kind are compared, and fewer than four are no line', () => {
  const numbers = numbersIn('en')
  const load = (kind: string, records: number) => ({ kind, records, seconds: records / 10, companies: 7 })
  const trend = [
    load('companies from search', 30),
    load('relations from search', 999),
    load('companies from search', 20),
    load('companies from file', 5000),
  ]
  const drawn = tiles({}, trend, [], numbers).text
  const shown = every(drawn, /<div>([\s\S]*?)<\/div>/g)
  expect(shown.slice(3, 5).map(plain)).toEqual([
    'Newest load30records; 20 by the one before',
    'The load took3.0\u00a0susually 2.0\u00a0s',
  ])
  expect(shown.map((one) => one.includes('<svg'))).toEqual([true, true, true, false, false, true])
})

test('weights are those that every font has', async () => {
  for (const sheet of ['report/sheet.css', 'web/app.css']) {
    const text = await readFile(join(import.meta.dirname, '../../src', sheet), 'utf8')
    expect([...new Set(every(text, /font-weight: (\d+)/g))].sort()).toEqual(['400', '500', '700'])
  }
})

const nightsOf = (companies: readonly number[]) =>
  companies
    .map((added, at) => ({
      ...{ night: `2026-03-${String(at + 1).padStart(2, '0')}`, companies: added + 1, added, unchanged: 1 },
      state: 'loaded',
    }))
    .toReversed()

test('a night that would hide all others is cut, with a gap in its bar and its number above it', () => {
  const numbers = numbersIn('en')
  const many = drawNights(nightsOf([3000, 4, 0, 6, 5, 5, 5, 5]), false, numbers).text
  expect(every(many, /<text class="v"[^>]*>(.*?)<\/text>/g)).toEqual(['3,001'])
  expect(every(many, /(class="cut")/g).length).toBe(2)
  expect(plain(many)).toContain('cut, with its number above')
  const even = drawNights(nightsOf([3, 4, 0, 6, 5, 5, 5, 5]), true, numbers).text
  expect(even).not.toContain('class="cut"')
  expect(every(even, /<text class="tx-bad"[^>]*>(.*?)<\/text>/g)).toEqual(['▼'])
  const few = drawNights(nightsOf([3000, 4]), false, numbers).text
  expect(barsOf(few)).toEqual([5, 3001])
  // Beside its number a bar is whole.
  expect(few).not.toContain('class="cut"')
})
