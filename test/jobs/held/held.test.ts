/** A load that makes something worse is held back: nobody sees it until it is released, and discarded it leaves nothing. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../../src/jobs/check.ts'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { copy } from '../../../src/jobs/copy.ts'
import { diff } from '../../../src/jobs/diff.ts'
import { discard } from '../../../src/jobs/discard.ts'
import { forget } from '../../../src/jobs/forget.ts'
import { gc } from '../../../src/jobs/gc.ts'
import { readStatus } from '../../../src/jobs/lake-status.ts'
import { query } from '../../../src/jobs/query.ts'
import { release } from '../../../src/jobs/release.ts'
import { resume } from '../../../src/jobs/resume.ts'
import { commitRun, planRun, workRun } from '../../../src/jobs/run-steps.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { HELD_PATH, inLake } from '../../../src/lake/files/layout.ts'
import type { LoadCheck } from '../../../src/options/interfaces.ts'
import { filesOf } from '../../manifest/damage.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SALES = 'SELECT sum(value)::INTEGER AS sum FROM financials'
const HELD = { code: 'LOAD_HELD' }

/** Ten companies, each with two figures, of a day in January 2025. */
const lines = (scale: number, day: number, from = 1): string[] =>
  Array.from({ length: 10 }, (_, at) =>
    companyLine(
      from + at,
      { Financials: { ProfitAndLoss: { NetSales: { 2023: scale, 2024: 2 * scale } } } },
      day,
    ),
  )

const bench = async () => {
  const one = openBench(await temporaryFolder())
  const load = async (name: string, content: readonly string[], check?: LoadCheck) => {
    await one.write(name, content)
    return convert({ from: join(one.folder, name), lake: one.lake, check })
  }
  await load('first.jsonl', lines(1, 1))
  return { ...one, load }
}

/** No figure of more than 100. */
const SMALL: LoadCheck = {
  rules: { small: 'SELECT internal_id FROM financials WHERE value > 100 AND internal_id < 100' },
}

/** Everything below a lake but what is in the way of runs, and the rows of `_manifest` that are the lake's. */
const shownFiles = async (lake: string): Promise<readonly string[]> =>
  (await filesOf(lake)).filter((path) => /^(_manifest\/\d|lake\.)/.test(path)).sort()

test('a load that breaks a rule is held back: every reader sees the snapshot before', async () => {
  const { lake, load } = await bench()
  const before = await shownFiles(lake)
  const strings = await Promise.all(before.map((path) => readFile(join(lake, path))))
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject({
    ...HELD,
    message: expect.stringMatching(
      /^Snapshot 2 is held back: .* small \(found 20, expected no finding that snapshot 1 lacks\)/,
    ),
  })
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30 }])
  expect(await shownFiles(lake)).toEqual(before)
  expect(await Promise.all(before.map((path) => readFile(join(lake, path))))).toEqual(strings)
  // Whoever asks for it sees it.
  expect(await query({ lake, held: true, sql: SALES })).toEqual([{ sum: 30_000 }])
  expect((await diff({ lake, held: true })).restatements).toMatchObject({ changed: 20, companies: 10 })
  expect(await check({ lake, held: true, data: false, rules: SMALL.rules ?? {} })).toMatchObject({
    snapshot: 2,
    failed: 1,
  })
  const { held, unfinished } = await readStatus(lake)
  expect(held).toMatchObject({ snapshot: 2, run: unfinished[0]?.run, checks: [{ name: 'small', value: 20 }] })
})

test('release shows it without its file, which is gone; the lake is whole', async () => {
  const { lake, folder, load } = await bench()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  await rm(join(folder, 'large.jsonl'))
  const done = await release({ lake })
  expect(done).toMatchObject({ snapshot: 2, records: 10 })
  expect(done.moved).toBeUndefined()
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30_000 }])
  expect(await verify({ lake })).toMatchObject({ problems: [], notes: [] })
  expect((await readStatus(lake)).held).toBeUndefined()
  await expect(release({ lake })).rejects.toMatchObject({ code: 'NOTHING_HELD' })
})

test('discard leaves nothing of it, and its file is not loaded again but when asked to', async () => {
  const { lake, load, folder } = await bench()
  const before = (await filesOf(lake)).sort()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  expect(await discard({ lake })).toMatchObject({
    snapshot: 2,
    sources: [expect.stringContaining('large.jsonl')],
  })
  expect((await filesOf(lake)).sort()).toEqual([...before, '_manifest/discarded.json'].sort())
  const from = join(folder, 'large.jsonl')
  const skipped = await convert({ from, lake })
  expect(skipped).toMatchObject({
    snapshot: null,
    skipped: [{ reason: expect.stringContaining('discarded') }],
  })
  expect((await planRun({ load: 'convert', from, lake })).run).toBeNull()
  expect((await readStatus(lake)).discarded).toMatchObject([
    { source: expect.stringContaining('large.jsonl') },
  ])
  expect(await convert({ from, lake, again: true })).toMatchObject({ snapshot: 2, records: 10 })
  expect((await readStatus(lake)).discarded).toBeUndefined()
  await expect(discard({ lake })).rejects.toMatchObject({ code: 'NOTHING_HELD' })
})

