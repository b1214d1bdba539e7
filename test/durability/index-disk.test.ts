/** An index of the server onto a disk that is full. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildIndex } from '../../src/server/serving-index/build/build-index.ts'
import { type LoadedLake, Workbench } from '../load/loaded-lake.ts'
import { loadServed, requestOf, sampleLines } from '../server/serving-index/served-lake.ts'
import { smallDisk } from '../support/small-disk.ts'

let bench: Workbench
let loaded: LoadedLake

beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(
    bench,
    { content: 'companies', lines: await sampleLines('companies', 40) },
    { content: 'relations', lines: await sampleLines('relations', 40) },
  )
})
afterAll(() => bench.close())

test.for([16, 400])(
  'buildIndex onto a disk of %i KiB ends with DISK_FULL and leaves nothing',
  async (kib, context) => {
    const disk = await smallDisk(context, kib * 1024)
    const making = buildIndex(requestOf(loaded, { folder: join(disk, '1') }))
    await expect(making).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await readdir(disk)).toEqual([])
  },
)
