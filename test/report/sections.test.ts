/** Charts, tables and `query` agree: each statement of a report is run again as it stands on the page. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert/convert.ts'
import { query } from '../../src/jobs/query/query.ts'
import { report } from '../../src/jobs/report/report.ts'
import { stackedBars } from '../../src/report/charts.ts'
import { everyNight } from '../../src/report/rows.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { loadSampleLake } from '../analysis/sample-lake.ts'
import { cliHere, cliJson } from '../cli/run-cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { loadEmptyLake } from './lakes.ts'
import { every, plain, sectionsOf } from './read-report.ts'

const shownAs = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

const written = async (lake: string): Promise<string> => {
  const to = join(await temporaryFolder(), 'report.html')
  await report({ lake, to })
  return readFile(to, 'utf8')
}

test('every statement on the page gives in query what stands in its table and its chart', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await loadSampleLake(lake)
  const sections = sectionsOf(await written(lake))
  expect(sections.length).toBe(17)
  for (const { id, sql, columns, rows } of sections) {
    const answer = await query({ lake, sql })
    expect([id, rows]).toEqual([id, answer.map((row) => Object.values(row).map(shownAs))])
    if (answer[0]) expect(columns.map((name) => name.replaceAll(' ', '_'))).toEqual(Object.keys(answer[0]))
  }
  const numbers = sections.find(({ id }) => id === 'numbers')?.rows[0]
  expect(numbers?.[1]).toBe('912')
  const nights = sections.find(({ id }) => id === 'nights')?.rows ?? []
  const sums = [1, 2, 3, 4, 5].map((at) => nights.reduce((sum, row) => sum + Number(row[at]), 0))
  expect(sums).toEqual([959, 912, 11, 36, 0])
  // A heat map shows each share as a number in its field.
  const shares = sections.find(({ id }) => id === 'item-0')
  const fields = every(shares?.chart ?? '', />(\d+%)<\/text>/g)
  expect([...fields].sort()).toEqual(
    (shares?.rows ?? []).map((row) => `${Math.round(Number(row[3]) * 100)}%`).sort(),
  )
})

test('a lake without records, and one without companies, give a whole report', async () => {
  const folder = await temporaryFolder()
  await loadEmptyLake(join(folder, 'empty'), folder)
  await convert({
    from: [fromRecords('one', [{ InternalId: 1, Name: 'x' }])],
    lake: join(folder, 'relations'),
  })
  for (const name of ['empty', 'relations']) {
    const page = await written(join(folder, name))
    expect(sectionsOf(page).length).toBe(17)
    expect(page).toMatch(/<\/html>\n$/)
  }
})

test('the command writes the file in one go, says what it wrote, and names what it could not', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await loadEmptyLake(lake, folder)
  const to = join(folder, 'out', 'report.html')
  const failed = await cliHere(['report', '--lake', lake, '--to', to, '--json'])
  expect([failed.code === 0, JSON.parse(failed.stderr).error.code]).toEqual([false, 'WRITE_FAILED'])
  const kept = join(folder, 'kept.html')
  await writeFile(kept, 'as it was')
  const absent = await cliHere(['report', '--lake', join(folder, 'none'), '--to', kept, '--json'])
  expect(JSON.parse(absent.stderr).error.code).toBe('LAKE_NOT_FOUND')
  expect(await readFile(kept, 'utf8')).toBe('as it was')
  const own = join(lake, 'lake.duckdb')
  const views = await readFile(own)
  const refused = await cliHere(['report', '--lake', lake, '--to', own, '--json'])
  expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'TARGET_REFUSED'])
  expect((await readFile(own)).equals(views)).toBe(true)
  const before = await readdir(folder)
  const result = await cliJson<{ bytes: number; path: string; snapshot: number }>([
    ...['report', '--lake', lake, '--to', kept, '--max-age', '26h', '--line-item', "It's"],
    ...['--min-companies', '1'],
  ])
  const page = await readFile(kept)
  expect(result).toMatchObject({ path: kept, bytes: page.length, snapshot: 1 })
  expect(page.toString('utf8')).toContain('age_seconds')
  expect(page.toString('utf8')).toMatch(/companies[\s\S]{0,200}at least 1/)
  expect(await readdir(folder)).toEqual(before)
})

test('the overview judges its cards by the checks, and a run that failed is shown with its reason as status does', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const file = join(folder, 'a.jsonl')
  await writeFile(file, '{"InternalId": 1}\n{"broken"\n')
  await convert({ from: [file], lake, content: 'relations', maxQuarantined: 1 })
  await convert({ from: [fromRecords('one', [{ InternalId: 1, Name: 'x' }])], lake })
  const failed = await cliHere(['convert', file, '--again', '--lake', lake, '--max-quarantined', '0'])
  expect(failed.code).toBe(3)
  const to = join(folder, 'report.html')
  await report({
    lake,
    to,
    maxAgeMs: 3_600_000,
    maxQuarantined: 0,
    now: () => new Date(Date.now() + 90 * 60_000),
  })
  const page = await readFile(to, 'utf8')
  const cards = every(page, /<div><dt>(.*?)<\/div>/g).map(plain)
  expect(cards[0]).toMatch(/^Newest load\d{4}-\d\d-\d\d\d\d:\d\d UTC, 1 hour before this report✖ failed$/)
  // The newest load is sound; the night also had one that was not.
  expect(cards[5]).toBe('quarantined in the newest night1! look at it')
  expect(cards[6]).toBe('quarantined by all loads1')
  const [runs = ''] = every(page, /<caption>Runs without a snapshot<\/caption>([\s\S]*?)<\/table>/g)
  const { unfinished: known } = await cliJson<{
    unfinished: { run: string; failure: { code: string; message: string } }[]
  }>(['status', '--lake', lake])
  expect(known.length).toBe(1)
  for (const { run, failure } of known)
    expect(plain(runs)).toContain(`${run}gone${failure.code}: ${failure.message}`)
})

test('a night without a load stays empty between others', () => {
  const rows = everyNight([
    { night: '2026-02-27', lines: 2 },
    { night: '2026-03-02', lines: 3 },
  ])
  expect(rows).toEqual([
    { night: '2026-02-27', lines: 2 },
    { night: '2026-02-28' },
    { night: '2026-03-01' },
    { night: '2026-03-02', lines: 3 },
  ])
  expect(everyNight([])).toEqual([])
  const far = [{ night: '2020-01-01' }, { night: '2026-01-01' }]
  expect(everyNight(far)).toEqual(far)
})

test('a bar that would hide all others is cut, and its number stands below it', () => {
  const rows = [300, 4, 0, 6].map((added, at) => ({ night: `2026-03-0${at + 1}`, added, changed: 1 }))
  const { option, summary } = stackedBars(rows, 'night', { added: 'new', changed: 'changed' })
  expect(option).toMatchObject({
    yAxis: { max: 7 },
    xAxis: { data: ['2026-03-01 ↑ 301', '2026-03-02', '2026-03-03', '2026-03-04'] },
    series: [{ data: [300, 4, 0, 6] }, { data: [1, 1, 1, 1] }],
  })
  expect(summary).toContain('the bar 2026-03-01 ↑ 301 is cut')
  const even = stackedBars(rows.slice(1), 'night', { added: 'new' })
  expect(even.option.yAxis).not.toHaveProperty('max')
  expect(even.summary).not.toContain('cut')
})
