import { randomBytes } from 'node:crypto'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { extendList, PartWriter } from '../../../src/commit/extend-list.ts'
import { inLake, PARTS_FOLDER, partPath, recordPath, snapshotPath } from '../../../src/lake/files/layout.ts'
import { recordText, rootToText } from '../../../src/manifest/snapshots/snapshot-text.ts'
import { newestSnapshot, readRoot } from '../../../src/manifest/snapshots/snapshots.ts'
import { removeGarbage } from '../../../src/manifest/verify/remove-garbage.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf, flipBit } from '../damage.ts'
import { countLines, deadRun, loadSources, NOW, stageRun } from '../small-lake.ts'
import { committedBy } from '../write-snapshot.ts'

const verified = (lake: string) => verifyLake({ lake, countRows: countLines })

const partsOf = async (lake: string): Promise<string[]> =>
  (await filesOf(inLake(lake, PARTS_FOLDER))).map((name) => partPath(name))

const DAMAGES = [
  ['changed', (path: string) => flipBit(path, 20, 0)],
  ['cut', (path: string) => truncate(path, 30)],
  ['missing', (path: string) => rm(path)],
] as const

test.each(DAMAGES)(
  'a part that is %s is named by verifyLake, and nobody reads or clears the lake',
  async (problem, damage) => {
    const lake = await temporaryFolder()
    for (const source of ['a', 'b']) await loadSources(lake, [source])
    const whole = await newestSnapshot(lake)
    for (const path of await partsOf(lake)) {
      const before = await readFile(inLake(lake, path))
      await damage(inLake(lake, path))
      expect((await verified(lake)).problems).toMatchObject([{ path, problem }])
      await expect(removeGarbage({ lake, now: NOW })).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
      await writeFile(inLake(lake, path), before)
    }
    expect(await newestSnapshot(lake)).toEqual(whole)
    expect(await verified(lake)).toMatchObject({ problems: [], notes: [] })
  },
)

test('a commit does not go on from a part that is damaged', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const before = await partsOf(lake)
  for (const path of before) await flipBit(inLake(lake, path), 20, 0)
  await expect(loadSources(lake, ['b'])).rejects.toMatchObject({
    code: 'SNAPSHOT_DAMAGED',
    context: { path: expect.stringContaining('_manifest/parts/') },
  })
  expect(await partsOf(lake)).toEqual(before)
})

test('verifyLake finds totals and words on a part that do not fit what the snapshot lists', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const root = await readRoot(lake)
  const write = async (changed: typeof root): Promise<void> => {
    const text = rootToText(changed)
    await writeFile(inLake(lake, snapshotPath(1)), text)
    await writeFile(inLake(lake, recordPath(1)), recordText(1, text))
  }
  await write({ ...root, totals: { ...root.totals, runs: 2 } })
  expect((await verified(lake)).problems).toMatchObject([{ path: snapshotPath(1), problem: 'listing' }])
  const partitions = root.lists.partitions.map(({ ref, tool }) => ({
    ref: { ...ref, contents: ['relations'] as const },
    tool,
  }))
  await write({ ...root, lists: { ...root.lists, partitions } })
  const [path = ''] = root.lists.partitions.map(({ ref }) => partPath(ref.name))
  expect((await verified(lake)).problems).toMatchObject([{ path, problem: 'listing' }])
})

test('gc removes parts that no snapshot lists, but not those of a run at work', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const listed = await partsOf(lake)
  const [live, dead] = [await stageRun(lake, ['b']), await deadRun(lake, ['c'])]
  for (const { lease } of [live, dead]) {
    const file = { table: 'line_items', path: 'line_items/x/y.parquet', rows: 0, bytes: 0, sha256: '' }
    const files = committedBy({ snapshot: 2, time: '' }, [{ ...file, run: lease.run }])
    await extendList(new PartWriter(lease, randomBytes), 'files', [], files)
  }
  const stray = (await partsOf(lake)).filter((path) => !listed.includes(path))
  const [ofDead = '', ...others] = stray.filter((path) => path.includes(dead.lease.run))
  expect([stray.length, others]).toEqual([2, []])
  expect((await removeGarbage({ lake, now: NOW, dryRun: true })).files).toContain(ofDead)
  expect((await removeGarbage({ lake, now: NOW })).files).toContain(ofDead)
  expect(await partsOf(lake)).toEqual((await partsOf(lake)).filter((path) => path !== ofDead))
  expect(await partsOf(lake)).toHaveLength(listed.length + 1)
  expect(await verified(lake)).toMatchObject({ problems: [] })
})

test.each(DAMAGES)('a part that lists parts and is %s is named by verifyLake', async (problem, damage) => {
  const lake = await temporaryFolder()
  // Eight full parts, which one of their own lists.
  await loadSources(lake, ['a'])
  const root = await readRoot(lake)
  const { run } = root
  const unnumbered = Array.from({ length: 9000 }, (_, at) => ({
    ...{ table: 'line_items', path: `line_items/load=${run}/${at}.parquet`, rows: 0, bytes: 0, run },
    sha256: '0'.repeat(64),
  }))
  const files = committedBy(root, unnumbered, root.nextVersion)
  const writer = new PartWriter({ lake, run }, randomBytes)
  const lists = { ...root.lists, files: await extendList(writer, 'files', root.lists.files, files) }
  const text = rootToText({ ...root, lists })
  await writeFile(inLake(lake, snapshotPath(1)), text)
  await writeFile(inLake(lake, recordPath(1)), recordText(1, text))
  const higher = lists.files.flatMap(({ ref }) => (ref.level > 0 ? [partPath(ref.name)] : []))
  expect(higher).toHaveLength(1)
  const [path = ''] = higher
  await damage(inLake(lake, path))
  const found = (await verified(lake)).problems.filter((one) => one.path.startsWith(PARTS_FOLDER))
  expect(found).toMatchObject([{ path, problem }])
})
