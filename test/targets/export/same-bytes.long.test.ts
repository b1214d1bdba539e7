/** An export, or a delivery, of the same snapshot gives the same bytes each time. */

import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExportOptions } from '../../../src/options/interfaces.ts'
import { deliver } from '../../../src/targets/deliver.ts'
import { exportTables } from '../../../src/targets/export/export-tables.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FILES = 12
const COMPANIES = 60
const YEARS = Array.from({ length: 40 }, (_, at) => 1980 + at)

const line = (id: number, factor: number): string =>
  companyLine(id, {
    Financials: {
      ProfitAndLoss: Object.fromEntries(
        ['NetSales', 'EBITDA', 'EBIT'].map((item) => [
          item,
          Object.fromEntries(YEARS.map((year) => [year, id * factor + year])),
        ]),
      ),
    },
  })

let lake = ''
/** The companies in the order in which the lake's files have the current version of each. */
let order: readonly number[] = []

/** Many files, so that two threads take them in another order each time, and companies of all of them restated. */
beforeAll(async () => {
  const one = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  const names: string[] = []
  for (let at = 0; at < FILES; at += 1) {
    names.push(`${String(at).padStart(2, '0')}.jsonl`)
    await one.write(
      names[at] ?? '',
      Array.from({ length: COMPANIES }, (_, nth) => line(at * COMPANIES + nth, 1)),
    )
  }
  await one.run(names)
  const restated = Array.from({ length: FILES }, (_, at) => at * COMPANIES + 7 * at)
  await one.write(
    'later.jsonl',
    restated.map((id) => line(id, 2)),
  )
  await one.run(['later.jsonl'])
  lake = one.lake
  const all = Array.from({ length: FILES * COMPANIES }, (_, id) => id)
  order = [...all.filter((id) => !restated.includes(id)), ...restated]
})

afterAll(() => rm(dirname(lake), { recursive: true, force: true }))

const hashesIn = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const hashes = await Promise.all(
    names.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [
        path.slice(folder.length),
        createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      ]
    }),
  )
  return Object.fromEntries(hashes)
}

/** That rows have the order of the lake, whichever thread reads them, is a test of its own below. */
const ROUNDS = 2

/** Does it several times. @returns the hashes of the files of each time */
const again = async (
  work: (folder: string) => Promise<unknown>,
): Promise<readonly Readonly<Record<string, string>>[]> => {
  const found = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(await temporaryFolder(), 'out')
    await work(folder)
    found.push(await hashesIn(folder))
  }
  return found
}

const expectSame = (found: readonly Readonly<Record<string, string>>[]): void => {
  expect(Object.keys(found[0] ?? {}).length).toBeGreaterThan(0)
  for (const one of found) expect(one).toEqual(found[0])
}

const tables = ['companies', 'financials', 'line_items']

test.each<readonly [string, Partial<ExportOptions>]>([
  ['csv', {}],
  ['csv.gz', {}],
  ['jsonl', {}],
  ['parquet', {}],
  ['arrow', {}],
  ['arrows', {}],
  ['xlsx', { tables: ['companies'] }],
  ['csv', { history: true }],
  ['csv', { names: true }],
  ['csv', { take: { countries: ['SE'] } }],
  ['csv', { threads: 1 }],
])('files of the format %s are the same each time, with %j', async (format, more) => {
  expectSame(await again((folder) => exportTables({ lake, to: `${format}:${folder}`, tables, ...more })))
})

test('rows of an export are current ones, in the order of the lake, however many threads there are', async () => {
  const folder = await temporaryFolder()
  for (const threads of [1, 3]) {
    await exportTables({ lake, to: join(folder, 'financials.csv'), threads, overwrite: true })
    const rows = (await readFile(join(folder, 'financials.csv'), 'utf8')).trim().split('\r\n').slice(1)
    expect(rows.map((row) => Number(row.split(',')[0]))).toEqual(
      order.flatMap((id) => Array.from({ length: 3 * YEARS.length }, () => id)),
    )
  }
})

test('what goes to standard output is the same each time', async () => {
  const strings = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const parts: Buffer[] = []
    const stream = new Writable({
      write: (part: Buffer, _encoding, done) => {
        parts.push(Buffer.from(part))
        done()
      },
    })
    await exportTables({ lake, to: { kind: 'stream', format: 'csv', stream }, tables: ['financials'] })
    strings.add(Buffer.concat(parts).toString())
  }
  expect(strings.size).toBe(1)
})

test.each(['csv', 'jsonl', 'parquet', 'arrow'])(
  'a folder of %s files gets the same bytes each time that it is made',
  async (format) => {
    expectSame(await again((folder) => deliver({ lake, sinks: [`${format}:${folder}`] })))
  },
)
