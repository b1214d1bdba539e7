import { link, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  BATCHES_FOLDER,
  batchesPath,
  inLake,
  loadPath,
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  partPath,
  RUNS_FOLDER,
  SERVE_FOLDER,
  servePath,
  snapshotPath,
} from '../../../src/lake/files/layout.ts'
import { LIST_FILE, writeFileList } from '../../../src/manifest/form/file-list.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { leaseRun, type RunLease } from '../../../src/manifest/runs/run-lease.ts'
import { makeLake, removeRun } from '../../../src/manifest/runs/runs.ts'
import { endRun, recordRemoved } from '../../../src/manifest/runs/shared-commits.ts'
import { listSnapshots, newestNumber, readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { temporaryName, thisProcess } from '../../../src/support/process-identity.ts'
import { startChild } from '../../support/children.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf, flipBit } from '../damage.ts'
import {
  commitStaged,
  countLines,
  DEAD,
  deadRun,
  loadSources,
  NOW,
  placeStaged,
  releasedRun,
  type Staged,
  stageRun,
} from '../small-lake.ts'

const HOLDS = new URL('child-holds.ts', import.meta.url)
const NOTHING = { runs: [], snapshots: [], files: [], leftovers: [], freedBytes: 0, working: [] }

const place = (staged: Staged): Promise<void> => placeStaged({ ...staged, runFiles: [] })

test('removeGarbage leaves a whole lake as it is', async () => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b']) await loadSources(lake, [source])
  const before = await filesOf(lake)
  expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
  expect(await filesOf(lake)).toEqual(before)
})

test('removeGarbage removes dead and released runs with all they published', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const before = await filesOf(lake)
  const dead = await deadRun(lake, ['b'])
  await place(dead)
  const released = await releasedRun(lake, ['c'])
  const { runs, files, freedBytes } = await removeGarbage({ lake, now: NOW })
  expect(runs).toEqual([dead.lease.run, released.lease.run].sort())
  expect(files).toHaveLength(2)
  expect(freedBytes).toBeGreaterThan(100)
  expect(await filesOf(lake)).toEqual(before)
  expect(await readdir(join(lake, 'companies'))).toHaveLength(1)
  expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
})

test('removeGarbage changes nothing in a dry run and tells the same', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await place(await deadRun(lake, ['b']))
  const before = await filesOf(lake)
  const told = await removeGarbage({ lake, now: NOW, dryRun: true })
  expect(await filesOf(lake)).toEqual(before)
  const { freedBytes, ...done } = await removeGarbage({ lake, now: NOW })
  expect(told).toMatchObject(done)
  expect(freedBytes - told.freedBytes).toBeLessThan(300) // the owner that gc itself wrote
})

test('removeGarbage never touches a run of a live process, and removes it once that is killed', async () => {
  const lake = await temporaryFolder()
  const child = startChild(HOLDS, lake, 'a')
  const run = (await child.nextLine()) ?? ''
  const before = await filesOf(lake)
  expect(before.filter((path) => path.startsWith('companies/'))).toHaveLength(1)
  expect(await removeGarbage({ lake, now: NOW })).toEqual({ ...NOTHING, working: [run] })
  expect(await filesOf(lake)).toEqual(before)
  await child.kill()
  expect(await removeGarbage({ lake, now: NOW })).toMatchObject({ runs: [run], working: [] })
  expect(await readdir(lake)).toEqual(expect.arrayContaining([MANIFEST_FOLDER, RUNS_FOLDER]))
  expect(await filesOf(lake)).toEqual([])
})

test('removeGarbage leaves a run of another host alone until a day without a touch', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a'], { ...thisProcess(), host: 'elsewhere' })
  expect(await removeGarbage({ lake, now: new Date() })).toMatchObject({ runs: [], working: [lease.run] })
  const now = new Date(Date.now() + 25 * 3_600_000)
  expect(await removeGarbage({ lake, now })).toMatchObject({ runs: [lease.run], working: [] })
})

test('removeGarbage leaves a run of another boot and its unfinished writes alone as long as they change', async () => {
  const lake = await temporaryFolder()
  const other = { ...thisProcess(), boot: 'another one' }
  const { lease } = await stageRun(lake, ['a'], other)
  const writing = `${RUNS_FOLDER}/${temporaryName(other)}`
  await mkdir(inLake(lake, writing))
  await writeFile(inLake(lake, `${writing}/part`), 'x')
  await utimes(inLake(lake, writing), 0, 0)
  const before = await filesOf(lake)
  expect(await removeGarbage({ lake, now: new Date() })).toEqual({ ...NOTHING, working: [lease.run] })
  expect(await filesOf(lake)).toEqual(before)
  const later = (hours: number) => ({ lake, now: new Date(Date.now() + hours * 3_600_000) })
  expect(await removeGarbage(later(1))).toMatchObject({ runs: [lease.run], leftovers: [], working: [] })
  expect(await removeGarbage(later(25))).toMatchObject({ runs: [], leftovers: [writing] })
})

