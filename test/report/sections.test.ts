/** Charts, tables and `query` agree: each statement of a report is run again as it stands on the page. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { report } from '../../src/jobs/report.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { loadSampleLake } from '../analysis/sample-lake.ts'
import { cli, cliJson } from '../cli/run-cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { loadEmptyLake } from './lakes.ts'

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const plain = (text: string): string =>
  text.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
const every = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, inner = '']) => inner)

interface Shown {
  readonly id: string
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly chart: string
}

/** The sections of a report, read from its HTML. */
const sectionsOf = (page: string): readonly Shown[] =>
  page
    .split('<h3 ')
    .slice(1)
    .filter((part) => part.includes('<code>'))
    .map((part) => ({
      id: every(part, /^id="([^"]*)"/g)[0] ?? '',
      sql: plain(every(part, /<code>([\s\S]*?)<\/code>/g)[0] ?? ''),
      columns: every(part, /<th scope="col">(.*?)<\/th>/g).map(plain),
      rows: every(part.split('<tbody>')[1] ?? '', /<tr>([\s\S]*?)<\/tr>/g).map((row) =>
        every(row, /<td[^>]*>([\s\S]*?)<\/td>/g).map(plain),
      ),
      chart: every(part, /<svg([\s\S]*?)<\/svg>/g)[0] ?? '',
    }))

const shownAs = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

const written = async (lake: string): Promise<string> => {
  const to = join(await temporaryFolder(), 'report.html')
  await report(lake, { to })
  return readFile(to, 'utf8')
}

test('every statement on the page gives in query what stands in its table and its chart', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await loadSampleLake(lake)
  const sections = sectionsOf(await written(lake))
  expect(sections.length).toBe(17)
  for (const { id, sql, columns, rows } of sections) {
    const answer = await query(lake, sql)
    expect([id, rows]).toEqual([id, answer.map((row) => Object.values(row).map(shownAs))])
    if (answer[0]) expect(columns.map((name) => name.replaceAll(' ', '_'))).toEqual(Object.keys(answer[0]))
  }
  const numbers = sections.find(({ id }) => id === 'numbers')?.rows[0]
  expect(numbers?.[1]).toBe('900')
  const nights = sections.find(({ id }) => id === 'nights')?.rows ?? []
  const sums = [1, 2, 3, 4, 5].map((at) => nights.reduce((sum, row) => sum + Number(row[at]), 0))
  expect(sums).toEqual([904, 900, 3, 1, 0])
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
  const failed = await cli(['report', '--lake', lake, '--to', to, '--json'])
  expect([failed.code === 0, JSON.parse(failed.stderr).error.code]).toEqual([false, 'WRITE_FAILED'])
  const kept = join(folder, 'kept.html')
  await writeFile(kept, 'as it was')
  const absent = await cli(['report', '--lake', join(folder, 'none'), '--to', kept, '--json'])
  expect(JSON.parse(absent.stderr).error.code).toBe('LAKE_NOT_FOUND')
  expect(await readFile(kept, 'utf8')).toBe('as it was')
  const own = join(lake, 'lake.duckdb')
  const views = await readFile(own)
  const refused = await cli(['report', '--lake', lake, '--to', own, '--json'])
  expect([refused.code, JSON.parse(refused.stderr).error.code]).toEqual([1, 'TARGET_REFUSED'])
  expect((await readFile(own)).equals(views)).toBe(true)
  const before = await readdir(folder)
  const result = await cliJson<{ bytes: number; path: string; snapshot: number }>([
    ...['report', '--lake', lake, '--to', kept, '--max-age', '26h', '--line-item', "It's"],
  ])
  const page = await readFile(kept)
  expect(result).toMatchObject({ path: kept, bytes: page.length, snapshot: 1 })
  expect(page.toString('utf8')).toContain('age_seconds')
  expect(await readdir(folder)).toEqual(before)
})
