import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inLake, LAKE_ID_PATH, recordPath, snapshotPath } from '../../../src/lake/files/layout.ts'
import type { Problem } from '../../../src/manifest/form/problems.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { removeRun } from '../../../src/manifest/runs/runs.ts'
import { ensureRecord, readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import {
  type Verification,
  type VerifyProgress,
  verifyLake,
} from '../../../src/manifest/verify/verify-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { cutTo, filesOf, flipBit, remove, seededRandom, whileDamaged } from '../damage.ts'
import { commitStaged, countLines, deadRun, loadSources, NOW, stageRun } from '../small-lake.ts'
import { createSnapshot } from '../write-snapshot.ts'

const verify = (lake: string): Promise<Verification> => verifyLake({ lake, countRows: countLines })

const problemsOf = async (lake: string): Promise<readonly Problem[]> => (await verify(lake)).problems

const lakeOf = async (...sources: string[]): Promise<string> => {
  const lake = await temporaryFolder()
  for (const source of sources) await loadSources(lake, [source])
  return lake
}

test('verifyLake finds a whole lake whole and counts what it read', async () => {
  const lake = await lakeOf('a', 'b')
  const progress: VerifyProgress[] = []
  const result = await verifyLake({ lake, countRows: countLines, onProgress: (one) => progress.push(one) })
  expect(result).toMatchObject({ snapshots: 2, files: 6, rows: 10, problems: [], notes: [] })
  expect(progress).toHaveLength(6)
  expect(progress.at(-1)).toEqual({ files: 6, filesTotal: 6, bytes: result.bytes, bytesTotal: result.bytes })
})

test('verifyLake counts the rows of each file once', async () => {
  const lake = await lakeOf('a', 'b', 'c')
  const counted: string[] = []
  const countRows = (table: string, path: string): Promise<number> => {
    counted.push(path)
    return countLines(table, path)
  }
  await verifyLake({ lake, countRows })
  expect(new Set(counted).size).toBe(counted.length)
  expect(counted).toHaveLength(6)
})

test('verifyLake names every file with a changed bit, a cut or no content', async () => {
  const lake = await lakeOf('a', 'b', 'c')
  await removeGarbage({ lake, now: NOW, keep: 2 })
  const random = seededRandom(11)
  for (const path of await filesOf(lake)) {
    const absolute = join(lake, path)
    const expectNamed = async (...kinds: string[]): Promise<void> => {
      const named = (await problemsOf(lake)).filter((one) => one.path === path).map(({ problem }) => problem)
      expect(named, path).toHaveLength(1)
      expect(kinds).toContain(named[0])
    }
    for (let time = 0; time < 2; time += 1) {
      const flip = (size: number) => flipBit(absolute, Math.floor(random() * size), Math.floor(random() * 8))
      await whileDamaged(absolute, flip, () => expectNamed('changed'))
    }
    await whileDamaged(
      absolute,
      () => cutTo(absolute, 0),
      () => expectNamed('cut'),
    )
    const cut = (size: number) => cutTo(absolute, Math.floor(random() * size))
    await whileDamaged(absolute, cut, () => expectNamed('cut', 'changed'))
  }
  expect(await problemsOf(lake)).toEqual([])
})

test('verifyLake names every missing file, the oldest and the newest snapshot included', async () => {
  const lake = await lakeOf('a', 'b', 'c')
  await removeGarbage({ lake, now: NOW, keep: 2 })
  // A lake without an id gets one.
  for (const path of (await filesOf(lake)).filter((one) => one !== LAKE_ID_PATH)) {
    const absolute = join(lake, path)
    const check = async (): Promise<void> => {
      const named = (await problemsOf(lake)).filter((one) => one.path === path)
      expect(named, path).toMatchObject([{ problem: 'missing' }])
    }
    await whileDamaged(absolute, () => remove(absolute), check)
  }
})

test('verifyLake names only the file that is damaged', async () => {
  const lake = await lakeOf('a', 'b')
  for (const path of await filesOf(lake)) {
    const absolute = join(lake, path)
    const check = async (): Promise<void> => {
      expect((await problemsOf(lake)).map((one) => one.path)).toEqual([path])
    }
    await whileDamaged(absolute, () => flipBit(absolute, 3, 3), check)
    if (path !== snapshotPath(1) && path !== LAKE_ID_PATH)
      await whileDamaged(absolute, () => remove(absolute), check)
  }
})

test('verifyLake names the first snapshots when they and their records are missing', async () => {
  const lake = await lakeOf('a', 'b')
  for (const path of [snapshotPath(1), recordPath(1)]) await rm(inLake(lake, path))
  const named = (await problemsOf(lake)).map(({ path }) => path)
  expect(named).toContain(snapshotPath(1))
  expect(named).toContain(recordPath(1))
})

test('verifyLake names a file that cannot be read', async (context) => {
  context.skip(process.getuid?.() === 0, 'root may read every file')
  const lake = await lakeOf('a', 'b')
  for (const path of await filesOf(lake)) {
    await chmod(join(lake, path), 0)
    expect(await problemsOf(lake)).toMatchObject([{ path, problem: 'unreadable' }])
    await chmod(join(lake, path), 0o644)
  }
})

test('verifyLake names a file that has become a folder', async () => {
  const lake = await lakeOf('a')
  for (const path of await filesOf(lake)) {
    const absolute = join(lake, path)
    const damage = async (): Promise<void> => {
      await remove(absolute)
      await mkdir(absolute)
    }
    const check = async (): Promise<void> => {
      expect(await problemsOf(lake)).toMatchObject([{ path, problem: 'unreadable' }])
      await rm(absolute, { recursive: true })
    }
    await whileDamaged(absolute, damage, check)
  }
})

test('verifyLake names a file whose rows are not as many as listed', async () => {
  const lake = await lakeOf('a')
  const countRows = async (table: string): Promise<number> => {
    if (table === 'companies') throw new Error('no footer')
    return 7
  }
  const { problems } = await verifyLake({ lake, countRows })
  expect(problems).toMatchObject([
    { problem: 'unreadable', detail: 'its rows cannot be counted: no footer' },
    { problem: 'counts', detail: '7 rows, expected 2' },
  ])
})

test('verifyLake finds sums, parents and listings that do not fit in a snapshot with a right hash', async () => {
  const lake = await lakeOf('a')
  const first = await readSnapshot(lake)
  const partitions = first.partitions.map((one) => ({
    ...one,
    id: 'twice',
    counts: { ...one.counts, lines: 9 },
    files: one.files.map((file) => ({ ...file, rows: file.rows + 1 })),
  }))
  await createSnapshot(lake, { ...first, snapshot: 2, parent: 7, run: 'another', partitions })
  await ensureRecord(lake, 2)
  const details = (await problemsOf(lake)).map(({ path, problem }) => `${path} ${problem}`)
  // The files have the rows that the first snapshot says.
  const files = first.partitions.flatMap((one) => one.files).map(({ path }) => `${path} counts`)
  const expected = [`${snapshotPath(2)} counts`, `${snapshotPath(2)} listing`, ...files]
  expect(new Set(details)).toEqual(new Set(expected))
})

test('verifyLake excuses a missing record of the newest snapshot only while its run is not ended', async () => {
  const lake = await lakeOf('a')
  const staged = await stageRun(lake, ['b'])
  await commitStaged(staged)
  await rm(inLake(lake, recordPath(2)))
  const { problems, notes } = await verify(lake)
  expect(problems).toEqual([])
  expect(notes[0]).toContain('the commit of snapshot 2')
  await removeRun(staged.lease)
  expect(await problemsOf(lake)).toMatchObject([{ path: recordPath(2), problem: 'missing' }])
})

test('verifyLake notes unfinished runs and what dead ones left, as no failure', async () => {
  const lake = await lakeOf('a')
  const { lease } = await deadRun(lake, ['b'])
  const stray = 'companies/load=20200101T000000000Z-000000/a.parquet'
  await mkdir(join(lake, stray, '..'))
  await writeFile(join(lake, stray), 'x')
  const { problems, notes } = await verify(lake)
  expect(problems).toEqual([])
  expect(notes).toEqual([expect.stringContaining(lease.run), expect.stringContaining(stray)])
})

test('verifyLake can look at one snapshot and its files only', async () => {
  const lake = await lakeOf('a', 'b')
  const [file] = (await readSnapshot(lake)).partitions.at(-1)?.files ?? []
  await rm(join(lake, file?.path ?? ''))
  const of = (snapshot: number) => verifyLake({ lake, snapshot, countRows: countLines })
  expect((await of(1)).problems).toEqual([])
  expect((await of(2)).problems).toMatchObject([{ path: file?.path, problem: 'missing' }])
  await expect(of(3)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  await rm(inLake(lake, snapshotPath(2)))
  expect((await of(2)).problems).toMatchObject([{ path: snapshotPath(2), problem: 'missing' }])
})

test('verifyLake stops when it is aborted', async () => {
  const lake = await lakeOf('a')
  const stopped = verifyLake({ lake, countRows: countLines, signal: AbortSignal.abort() })
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
})

test('verifyLake throws LAKE_NOT_FOUND where there is no manifest', async () => {
  await expect(verify(await temporaryFolder())).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})