test('removeGarbage removes unfinished writes of dead processes only', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  const elsewhere = temporaryName({ ...thisProcess(), host: 'elsewhere' })
  const [dead, live] = [temporaryName(DEAD), temporaryName()]
  for (const folder of [MANIFEST_FOLDER, RUNS_FOLDER, SERVE_FOLDER, BATCHES_FOLDER]) {
    await mkdir(inLake(lake, `${folder}/${dead}/staging`), { recursive: true })
    for (const name of [elsewhere, live]) await writeFile(inLake(lake, `${folder}/${name}`), 'x')
  }
  await utimes(inLake(lake, `${RUNS_FOLDER}/${elsewhere}`), 0, 0)
  const { leftovers } = await removeGarbage({ lake, now: new Date() })
  expect(leftovers).toEqual([
    `${MANIFEST_FOLDER}/${dead}`,
    ...[`${RUNS_FOLDER}/${dead}`, `${RUNS_FOLDER}/${elsewhere}`].sort(),
    `${SERVE_FOLDER}/${dead}`,
    `${BATCHES_FOLDER}/${dead}`,
  ])
  expect(await readdir(inLake(lake, RUNS_FOLDER))).toEqual([live])
})

test('removeGarbage removes unfinished writes in the logs of published tables', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const [dead, live] = [temporaryName(DEAD), temporaryName()]
  const logs = ['companies/_delta_log', 'companies/metadata', '_other/metadata']
  for (const log of logs) {
    await mkdir(inLake(lake, log), { recursive: true })
    for (const name of [dead, live, '00000000000000000000.json'])
      await writeFile(inLake(lake, `${log}/${name}`), 'x')
  }
  const { leftovers, files } = await removeGarbage({ lake, now: NOW })
  expect(leftovers).toEqual([`companies/_delta_log/${dead}`, `companies/metadata/${dead}`])
  expect(files).toEqual([])
  for (const log of logs.slice(0, 2))
    expect(await readdir(inLake(lake, log))).toEqual([live, '00000000000000000000.json'].sort())
})

test('removeGarbage removes an unfinished write of rates, and leaves the rates alone', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await mkdir(inLake(lake, '_rates'))
  for (const name of [temporaryName(DEAD), 'rates.csv']) await writeFile(inLake(lake, `_rates/${name}`), 'x')
  await removeGarbage({ lake, now: NOW })
  expect(await readdir(inLake(lake, '_rates'))).toEqual(['rates.csv'])
})

/** Parts that the newest snapshot does not list: merged into others since. */
const staleParts = async (lake: string): Promise<string[]> => {
  const root = await readFile(inLake(lake, snapshotPath(await newestNumber(lake))), 'utf8')
  const names = await filesOf(join(lake, MANIFEST_FOLDER, 'parts'))
  return names.filter((name) => !root.includes(name)).map((name) => partPath(name))
}

const FOLDERS = [
  ['serving indexes', SERVE_FOLDER, servePath, ['companies.jsonl', LIST_FILE, 'index.json']],
  ['batch files', BATCHES_FOLDER, batchesPath, ['companies-SE-0001.jsonl.br', LIST_FILE, 'index.json']],
] as const

test.each(FOLDERS)(
  'removeGarbage removes %s of removed snapshots, and leaves the others alone',
  async (_what, parent, pathOf, names) => {
    const lake = await temporaryFolder()
    for (const source of ['a', 'b', 'c']) await loadSources(lake, [source])
    // Of a snapshot that is not there yet too: a commit may come between two looks.
    for (const snapshot of [1, 2, 3, 4]) {
      await mkdir(inLake(lake, pathOf(snapshot)), { recursive: true })
      await writeFileList(inLake(lake, pathOf(snapshot)), [])
      for (const name of names)
        if (name !== LIST_FILE) await writeFile(inLake(lake, `${pathOf(snapshot)}/${name}`), 'x')
    }
    await mkdir(inLake(lake, `${parent}/notes`))
    expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
    const files = [1, 2].flatMap((number) => names.map((name) => `${pathOf(number)}/${name}`))
    const parts = await staleParts(lake)
    expect(parts).toHaveLength(2)
    const all = { files: [...parts, ...files] }
    expect(await removeGarbage({ lake, now: NOW, keep: 1, dryRun: true })).toMatchObject(all)
    expect(await readdir(inLake(lake, parent))).toHaveLength(5)
    const done = await removeGarbage({ lake, now: NOW, keep: 1 })
    expect(done).toMatchObject({ ...all, snapshots: [1, 2] })
    expect(await readdir(inLake(lake, parent))).toEqual(['00000003', '00000004', 'notes'])
    expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [] })
  },
)

