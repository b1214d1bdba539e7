/** Lakes of every earlier format: upgraded, the same to every reader, taken back byte for byte. */

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { forget } from '../../../src/jobs/forget.ts'
import { recordPath, snapshotPath, UPGRADE_FOLDER } from '../../../src/lake/lake/layout.ts'
import { writeLakeFile } from '../../../src/manifest/lake-file.ts'
import { removeGarbage } from '../../../src/manifest/remove-garbage.ts'
import {
  createSnapshot,
  ensureRecord,
  newestRoot,
  readFormat,
  TAKING_BACK,
} from '../../../src/manifest/snapshots.ts'
import { readUpgrade, writePhase } from '../../../src/manifest/upgrade-state.ts'
import { publish } from '../../../src/pipeline/targets/publish.ts'
import { restoreBefore } from '../../../src/pipeline/upgrade/before-image.ts'
import { takeBack } from '../../../src/pipeline/upgrade/take-back.ts'
import { upgradeLake } from '../../../src/pipeline/upgrade/upgrade-lake.ts'
import { hashLake } from '../batch-bench.ts'
import { EARLIER_LAKES, EARLIER_NAMES, filesBelow, openEarlier } from './earlier-lake.ts'

const WHOLE = { problems: [], notes: [] }
const OLDEST = ['rates', 'manifest', 'hashes', 'publications', 'views']
const CHANGES = {
  '1-first': OLDEST,
  '1-hashed': ['manifest', 'publications', 'views'],
  '2-parts': ['manifest', 'publications', 'views'],
  '2-views': ['manifest', 'publications', 'views'],
  '2-history': ['manifest', 'views'],
} as const

test.for(EARLIER_NAMES)('%s: an upgrade changes its forms and no row, and is taken back', async (name) => {
  const { lake, verify } = await openEarlier(name)
  const { format, snapshots } = EARLIER_LAKES[name]
  const [files, rows] = [await filesBelow(lake), await hashLake(lake)]
  const planned = await upgradeLake({ lake, dryRun: true })
  expect(planned.changes.map(({ part }) => part)).toEqual(CHANGES[name])
  expect(await filesBelow(lake)).toEqual(files)

  const done = await upgradeLake({ lake })
  expect(done).toEqual({ ...planned, snapshot: snapshots + 1 })
  expect(await readFormat(lake, snapshots + 1)).toBe(3)
  expect(await hashLake(lake)).toEqual(rows)
  expect(await verify()).toMatchObject({ ...WHOLE, snapshots: snapshots + 1 })

  const upgraded = await filesBelow(lake)
  expect(await upgradeLake({ lake })).toEqual({ kind: 'nothing', snapshot: snapshots + 1, changes: [] })
  expect(await filesBelow(lake)).toEqual(upgraded)

  expect(await takeBack(lake)).toEqual({ kind: 'taken back', snapshot: snapshots, format })
  expect(await filesBelow(lake)).toEqual(files)
  expect(await hashLake(lake)).toEqual(rows)
})

test('an upgrade makes the new columns of published tables be what a new publication has', async () => {
  const { lake } = await openEarlier('2-views')
  await upgradeLake({ lake })
  const log = `companies/_delta_log/${'3'.padStart(20, '0')}.json`
  const added = (await readFile(`${lake}/${log}`, 'utf8'))
    .split('\n')
    .flatMap((line) => (line.startsWith('{"add"') ? [JSON.parse(line).add.partitionValues] : []))
  expect(added).toHaveLength(3)
  expect(added.map(({ snapshot }) => Number(snapshot)).sort()).toEqual([1, 2, 3])
  expect(await publish({ lake, formats: ['delta'] })).toMatchObject({ snapshot: 4 })
})

test('commits that an earlier release did not record stay known when the snapshots before are gone', async () => {
  const one = await openEarlier('1-first')
  await upgradeLake({ lake: one.lake })
  await removeGarbage({ lake: one.lake, now: new Date(), keep: 1 })
  const sql = 'SELECT DISTINCT snapshot FROM companies_history ORDER BY ALL'
  expect(await one.query(sql)).toEqual([[1], [2], [3]])
})

test('lake.duckdb is as it was when an upgrade is taken back', async () => {
  const { lake } = await openEarlier('2-views')
  await writeLakeFile(lake)
  const files = await filesBelow(lake)
  expect((await upgradeLake({ lake })).changes.map(({ part }) => part)).toContain('manifest')
  const upgraded = await filesBelow(lake)
  expect(upgraded.get('lake.duckdb.sha256')).not.toBe(files.get('lake.duckdb.sha256'))
  await takeBack(lake)
  expect(await filesBelow(lake)).toEqual(files)
})

test('after the next commit an upgrade is not taken back, says why, and gc removes what it left', async () => {
  const one = await openEarlier('2-views')
  await expect(takeBack(one.lake)).rejects.toMatchObject({
    code: 'UPGRADE_STANDS',
    message: expect.stringContaining('none of its snapshots is of an upgrade'),
  })
  await upgradeLake({ lake: one.lake })
  await one.write('more.jsonl', await readLines(one.folder, 'third.jsonl'))
  await one.run(['more.jsonl'], { again: true })
  const refused = {
    code: 'UPGRADE_STANDS',
    message: expect.stringContaining('snapshot 5 was committed after it (convert, '),
  }
  const files = await filesBelow(one.lake)
  await expect(takeBack(one.lake)).rejects.toMatchObject(refused)
  expect(await filesBelow(one.lake)).toEqual(files)
  const { files: gone } = await one.gc()
  expect(gone.some((path) => path.startsWith('_upgrade/before/'))).toBe(true)
  expect([...(await filesBelow(one.lake)).keys()].filter((path) => path.startsWith('_upgrade'))).toEqual([])
  await expect(takeBack(one.lake)).rejects.toMatchObject(refused)
  expect(await one.verify()).toMatchObject(WHOLE)
})

