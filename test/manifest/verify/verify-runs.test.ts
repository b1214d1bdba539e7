import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RATES_PATH, runPath } from '../../../src/lake/files/layout.ts'
import { ratesFileText } from '../../../src/lake/rates/rates-csv.ts'
import { readJournal, recordUnit } from '../../../src/manifest/runs/journal.ts'
import { releaseRun } from '../../../src/manifest/runs/run-lease.ts'
import { recordEnded } from '../../../src/manifest/runs/shared-commits.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { storageOf } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf, flipBit, seededRandom, whileDamaged } from '../damage.ts'
import { commitStaged, countLines, loadSources, releasedRun, stageRun } from '../small-lake.ts'

test('verifyLake names every file of an unfinished run, and the rates, with a changed bit', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const { lease } = await releasedRun(lake, ['b', 'c'])
  const { entries } = await readJournal(lake, lease.run)
  await recordUnit(lake, lease.run, 3, { entries, result: { sources: [], read: [], attempt: 'a' } })
  await storageOf(lake).replace(RATES_PATH, ratesFileText('currency,year,units_per_usd\nPLN,2020,3.9\n'))
  const verify = () => verifyLake({ lake, countRows: countLines })
  expect((await verify()).problems).toEqual([])
  const random = seededRandom(17)
  const listed = (await filesOf(lake)).filter(
    (path) => path.startsWith(runPath(lease.run)) || path === RATES_PATH,
  )
  // The dictionary of a run is written anew at its end: nobody reads what stands there before.
  const read = listed.filter((path) => !path.includes('line_items'))
  expect(read.length).toBeGreaterThan(7)
  for (const path of read)
    for (let time = 0; time < 3; time += 1)
      await whileDamaged(
        join(lake, path),
        (size) => flipBit(join(lake, path), Math.floor(random() * size), Math.floor(random() * 8)),
        async () => {
          const named = (await verify()).problems.map((problem) => problem.path)
          // A changed owner hides whether its run is at work: then only its small files are looked at.
          expect(named, path).toContain(path)
        },
      )
  expect((await verify()).problems).toEqual([])
})

test('verifyLake misses no file of a run that has ended, only of one that is still to be committed', async () => {
  const lake = await temporaryFolder()
  // Both had begun before another run loaded the same source.
  const [some, none] = [await stageRun(lake, ['a', 'b']), await stageRun(lake, ['a'])]
  const waiting = await stageRun(lake, ['c'])
  await loadSources(lake, ['a'])
  for (const { lease, entries } of [some, none, waiting]) {
    const result = { sources: [], read: [], attempt: 'a' }
    await recordUnit(lake, lease.run, 0, { entries, result })
  }
  expect((await commitStaged(some)).kind).toBe('committed')
  expect((await commitStaged(none)).kind).toBe('nothing')
  await recordEnded(lake, none.lease.run)
  for (const { lease } of [some, none, waiting]) await releaseRun(lease)
  const gone = waiting.entries.flatMap(({ partition }) => partition.files)
  await rm(join(lake, '_runs', waiting.lease.run, 'staging'), { recursive: true })
  const { problems } = await verifyLake({ lake, countRows: countLines })
  // By the journal of its owner, and by that of a unit.
  const expected = [...gone, ...gone].map(({ path }) => ({ path, problem: 'missing' }))
  expect(problems.map(({ path, problem }) => ({ path, problem }))).toEqual(
    expected.sort((one, other) => (one.path < other.path ? -1 : 1)),
  )
  // Whether a run was committed cannot be told then: the damage is reported, not thrown.
  const manifest = (await filesOf(lake)).filter((path) => path.startsWith('_manifest/'))
  expect(manifest.length).toBeGreaterThan(2)
  for (const path of manifest)
    await whileDamaged(
      join(lake, path),
      () => flipBit(join(lake, path), 20, 3),
      async () =>
        expect((await verifyLake({ lake, countRows: countLines })).problems).toContainEqual(
          expect.objectContaining({ path }),
        ),
    )
})

test('verifyLake says where the rates are not what was written', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await storageOf(lake).replace(RATES_PATH, 'currency,year,units_per_usd\nPLN,2020,3.9\n')
  expect((await verifyLake({ lake, countRows: countLines })).problems).toMatchObject([
    { path: RATES_PATH, problem: 'changed' },
  ])
})