test('findings that the newest snapshot has too hold nothing back, and are reported', async () => {
  const { lake, load } = await bench()
  await load('large.jsonl', lines(1000, 2, 11))
  const more = await load('more.jsonl', lines(2, 3), SMALL)
  expect(more).toMatchObject({ snapshot: 3, failing: [{ name: 'small', value: 20 }] })
  await expect(
    load(
      'worse.jsonl',
      [...lines(3, 4), companyLine(30, { Financials: { ProfitAndLoss: { NetSales: { 2024: 101 } } } }, 4)],
      SMALL,
    ),
  ).rejects.toMatchObject({
    ...HELD,
    message: expect.stringContaining('small (found 1, '),
  })
  expect(await query({ lake, sql: 'SELECT count(*)::INTEGER AS n FROM companies' })).toEqual([{ n: 20 }])
})

test.each([
  ['max restated', { maxRestated: 0.5, data: false }, lines(2, 2), 'restated_share'],
  ['fewest companies', { minCompanies: 30, data: false }, lines(1, 2, 11), undefined],
  ['a first load', { minCompanies: 11, data: false }, lines(1, 2), undefined],
] as const)('%s: a load is held back by what it makes worse alone', async (_, asked, content, failed) => {
  const { load } = await bench()
  const done = load('next.jsonl', content, asked)
  if (failed === undefined)
    expect(await done).toMatchObject({ snapshot: 2, failing: [{ name: 'companies' }] })
  else await expect(done).rejects.toMatchObject({ ...HELD, message: expect.stringContaining(failed) })
})

test('what the load before has restated says nothing of the next one; what brings no company is no restatement', async () => {
  const { lake, load, folder, write } = await bench()
  const most: LoadCheck = { maxRestated: 0.5, data: false }
  await load('second.jsonl', lines(2, 2))
  await expect(load('third.jsonl', lines(3, 3), most)).rejects.toMatchObject(HELD)
  await release({ lake })
  await write('relations.jsonl', ['{"InternalId":1,"Name":"A","CountryCode":"SE"}'])
  const more = await convert({ from: join(folder, 'relations.jsonl'), lake, check: most })
  expect(more).toMatchObject({ snapshot: 4, failing: [{ name: 'restated_share', value: 1 }] })
})

test('a new lake holds its first load back', async () => {
  const { folder, write } = openBench(await temporaryFolder())
  const lake = join(folder, 'new')
  await write('a.jsonl', lines(1000, 1))
  await expect(convert({ from: join(folder, 'a.jsonl'), lake, check: SMALL })).rejects.toMatchObject(HELD)
  await expect(query({ lake, sql: SALES })).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  expect(await release({ lake })).toMatchObject({ snapshot: 1, records: 10 })
})

test('while one is held back no load begins, unless it takes its place', async () => {
  const { lake, load, folder, write } = await bench()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  const right = lines(5, 3)
  await expect(load('right.jsonl', right)).rejects.toMatchObject({
    ...HELD,
    message: expect.stringContaining('since'),
  })
  await expect(resume({ lake })).rejects.toMatchObject(HELD)
  await expect(planRun({ load: 'convert', from: join(folder, 'right.jsonl'), lake })).rejects.toMatchObject(
    HELD,
  )
  expect(await load('right.jsonl', right, { ...SMALL, held: 'replace' })).toMatchObject({ snapshot: 2 })
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 150 }])
  await write('other.jsonl', lines(6, 4))
})

test('release shows it also where the next load would take its place', async () => {
  const { lake, load } = await bench()
  const check: LoadCheck = { ...SMALL, held: 'replace' }
  await expect(load('large.jsonl', lines(1000, 2), check)).rejects.toMatchObject(HELD)
  expect(await release({ lake, check })).toMatchObject({ snapshot: 2, records: 10 })
})