test('removeGarbage counts a file that serving indexes share as freed once, and only when none of them is left', async () => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b', 'c']) await loadSources(lake, [source])
  for (const [at, names] of [['old', 'kept'], ['old', 'kept'], ['kept']].entries()) {
    const folder = inLake(lake, servePath(at + 1))
    await mkdir(folder, { recursive: true })
    for (const name of names) {
      const before = inLake(lake, `${servePath(at)}/${name}`)
      if (at === 0) await writeFile(join(folder, name), name === 'old' ? 'x'.repeat(1000) : 'x'.repeat(9000))
      else await link(before, join(folder, name))
    }
  }
  await writeFile(inLake(lake, `${servePath(2)}/own`), 'x'.repeat(300))
  const freed = async (): Promise<number> => {
    const { freedBytes, files } = await removeGarbage({ lake, now: NOW, keep: 1, dryRun: true })
    const parts = files.filter((path) => path.startsWith(PARTS_FOLDER))
    const sizes = await Promise.all(parts.map((path) => stat(inLake(lake, path))))
    return freedBytes - sizes.reduce((sum, { size }) => sum + size, 0)
  }
  const withShared = await freed()
  await rm(inLake(lake, servePath(3)), { recursive: true })
  expect([withShared, await freed()]).toEqual([1300, 10_300])
})

test('removeGarbage leaves files alone that no run made', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const own = ['notes.txt', 'companies/notes.txt', 'companies/load=mine/notes.txt', '_views/a.sql']
  for (const path of own) {
    await mkdir(join(lake, path, '..'), { recursive: true })
    await writeFile(join(lake, path), 'x')
  }
  expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
})

test('removeGarbage removes files of a run without a folder, but not where the manifest may be lost', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const [stray = ''] = [`${loadPath('companies', '20200101T000000000Z-000000')}/a.parquet`]
  await mkdir(join(lake, stray, '..'), { recursive: true })
  await writeFile(join(lake, stray), 'x')
  expect(await removeGarbage({ lake, now: NOW })).toEqual({ ...NOTHING, files: [stray], freedBytes: 1 })
  await rm(join(lake, MANIFEST_FOLDER), { recursive: true })
  await mkdir(join(lake, MANIFEST_FOLDER))
  expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
})

test('removeGarbage frees, in a lake without a snapshot, what a run has placed that was cancelled, and nothing else', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  const cancelled = await stageRun(lake, ['a'])
  await place(cancelled)
  const other = `${loadPath('companies', '20200101T000000000Z-000000')}/a.parquet`
  await mkdir(join(lake, other, '..'), { recursive: true })
  await writeFile(join(lake, other), 'x')
  await endRun(lake, cancelled.lease.run)
  const told = await removeGarbage({ lake, now: NOW, dryRun: true })
  const { files, freedBytes } = await removeGarbage({ lake, now: NOW })
  expect(files[0]).toBe(cancelled.entries[0]?.partition.files[0]?.path)
  expect(told).toMatchObject({ files, freedBytes })
  expect(freedBytes).toBeGreaterThan(10)
  expect(await readdir(join(lake, 'companies'))).toEqual(['load=20200101T000000000Z-000000'])
  expect(await filesOf(lake)).toEqual([other])
})

test('removeGarbage frees what a dead run has placed in a lake without a snapshot, also after a gc that was killed in between', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  const dead = await deadRun(lake, ['a'])
  await place(dead)
  // As a killed gc leaves it: the folder of the run is gone, and its files are not.
  await recordRemoved(lake, dead.lease.run)
  await rm(join(lake, RUNS_FOLDER, dead.lease.run), { recursive: true })
  await removeGarbage({ lake, now: NOW })
  expect(await filesOf(lake)).toEqual([])
})

