import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AREAS, type Area } from '../../../src/contract/authorization.ts'
import type { BatchListing } from '../../../src/contract/listings.ts'
import { openShelf } from '../../../src/server/batches/batch-shelf.ts'
import { makeBatches } from '../../../src/server/batches/make-batches.ts'
import type { Caller } from '../../../src/server/caller.ts'
import { newTokenBook, tokenHash } from '../../../src/server/tokens/token-book.ts'
import { bearer, get, openFake } from '../http/open-fake.ts'
import { type BatchLake, ofSnapshot, openBatchLake } from './batch-lake.ts'

let batchLake: BatchLake
let lake: string
beforeAll(async () => {
  batchLake = await openBatchLake()
  lake = await batchLake.newLake()
  await makeBatches({ lake, copy: batchLake.copy })
})
afterAll(() => batchLake.close())

const ALL: ReadonlySet<Area> = new Set(AREAS)
const caller = (
  countries: Readonly<Record<string, ReadonlySet<Area>>>,
  withoutCountry: ReadonlySet<Area> | null = null,
): Caller => ({ name: 'a', rights: { countries: new Map(Object.entries(countries)), withoutCountry } })
const EVERYTHING: Caller = { name: 'a', rights: 'everything' }

const idsFor = async (who: Caller): Promise<string[]> =>
  (await openShelf(lake).listing(who)).BatchFiles.map(({ BatchFileId }) => BatchFileId).toSorted()

test('a listing has the files of the countries that the caller may see', async () => {
  expect(await idsFor(EVERYTHING)).toHaveLength(6)
  expect(await idsFor(caller({ NO: ALL }))).toEqual(['1-companies-NO-0001'])
  expect(await idsFor(caller({ DK: ALL }))).toEqual([])
  expect(await idsFor(caller({}, ALL))).toEqual(['1-companies-none-0001', '1-relations-none-0001'])
})

test('a file of relations is for callers with every area of its country, hidden persons included', async () => {
  expect(await idsFor(caller({ SE: ALL }))).toEqual(['1-companies-SE-0001', '1-relations-SE-0001'])
  for (const missing of AREAS) {
    const some = new Set(AREAS.filter((area) => area !== missing))
    expect(await idsFor(caller({ SE: some }))).toEqual(['1-companies-SE-0001'])
  }
  expect(await idsFor(caller({}, new Set<Area>(['Owner'])))).toEqual(['1-companies-none-0001'])
})

test('a file that is not listed for a caller is not found either', async () => {
  const shelf = openShelf(lake)
  const swede = caller({ SE: new Set<Area>(['Owner']) })
  expect(await shelf.find(swede, '1-companies-SE-0001')).toMatchObject({ file: { Count: 5 } })
  for (const id of ['1-relations-SE-0001', '1-companies-NO-0001', '../index.json', '1-companies-SE-0002', ''])
    expect(await shelf.find(swede, id)).toBe(undefined)
})

test('a lake without batch files has an empty listing', async () => {
  expect(await openShelf(await batchLake.newLake()).listing(EVERYTHING)).toEqual({ BatchFiles: [] })
})

test('files that are made while a server runs are offered, those before no more', async () => {
  const own = await batchLake.newLake()
  const shelf = openShelf(own)
  const ids = async () => (await shelf.listing(EVERYTHING)).BatchFiles.map(({ BatchFileId }) => BatchFileId)
  expect(await ids()).toEqual([])
  await makeBatches({ lake: own, copy: batchLake.copy })
  expect(await ids()).toContain('1-companies-NO-0001')
  await makeBatches({ lake: own, copy: ofSnapshot(batchLake.copy, 2) })
  expect(await ids()).toContain('2-companies-NO-0001')
  expect(await shelf.find(EVERYTHING, '1-companies-NO-0001')).toBe(undefined)
})

test('over HTTP the listing is that of the token, and a download is the file', async () => {
  const tokens = newTokenBook([{ caller: caller({ NO: ALL }), sha256: tokenHash('t') }])
  const url = await openFake({ tokens, batches: openShelf(lake) })
  const listing = (await (await get(`${url}/v2/batches/batch-files`, bearer('t'))).json()) as BatchListing
  expect(listing.BatchFiles).toEqual([
    {
      BatchFileId: '1-companies-NO-0001',
      FileName: 'companies-NO-0001.jsonl.br',
      Content: 'Companies',
      CountryCode: 'NO',
      CreatedAt: batchLake.copy.description.snapshotTime,
      SizeInBytes: expect.any(Number),
      Count: 1,
    },
  ])
  const download = await get(`${url}/v2/batches/batch-file/1-companies-NO-0001`, bearer('t'))
  const record = JSON.parse(brotliDecompressSync(Buffer.from(await download.arrayBuffer())).toString())
  expect(record.BasicDetails).toMatchObject({ InternalId: 4, CountryCode: 'NO' })
  expect((await get(`${url}/v2/batches/batch-file/1-companies-SE-0001`, bearer('t'))).status).toBe(404)
})

test('a file whose size is not that of the index is not sent', async () => {
  const own = await batchLake.newLake()
  await makeBatches({ lake: own, copy: batchLake.copy })
  const path = join(own, '_batches', '00000001', 'companies-NO-0001.jsonl.br')
  await writeFile(path, (await readFile(path)).subarray(1))
  const url = await openFake({ batches: openShelf(own) })
  expect((await get(`${url}/v2/batches/batch-file/1-companies-NO-0001`)).status).toBe(500)
})

test('an index that is none is an error', async () => {
  const own = await batchLake.newLake()
  await makeBatches({ lake: own, copy: batchLake.copy })
  await writeFile(
    join(own, '_batches', '00000001', 'index.json'),
    '{"snapshot":1,"files":[{"FileName":"../x"}]}',
  )
  await expect(openShelf(own).listing(EVERYTHING)).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
})
