import { existsSync, rmSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convertFiles } from '../../../src/jobs/convert.ts'
import { type CopySummary, copyLake } from '../../../src/jobs/copy.ts'
import { forget } from '../../../src/jobs/forget.ts'
import { query } from '../../../src/jobs/query.ts'
import { addLakeRates } from '../../../src/lake/rates/lake-rates.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { listManifest, readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import type { CopyOptions } from '../../../src/options/interfaces.ts'
import { type Batches, writeBatches } from '../../durability/batches.ts'
import { hashLake, verify } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let batches: Batches
beforeAll(async () => {
  batches = await writeBatches({ companies: 12, files: 2 })
})
afterAll(() => batches.remove())

const load = async (lake: string, paths: readonly string[]): Promise<void> => {
  const plan = { inputs: paths, cwd: batches.folder, again: true, limits: {} }
  await convertFiles(plan, { lake, maxQuarantined: { kind: 'share', share: 0.5 } })
}
const places = async (): Promise<{ lake: string; to: string }> => {
  const folder = await temporaryFolder()
  return { lake: join(folder, 'lake'), to: join(folder, 'copy') }
}
/** A copy has the lake's newest snapshot, and is what its manifest says: nothing else stands in it. */
const expectEqual = async (lake: string, to: string): Promise<void> => {
  expect(await readSnapshot(to)).toEqual(await readSnapshot(lake))
  expect(await verify(to)).toMatchObject({ problems: [], notes: [] })
}
const code = (error: unknown): unknown => (error as { code?: unknown }).code
const codeOf = (work: Promise<CopySummary>): Promise<unknown> => work.then(({ kind }) => kind, code)

test('a copy of a lake that was told to forget loses its earlier snapshots and their files', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths)
  await copyLake({ lake, to })
  const { partitions } = await readSnapshot(lake)
  const first = partitions[0]?.files[0]?.path ?? ''
  const [{ internal_id = 0 } = {}] = await query({
    lake,
    sql: `SELECT internal_id::INTEGER AS internal_id FROM read_parquet('${join(lake, first)}') LIMIT 1`,
  })
  await forget({ lake, companies: [Number(internal_id)] })
  expect(await copyLake({ lake, to })).toMatchObject({ oldest: 2, newest: 2, snapshots: [2], forgotten: [1] })
  await expectEqual(lake, to)
  const kept = (await readSnapshot(to)).partitions.flatMap(({ files }) => files.map(({ path }) => path))
  for (const { path } of partitions.flatMap(({ files }) => files))
    expect(existsSync(join(to, path)), path).toBe(kept.includes(path))
  expect(kept).not.toContain(first)
  expect(await copyLake({ lake, to })).toMatchObject({ kind: 'nothing' })
})

test('a copy has what its lake has, and given again it takes what is new: loads, a compaction, rates', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths.slice(0, 2))
  expect(await copyLake({ lake, to })).toMatchObject({ kind: 'copied', oldest: 1, newest: 1, filesThere: 0 })
  await expectEqual(lake, to)
  expect(await copyLake({ lake, to })).toMatchObject({ kind: 'nothing', snapshots: [], files: 0 })

  await load(lake, batches.paths.slice(0, 1))
  await load(lake, batches.paths)
  await addLakeRates(lake, 'currency,year,units_per_usd\nSEK,2024,10.5\n')
  const first = (await readSnapshot(lake, 1)).partitions.flatMap(({ files }) => files).length
  const more = await copyLake({ lake, to })
  expect(more).toMatchObject({ kind: 'copied', oldest: 1, newest: 3, snapshots: [2, 3] })
  expect(more.filesThere).toBeGreaterThanOrEqual(first)
  await expectEqual(lake, to)
  expect(await hashLake(to)).toEqual(await hashLake(lake))
  expect(await readFile(join(to, '_rates/rates.csv'))).toEqual(await readFile(join(lake, '_rates/rates.csv')))

  await compact({ lake, targetBytes: 16_384 })
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  expect(await copyLake({ lake, to })).toMatchObject({ oldest: 1, newest: 4, snapshots: [4] })
  await expectEqual(lake, to)
})