test.each([1, 2])('removeGarbage refuses a lake whose snapshot %i is damaged or missing', async (number) => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b']) await loadSources(lake, [source])
  const dead = await deadRun(lake, ['c'])
  await place(dead)
  const before = await filesOf(lake)
  const path = inLake(lake, snapshotPath(number))
  for (const damage of [() => flipBit(path, 50, 1), () => rm(path)]) {
    await damage()
    await expect(removeGarbage({ lake, now: NOW })).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
  }
  const left = (await filesOf(lake)).filter((file) => !/owner-\d\.json$/.test(file))
  expect(left).toEqual(before.filter((file) => !/owner-1\.json$/.test(file) && !path.endsWith(file)))
  // The run it had taken over is released.
  expect(await leaseRun(lake, dead.lease.run, { now: NOW })).toMatchObject({ run: dead.lease.run })
})

test('removeGarbage keeps as many snapshots as asked and the lake verifies', async () => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b', 'c', 'd']) await loadSources(lake, [source])
  expect(await removeGarbage({ lake, now: NOW, keep: 9 })).toEqual(NOTHING)
  const thirdRoot = await readFile(inLake(lake, snapshotPath(3)), 'utf8')
  const stale = (await staleParts(lake)).filter((path) => !thirdRoot.includes(path.split('/').at(-1) ?? ''))
  expect(await removeGarbage({ lake, now: NOW, keep: 2 })).toMatchObject({
    snapshots: [1, 2],
    // What neither the third nor the fourth lists: its entries were merged into other parts.
    files: stale,
  })
  expect(await listSnapshots(lake)).toEqual([3, 4])
  await expect(readSnapshot(lake, 2)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  expect(await removeGarbage({ lake, now: NOW })).toEqual(NOTHING)
  expect(await removeGarbage({ lake, now: NOW, keep: 1 })).toMatchObject({ snapshots: [3] })
  await loadSources(lake, ['e'])
  const names = await filesOf(join(lake, MANIFEST_FOLDER))
  expect(names.filter((name) => !name.startsWith('parts/'))).toEqual([
    '00000004.json',
    '00000004.oldest',
    '00000004.sha256',
    '00000005.json',
    '00000005.sha256',
    'lake-id.json',
  ])
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({
    problems: [],
    notes: [],
    snapshots: 2,
  })
  await expect(removeGarbage({ lake, now: NOW, keep: 0 })).rejects.toThrow(RangeError)
})

test('removeGarbage keeps the snapshot that is published, and all after it', async () => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b', 'c', 'd']) await loadSources(lake, [source])
  await removeGarbage({ lake, now: NOW, keep: 1, keepFrom: 3 })
  expect(await listSnapshots(lake)).toEqual([3, 4])
  await removeGarbage({ lake, now: NOW, keep: 1, keepFrom: 4 })
  expect(await listSnapshots(lake)).toEqual([4])
})

test('removeGarbage twice at once is harmless, also beside runs that commit', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  for (let round = 0; round < 5; round += 1) {
    await place(await deadRun(lake, [`dead${round}`]))
    await Promise.all([
      removeGarbage({ lake, now: NOW }),
      loadSources(lake, [`live${round}`]),
      removeGarbage({ lake, now: NOW }),
      loadSources(lake, [`more${round}`]),
    ])
  }
  await removeGarbage({ lake, now: NOW })
  expect((await readSnapshot(lake)).partitions).toHaveLength(11)
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([])
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [], notes: [] })
})

test('removeGarbage and a resume at once never both have a run', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  for (let round = 0; round < 10; round += 1) {
    const staged = await deadRun(lake, [`b${round}`])
    await place(staged)
    const leaseLater = async (): Promise<RunLease> => {
      for (let turn = 0; turn < round * 3; turn += 1) await setImmediate()
      return leaseRun(lake, staged.lease.run, { now: NOW })
    }
    const [leased, garbage] = await Promise.allSettled([leaseLater(), removeGarbage({ lake, now: NOW })])
    expect(garbage).toMatchObject({ status: 'fulfilled' })
    if (leased.status === 'rejected') {
      expect(leased.reason.code).toMatch(/^RUN_(LIVE|NOT_FOUND)$/)
      expect(garbage).toMatchObject({ value: { runs: [staged.lease.run] } })
      expect(await readdir(inLake(lake, RUNS_FOLDER))).toEqual([])
    } else {
      expect(garbage).toMatchObject({ value: { runs: [], working: [staged.lease.run] } })
      expect(await commitStaged({ ...staged, lease: leased.value })).toMatchObject({ kind: 'committed' })
      await removeRun(leased.value)
    }
    await removeGarbage({ lake, now: NOW })
    expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [] })
  }
})

test('removeGarbage throws LAKE_NOT_FOUND where there is no manifest', async () => {
  const lake = await temporaryFolder()
  await expect(removeGarbage({ lake, now: NOW })).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})
