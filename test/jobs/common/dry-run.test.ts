/** A dry run says what the same load would do, and changes nothing of the lake. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { diff } from '../../../src/jobs/diff.ts'
import { pull } from '../../../src/jobs/pull.ts'
import { sync } from '../../../src/jobs/sync.ts'
import type { ConvertOptions } from '../../../src/options/interfaces.ts'
import { companyLine, companyLines, openBench } from '../../run/batch-bench.ts'
import { openPullBench, SWEDEN } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const bytesBelow = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (path) => [path, await readFile(path, 'base64')] as const)),
  )
}

const bench = async () => {
  const one = openBench(await temporaryFolder())
  const load = async (name: string, lines: readonly string[], more: Partial<ConvertOptions> = {}) => {
    await one.write(name, lines)
    return convert({ from: join(one.folder, name), lake: one.lake, maxQuarantined: 5, ...more })
  }
  await load('first.jsonl', companyLines(6))
  return { ...one, load }
}

const sales = (value: number) => ({ Financials: { ProfitAndLoss: { NetSales: { 2023: value } } } })

test('a dry run says what the load changes then, and leaves every byte of the lake as it is', async () => {
  const { lake, load } = await bench()
  // 1 and 2 restated, 3 as it was, 4 renamed, 7 and 8 new, a bad line.
  const lines = [
    ...[companyLine(1, sales(99), 2), companyLine(2, sales(98), 2), companyLine(3, {}, 2)],
    companyLine(4, { BasicDetails: { InternalId: 4, CompanyName: 'Other', CountryCode: 'SE' } }, 2),
    ...[companyLine(7, {}, 2), companyLine(8, {}, 2), '{bad'],
  ]
  const before = await bytesBelow(lake)
  const dry = await load('next.jsonl', lines, { dryRun: true })
  expect(await bytesBelow(lake)).toEqual(before)
  expect(dry).toMatchObject({ snapshot: null, records: 6, quarantined: 1, delivered: [] })
  expect(dry.dryRun).toMatchObject({
    ...{ snapshot: 2, differs: true, more: 2 },
    changes: { companies: { new: 2, gone: 0 }, restatements: { changed: 2, withdrawn: 2, companies: 2 } },
  })
  const done = await load('next.jsonl', lines)
  expect([done.snapshot, done.dryRun]).toEqual([2, undefined])
  const { companies, relations, restatements } = await diff({ lake })
  expect(dry.dryRun?.changes).toMatchObject({ companies, relations, restatements })
})

test('a dry run of files that the lake holds, into a new lake, of older data', async () => {
  const { lake, load, folder } = await bench()
  expect((await load('first.jsonl', companyLines(6), { dryRun: true })).dryRun).toEqual({
    ...{ snapshot: null, more: 0, differs: false },
  })
  const fresh = join(folder, 'fresh')
  const first = await load('first.jsonl', companyLines(6), { dryRun: true, lake: fresh })
  expect(first.dryRun).toEqual({ snapshot: 1, more: 0, differs: true })
  await expect(readdir(fresh)).rejects.toMatchObject({ code: 'ENOENT' })
  await load('second.jsonl', [companyLine(1, sales(5), 9)])
  const older = await load('older.jsonl', [companyLine(1, sales(4), 8)], { dryRun: true })
  expect(older).toMatchObject({ older: [{ older: 1 }], dryRun: { changes: { companies: { changed: 0 } } } })
  expect(await readdir(join(lake, '_runs')).catch(() => [])).toEqual([])
})

test.each([
  ['the same companies', companyLines(6), { differs: false, more: 0 }],
  ['one that is missing', companyLines(5), { differs: true, more: 1 }],
  ['one more', companyLines(7), { differs: true, more: 0 }],
  ['another figure', [...companyLines(5), companyLine(6, sales(1), 3)], { differs: true, more: 0 }],
  ['a bad line', [...companyLines(6), '{bad'], { differs: true, more: 0 }],
] as const)('a lake that is expected to be a file: %s', async (_, lines, expected) => {
  const { load } = await bench()
  expect((await load('again.jsonl', lines, { expectNothing: true })).dryRun).toMatchObject(expected)
})

test('the same file again is compared with the lake', async () => {
  const { load } = await bench()
  const same = await load('first.jsonl', companyLines(6), { expectNothing: true })
  expect(same).toMatchObject({ records: 6, skipped: [], dryRun: { differs: false } })
})

test('a dry pull and a dry sync ask the service, and record nothing', async () => {
  const companies = [1, 2, 3].map((id) => ({ id, country: 'SE' }))
  const { lake, service, fake, snapshot } = await openPullBench({ companies })
  const asked = { from: service, content: 'companies', search: SWEDEN, lake } as const
  expect((await pull({ ...asked, dryRun: true })).dryRun).toEqual({ snapshot: 1, more: 0, differs: true })
  await pull(asked)
  const before = await bytesBelow(lake)
  expect((await pull({ ...asked, expectNothing: true })).dryRun?.differs).toBe(false)
  fake.hold([{ id: 1, country: 'SE', name: 'Other' }, ...companies.slice(2), { id: 4, country: 'SE' }])
  const whole = await pull({ ...asked, expectNothing: true, maxGone: 2 })
  expect(whole.dryRun).toMatchObject({ differs: true, changes: { companies: { new: 1, changed: 1 } } })
  expect(whole.gone).toMatchObject([{ marked: 1 }])
  const synced = await sync({ from: service, search: SWEDEN, lake, dryRun: true, maxGone: 2 })
  expect(synced.dryRun?.changes?.companies).toMatchObject({ new: 1 })
  expect(synced.sync.findings.vanished).toEqual([2])
  expect(await bytesBelow(lake)).toEqual(before)
  expect((await snapshot()).snapshot).toBe(1)
})

test('a dry run that is stopped, or fails, leaves nothing', async () => {
  const { lake, load } = await bench()
  const before = await bytesBelow(lake)
  await expect(
    load('bad.jsonl', [...companyLines(2), '{bad'], { dryRun: true, maxQuarantined: 0 }),
  ).rejects.toMatchObject({
    code: 'QUARANTINE_LIMIT',
  })
  await expect(
    load('stopped.jsonl', companyLines(9), { dryRun: true, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await bytesBelow(lake)).toEqual(before)
})