test('a copy begins where it is told to; what the lake has removed since leaves no hole in it', async () => {
  const { lake, to } = await places()
  for (const path of batches.paths.slice(0, 3)) await load(lake, [path])
  expect(await copyLake({ lake, to, snapshot: 2 })).toMatchObject({ oldest: 2, newest: 2, snapshots: [2] })
  await expect(readSnapshot(to, 1)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  expect(await verify(to)).toMatchObject({ snapshots: 1, problems: [], notes: [] })
  expect(await copyLake({ lake, to, snapshots: 'all' })).toMatchObject({
    oldest: 2,
    newest: 3,
    snapshots: [3],
  })

  const all = `${to}-all`
  expect(await copyLake({ lake, to: all, snapshots: 'all' })).toMatchObject({
    oldest: 1,
    snapshots: [1, 2, 3],
  })
  await load(lake, batches.paths)
  await load(lake, batches.paths)
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  // Between 3 and 5 there is nothing left to copy: the copy begins anew, and gc may remove what was before.
  expect(await copyLake({ lake, to: all })).toMatchObject({ oldest: 5, newest: 5, snapshots: [5] })
  expect((await verify(all)).problems).toEqual([])
  await removeGarbage({ lake: all, now: new Date() })
  await expectEqual(lake, all)
})

test('another lake, a copy that went its own way, and a place within the lake are refused', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths)
  await load(to, batches.paths)
  await expect(copyLake({ lake, to })).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    message: expect.stringContaining('it has another snapshot 1; expected an earlier copy, or a new place'),
  })
  await load(to, batches.paths)
  const before = await readSnapshot(to)
  await expect(copyLake({ lake, to })).rejects.toThrow(
    'it has snapshot 2 already, expected none after snapshot 1',
  )
  for (let round = 0; round < 3; round += 1) await load(lake, batches.paths)
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  await expect(copyLake({ lake, to })).rejects.toThrow('the lake does not know the run of its snapshot 2')
  expect(await readSnapshot(to)).toEqual(before)
  for (const inside of [lake, join(lake, 'copy'), join(lake, '..')])
    expect(await codeOf(copyLake({ lake, to: inside }))).toBe('TARGET_REFUSED')
  expect(await codeOf(copyLake({ lake: `${lake}-none`, to: `${to}-new` }))).toBe('LAKE_NOT_FOUND')
  await expect(listManifest(`${to}-new`)).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})

test('a damaged file is named and never copied; the copy shows nothing of it, and goes on when it is mended', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths)
  const [file = { path: '' }] = (await readSnapshot(lake)).partitions.flatMap(({ files }) => files)
  const place = join(lake, file.path)
  const whole = await readFile(place)
  const flipped = Buffer.from(whole)
  flipped[whole.length >> 1] = (whole[whole.length >> 1] ?? 0) ^ 4
  await writeFile(place, flipped)
  await expect(copyLake({ lake, to })).rejects.toMatchObject({
    code: 'LAKE_DAMAGED',
    message: expect.stringContaining(`Cannot copy "${file.path}"`),
  })
  expect((await listManifest(to)).snapshots).toEqual([])
  await expect(readFile(join(to, file.path))).rejects.toThrow('ENOENT')
  await writeFile(place, whole)
  expect(await copyLake({ lake, to })).toMatchObject({ kind: 'copied', snapshots: [1] })
  await expectEqual(lake, to)
})

test('files that a gc of the copy takes for garbage meanwhile, and files lost since, are copied again', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths.slice(0, 1))
  await copyLake({ lake, to })
  await load(lake, batches.paths)
  const loaded = (await readSnapshot(lake)).partitions.filter(({ committed }) => committed?.snapshot !== 1)
  const files = loaded.flatMap((one) => one.files.map(({ path }) => join(to, path)))
  let swept = false
  const onProgress: CopyOptions['onProgress'] = (progress) => {
    if (progress.files < progress.filesTotal) return
    swept = true
    for (const file of files) rmSync(file, { force: true })
  }
  await copyLake({ lake, to, onProgress })
  expect(swept).toBe(true)
  await expectEqual(lake, to)
  for (const { path } of (await readSnapshot(to)).partitions.flatMap(({ files }) => files))
    await rm(join(to, path))
  expect(await copyLake({ lake, to })).toMatchObject({ kind: 'copied', snapshots: [] })
  await expectEqual(lake, to)
})

test('two copies into one place at once make one copy', async () => {
  const { lake, to } = await places()
  await load(lake, batches.paths)
  await load(lake, batches.paths.slice(0, 1))
  const both = await Promise.all([
    copyLake({ lake, to, snapshots: 'all' }),
    copyLake({ lake, to, snapshots: 'all' }),
  ])
  expect(both.map(({ newest }) => newest)).toEqual([2, 2])
  await expectEqual(lake, to)
})
