/** Older views and catalogs that a slow commit has put over the newer ones. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { writeLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { copyLake, firm } from '../../support/lakes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

beforeEach(() => {
  vi.stubEnv('FIRMLAKE_DUCKLAKE', 'false')
})

const load = (lake: string, ...records: readonly object[]) =>
  convert({ from: fromRecords('crm', records), lake, again: true })

/** Two companies, one of them restated by a second run. */
const restatedLake = async (): Promise<string> => {
  const lake = await copyLake('restated', join(await temporaryFolder(), 'lake'))
  // The views of the copy name the files of the first one.
  await writeLakeFiles(lake)
  return lake
}

test.each([
  ['lake.duckdb', 'shows snapshot 2, the newest is 3'],
  ['lake.duckdb.sha256', 'is of snapshot 3, and its record of 2'],
  ['lake.ducklake', 'shows snapshot 2, the newest is 3'],
])(
  'an older %s that a slow commit has put over the newer one is no damage, and is made again',
  async (name, note) => {
    // One of the two files is enough.
    vi.stubEnv('FIRMLAKE_DUCKLAKE', String(name.startsWith('lake.ducklake')))
    vi.stubEnv('FIRMLAKE_DUCKDB', String(name.startsWith('lake.duckdb')))
    const lake = await restatedLake()
    const older = await readFile(join(lake, name))
    await load(lake, firm(9, 9))
    const newer = await readFile(join(lake, name))
    await rm(join(lake, name))
    await writeFile(join(lake, name), older)
    const file = name.replace('.sha256', '')
    expect(await verify({ lake })).toMatchObject({
      problems: [],
      notes: [`"${file}" ${note}; "firmlake verify --repair" makes it again`],
    })
    await removeGarbage({ lake, now: new Date() })
    expect(await verify({ lake })).toMatchObject({ problems: [], notes: [] })
    expect(newer.equals(older)).toBe(false)
    // The same snapshot in other bytes is damage.
    const flipped = Buffer.from(await readFile(join(lake, file)))
    flipped[flipped.length - 100] = (flipped[flipped.length - 100] ?? 0) ^ 1
    await rm(join(lake, file))
    await writeFile(join(lake, file), flipped)
    expect((await verify({ lake })).problems).toMatchObject([{ path: file, problem: 'changed' }])
  },
)
