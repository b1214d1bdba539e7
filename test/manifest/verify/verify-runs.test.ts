import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RATES_PATH, runPath } from '../../../src/lake/files/layout.ts'
import { ratesFileText } from '../../../src/lake/rates/rates-csv.ts'
import { readJournal, recordUnit } from '../../../src/manifest/runs/journal.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { storageOf } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf, flipBit, seededRandom, whileDamaged } from '../damage.ts'
import { countLines, loadSources, releasedRun } from '../small-lake.ts'

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

test('verifyLake says where the rates are not what was written', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await storageOf(lake).replace(RATES_PATH, 'currency,year,units_per_usd\nPLN,2020,3.9\n')
  expect((await verifyLake({ lake, countRows: countLines })).problems).toMatchObject([
    { path: RATES_PATH, problem: 'changed' },
  ])
})