const readLines = async (folder: string, name: string): Promise<readonly string[]> =>
  (await readFile(`${folder}/${name}`, 'utf8')).trimEnd().split('\n')

test('a lake that gc has taken the snapshot before from, or whose copy is damaged, is not taken back', async () => {
  const { lake, verify, gc } = await openEarlier('1-hashed')
  await upgradeLake({ lake })
  await gc()
  const path = `${lake}/_upgrade/before/_rates/rates.csv`
  const bytes = await readFile(path)
  await writeFile(path, 'x')
  const stands = (what: string) => ({ code: 'UPGRADE_STANDS', message: expect.stringContaining(what) })
  await expect(takeBack(lake)).rejects.toMatchObject(stands('is not what stood there before'))
  expect((await verify()).problems).toMatchObject([
    { path: '_upgrade/before/_rates/rates.csv', problem: 'changed' },
  ])
  await writeFile(path, bytes)
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  await expect(takeBack(lake)).rejects.toMatchObject(stands('snapshot 3, which it was made of, was removed'))
  expect(await verify()).toMatchObject(WHOLE)
})

test('a lake whose upgrade is half taken back is whole to verify, and the same command ends it', async () => {
  const { lake, verify } = await openEarlier('1-hashed')
  const files = await filesBelow(lake)
  await upgradeLake({ lake })
  const newest = await newestRoot(lake)
  const state = await readUpgrade(lake)
  if (newest === null || state === null) throw new Error('there is no upgrade')
  // As a process leaves it that is killed between the removals: what blocks commits goes last.
  const head = { snapshot: 5, parent: 4, pipeline: TAKING_BACK, time: new Date().toISOString() }
  await createSnapshot(lake, { ...newest, ...head })
  await ensureRecord(lake, 5)
  await writePhase(lake, state, { phase: 'back' })
  await restoreBefore(lake, state.files)
  await writePhase(lake, state, { phase: 'restored' })
  for (const path of [recordPath(4), snapshotPath(4)]) {
    await rm(`${lake}/${path}`)
    expect(await verify()).toMatchObject({
      problems: [],
      notes: [expect.stringContaining('is being taken back')],
    })
  }
  expect(await takeBack(lake)).toMatchObject({ kind: 'taken back', snapshot: 3 })
  expect(await filesBelow(lake)).toEqual(files)
  expect(await verify()).toMatchObject(WHOLE)
})

test('gc removes the folder of an upgrade that a killed process has left empty', async () => {
  const { lake, gc } = await openEarlier('1-hashed')
  await mkdir(`${lake}/${UPGRADE_FOLDER}`)
  await gc()
  expect(await readdir(lake)).not.toContain(UPGRADE_FOLDER)
})

test('of two upgrades at once both end well or say that the other is at work, and one snapshot is made', async () => {
  const { lake, verify } = await openEarlier('1-first')
  const ended = await Promise.allSettled([upgradeLake({ lake }), upgradeLake({ lake })])
  const refused = ended.filter((one) => one.status === 'rejected').map(({ reason }) => reason.code)
  expect(refused.filter((code) => code !== 'RUN_LIVE')).toEqual([])
  expect(refused.length).toBeLessThan(2)
  expect(await verify()).toMatchObject({ ...WHOLE, snapshots: 4 })
  expect(await upgradeLake({ lake })).toMatchObject({ kind: 'nothing', snapshot: 4 })
})

test('an upgrade beside a load: both are in the lake, and nothing is lost', async () => {
  const one = await openEarlier('1-first')
  await rm(`${one.lake}/_rates`, { recursive: true })
  await one.write('more.jsonl', [
    '{"BasicDetails":{"InternalId":99,"CompanyName":"More","CountryCode":"SE"}}',
  ])
  await Promise.all([upgradeLake({ lake: one.lake }), one.run(['more.jsonl'])])
  const ids = await one.query('SELECT internal_id FROM companies ORDER BY ALL')
  expect(ids.flat().map(Number)).toEqual([1, 2, 3, 4, 5, 99])
  expect((await one.verify()).problems).toEqual([])
})

test('after a forget nothing is left of what stood before an upgrade', async () => {
  const one = await openEarlier('2-views')
  await upgradeLake({ lake: one.lake })
  await forget({ lake: one.lake, companies: [1] })
  expect([...(await filesBelow(one.lake)).keys()].filter((path) => path.startsWith('_upgrade'))).toEqual([])
  await expect(takeBack(one.lake)).rejects.toMatchObject({ code: 'UPGRADE_STANDS' })
  expect((await one.query('SELECT internal_id FROM companies ORDER BY ALL')).flat().map(Number)).toEqual([
    2, 3, 4, 5,
  ])
  expect(await one.verify()).toMatchObject(WHOLE)
})