test('where the lake has moved on, release builds upon the newest snapshot and says what it finds', async () => {
  const { lake, load } = await bench()
  await load('second.jsonl', lines(1, 2, 11))
  await expect(load('large.jsonl', lines(1000, 3), SMALL)).rejects.toMatchObject(HELD)
  expect(await compact({ lake })).toMatchObject({ kind: 'compacted', snapshot: 3 })
  await gc({ lake, keep: 1 })
  // What it needs is kept.
  expect(await query({ lake, held: true, sql: SALES })).toEqual([{ sum: 30_030 }])
  const done = await release({ lake, check: SMALL })
  expect(done).toMatchObject({
    snapshot: 4,
    moved: { from: 2, to: 3, checks: [{ name: 'small', value: 20 }] },
  })
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30_030 }])
  expect((await verify({ lake })).problems).toEqual([])
})

test('gc, verify and copy know it; forget takes somebody out of it', async () => {
  const { lake, load, folder } = await bench()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  const { run } = (await readStatus(lake)).held ?? { run: '' }
  const later = () => new Date(Date.now() + 10 * 24 * 3_600_000)
  expect(await gc({ lake, now: later })).toMatchObject({ runs: [], files: [], held: run })
  const files = (await filesOf(lake)).filter((path) => path.startsWith(`financials/load=${run}`))
  expect(await copy({ lake, to: join(folder, 'copy') })).toMatchObject({ newest: 1, leftHeld: 2 })
  expect((await readStatus(join(folder, 'copy'))).held).toBeUndefined()
  const [file = ''] = files
  const whole = await readFile(join(lake, file))
  await writeFile(join(lake, file), whole.subarray(0, 100))
  // The journal of the run says it, too.
  expect((await verify({ lake })).problems).toMatchObject([{ path: file, problem: 'cut' }, { path: file }])
  await writeFile(join(lake, file), whole)
  expect(await forget({ lake, companies: [3] })).toMatchObject({ kind: 'forgotten', held: 'kept', runs: [] })
  expect((await readStatus(lake)).held).toMatchObject({ run, snapshot: 3 })
  expect(await release({ lake })).toMatchObject({ records: 9 })
})

test('a run of many machines is held back, released and discarded alike', async () => {
  const { lake, folder, write, load } = await bench()
  await write('large.jsonl', lines(1000, 2))
  const commit = async () => {
    const { run } = await planRun({ load: 'convert', from: join(folder, 'large.jsonl'), lake, again: true })
    await workRun({ lake, run: run ?? '', units: [0] })
    return commitRun({ lake, run: run ?? '', check: SMALL })
  }
  await expect(commit()).rejects.toMatchObject(HELD)
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30 }])
  await discard({ lake })
  expect((await gc({ lake })).runs).toEqual([])
  await expect(commit()).rejects.toMatchObject(HELD)
  expect(await release({ lake })).toMatchObject({ snapshot: 2, records: 10 })
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30_000 }])
  expect(await load('more.jsonl', lines(1, 3))).toMatchObject({ snapshot: 3 })
  expect((await verify({ lake })).problems).toEqual([])
})

test('a release or a discard that was killed before its last step waits for nobody', async () => {
  const { lake, load } = await bench()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  const held = await readFile(inLake(lake, HELD_PATH))
  await release({ lake })
  await writeFile(inLake(lake, HELD_PATH), held)
  expect((await readStatus(lake)).held).toBeUndefined()
  await expect(discard({ lake })).rejects.toMatchObject({ code: 'NOTHING_HELD' })
  await expect(load('others.jsonl', lines(2000, 3, 11), SMALL)).rejects.toMatchObject(HELD)
  expect((await readStatus(lake)).held?.snapshot).toBe(3)
  const again = await readFile(inLake(lake, HELD_PATH))
  await discard({ lake })
  await writeFile(inLake(lake, HELD_PATH), again)
  expect(await load('right.jsonl', lines(1, 4), SMALL)).toMatchObject({ snapshot: 3 })
})

test('a damaged document stops loads, and says what to do', async () => {
  const { lake, load } = await bench()
  await expect(load('large.jsonl', lines(1000, 2), SMALL)).rejects.toMatchObject(HELD)
  const held = await readFile(inLake(lake, HELD_PATH), 'utf8')
  await writeFile(inLake(lake, HELD_PATH), held.replace('small', 'smell'))
  await expect(load('right.jsonl', lines(1, 3))).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
  expect((await verify({ lake })).problems).toMatchObject([{ path: HELD_PATH, problem: 'changed' }])
  expect(await query({ lake, sql: SALES })).toEqual([{ sum: 30 }])
})

test('wrong words of a check are refused before anything is loaded', async () => {
  const { load } = await bench()
  await expect(load('a.jsonl', lines(1, 2), { maxFal: 0.1 } as LoadCheck)).rejects.toMatchObject({
    code: 'USAGE',
  })
  await expect(load('a.jsonl', lines(1, 2), { rules: { bad: 'SELECT nothing' } })).rejects.toMatchObject({
    code: 'QUERY_FAILED',
    message: expect.stringContaining('rule "bad"'),
  })
})
