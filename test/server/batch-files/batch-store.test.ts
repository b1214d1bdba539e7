import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AREAS, type Area } from '../../../src/contract/authorization.ts'
import type { BatchListing } from '../../../src/contract/listings.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { newTokenRegistry, tokenHash } from '../../../src/server/access/choose-tokens.ts'
import { openBatchStore } from '../../../src/server/batch-files/batch-store.ts'
import { makeBatchFiles } from '../../../src/server/batch-files/make-batch-files.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { bearer, bodyOf, get, openFake, rawRequest } from '../http/open-fake.ts'
import { type BatchLake, ofSnapshot, openBatchLake } from './batch-lake.ts'

let batchLake: BatchLake
let lake: string
beforeAll(async () => {
  batchLake = await openBatchLake()
  lake = await batchLake.newLake()
  await makeBatchFiles({ lake, index: batchLake.index })
})
afterAll(() => batchLake.close())

const ALL: ReadonlySet<Area> = new Set(AREAS)
const caller = (
  countries: Readonly<Record<string, ReadonlySet<Area>>>,
  withoutCountry: ReadonlySet<Area> | null = null,
): Caller => ({ name: 'a', rights: { countries: new Map(Object.entries(countries)), withoutCountry } })
/** In this lake nobody is protected. */
const NOBODY = () => ''
const EVERYTHING: Caller = { name: 'a', rights: 'everything' }

const idsFor = async (who: Caller): Promise<string[]> =>
  (await openBatchStore(lake, NOBODY).listing(who)).BatchFiles.map(
    ({ BatchFileId }) => BatchFileId,
  ).toSorted()

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
  const store = openBatchStore(lake, NOBODY)
  const swede = caller({ SE: new Set<Area>(['Owner']) })
  expect(await store.find(swede, '1-companies-SE-0001')).toMatchObject({ file: { Count: 5 } })
  for (const id of ['1-relations-SE-0001', '1-companies-NO-0001', '../index.json', '1-companies-SE-0002', ''])
    expect(await store.find(swede, id)).toBe(undefined)
})

test('a lake without batch files has an empty listing', async () => {
  expect(await openBatchStore(await batchLake.newLake(), NOBODY).listing(EVERYTHING)).toEqual({
    BatchFiles: [],
  })
})

test('files that are made while a server runs are offered, those before no more', async () => {
  const own = await batchLake.newLake()
  const store = openBatchStore(own, NOBODY)
  const ids = async () => (await store.listing(EVERYTHING)).BatchFiles.map(({ BatchFileId }) => BatchFileId)
  expect(await ids()).toEqual([])
  await makeBatchFiles({ lake: own, index: batchLake.index })
  expect(await ids()).toContain('1-companies-NO-0001')
  await makeBatchFiles({ lake: own, index: ofSnapshot(batchLake.index, 2) })
  expect(await ids()).toContain('2-companies-NO-0001')
  expect(await store.find(EVERYTHING, '1-companies-NO-0001')).toBe(undefined)
})

test('over HTTP the listing is that of the token, and a download is the file', async () => {
  const tokens = newTokenRegistry([
    { caller: caller({ NO: ALL }), sha256: tokenHash('a-token-of-this-test') },
  ])
  const url = await openFake({ tokens, batches: openBatchStore(lake, NOBODY) })
  const listing = (await (
    await get(`${url}/v2/batches/batch-files`, bearer('a-token-of-this-test'))
  ).json()) as BatchListing
  expect(listing.BatchFiles).toEqual([
    {
      BatchFileId: '1-companies-NO-0001',
      FileName: 'companies-NO-0001.jsonl.br',
      Content: 'Companies',
      CountryCode: 'NO',
      CreatedAt: batchLake.index.description.snapshotTime,
      SizeInBytes: expect.any(Number),
      Count: 1,
    },
  ])
  const download = await get(
    `${url}/v2/batches/batch-file/1-companies-NO-0001`,
    bearer('a-token-of-this-test'),
  )
  const record = JSON.parse(brotliDecompressSync(Buffer.from(await download.arrayBuffer())).toString())
  expect(record.BasicDetails).toMatchObject({ InternalId: 4, CountryCode: 'NO' })
  expect(
    (await get(`${url}/v2/batches/batch-file/1-companies-SE-0001`, bearer('a-token-of-this-test'))).status,
  ).toBe(404)
})

test('a file whose size is not that of the index is not sent', async () => {
  const own = await batchLake.newLake()
  await makeBatchFiles({ lake: own, index: batchLake.index })
  const path = join(own, '_batches', '00000001', 'companies-NO-0001.jsonl.br')
  await writeFile(path, (await readFile(path)).subarray(1))
  const url = await openFake({ batches: openBatchStore(own, NOBODY) })
  expect((await get(`${url}/v2/batches/batch-file/1-companies-NO-0001`)).status).toBe(500)
})

/** Asks for a file as a client that takes what comes. @returns the body, or the status, or that it broke off */
const download = async (url: string, id: string, headers: Record<string, string> = {}) => {
  const response = await rawRequest(`${url}/v2/batches/batch-file/${id}`, { headers })
  if (response.statusCode === 500) {
    expect(response.headers.etag).toBeUndefined()
    await bodyOf(response)
    return '500'
  }
  return bodyOf(response).then(
    (body) => body,
    () => 'broken off',
  )
}

test('of a damaged file no download ends cleanly, whole or in part, and the log names the file', async () => {
  const own = await batchLake.newLake()
  const { files } = await makeBatchFiles({ lake: own, index: batchLake.index })
  const small = join(own, '_batches', '00000001', 'companies-NO-0001.jsonl.br')
  const good = await readFile(small)
  const log: string[] = []
  const url = await openFake(
    { batches: openBatchStore(own, NOBODY) },
    { log: { write: (line) => log.push(line) } },
  )
  const id = '1-companies-NO-0001'
  expect((await download(url, id)).length).toBeGreaterThan(10)
  expect((await download(url, id, { range: 'bytes=5-9' })).length).toBeGreaterThan(3)
  for (let at = 0; at < good.length; at += Math.ceil(good.length / 20)) {
    const bad = Buffer.from(good)
    bad[at] = (bad[at] ?? 0) ^ 4
    await writeFile(small, bad)
    expect(await download(url, id)).toBe('500')
    // Also of a part where nothing is wrong.
    expect(await download(url, id, { range: `bytes=${at === 0 ? 5 : 0}-${at === 0 ? 9 : at - 1}` })).toBe(
      '500',
    )
  }
  expect(log.join('')).toContain('LAKE_DAMAGED')
  expect(log.join('')).toContain('companies-NO-0001.jsonl.br')
  await writeFile(small, good)
  expect((await download(url, id)).length).toBeGreaterThan(10)
  expect(files).toHaveLength(6)
})

test('a damaged file of several pieces breaks off before its end', async () => {
  const bytes = randomBytes(3_000_000)
  const path = join(await temporaryFolder(), 'large.jsonl.br')
  const file = {
    BatchFileId: '1',
    FileName: 'large.jsonl.br',
    Content: 'Companies',
    CreatedAt: '2026-11-21T12:00:00.000Z',
    SizeInBytes: bytes.length,
    Count: 1,
    sha256: sha256Of(bytes),
    readers: 'all',
  } as const
  const batches = { listing: async () => ({ BatchFiles: [] }), find: async () => ({ file, path }) }
  const log: string[] = []
  const url = await openFake({ batches }, { log: { write: (line) => log.push(line) } })
  await writeFile(path, bytes)
  const address = `${url}/v2/batches/batch-file/1`
  expect(Buffer.from(await (await get(address)).arrayBuffer()).equals(bytes)).toBe(true)
  await writeFile(path, Buffer.from(bytes).fill(0x20, 1_000_000, 1_000_002))
  const response = await get(address)
  expect(response.status).toBe(200)
  await expect(response.arrayBuffer()).rejects.toThrow()
  expect((await get(address, { ...bearer(), range: 'bytes=0-10' })).status).toBe(500)
  expect(log.join('')).toMatch(/LAKE_DAMAGED[^\n]*large.jsonl.br/)
})

test('any flipped bit of an index is an error, and so is a missing list of files', async () => {
  const own = await batchLake.newLake()
  await makeBatchFiles({ lake: own, index: batchLake.index })
  const folder = join(own, '_batches', '00000001')
  const good = await readFile(join(folder, 'index.json'))
  for (let at = 0; at < good.length; at += 29) {
    const bad = Buffer.from(good)
    bad[at] = (bad[at] ?? 0) ^ 1
    await writeFile(join(folder, 'index.json'), bad)
    await expect(openBatchStore(own, NOBODY).listing(EVERYTHING)).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
    })
  }
  await writeFile(join(folder, 'index.json'), good)
  await rm(join(folder, 'files.json'))
  await expect(openBatchStore(own, NOBODY).listing(EVERYTHING)).rejects.toMatchObject({
    code: 'LAKE_DAMAGED',
  })
})

test('an index that is none is an error', async () => {
  const own = await batchLake.newLake()
  await makeBatchFiles({ lake: own, index: batchLake.index })
  await writeFile(
    join(own, '_batches', '00000001', 'index.json'),
    '{"snapshot":1,"files":[{"FileName":"../x"}]}',
  )
  await expect(openBatchStore(own, NOBODY).listing(EVERYTHING)).rejects.toMatchObject({
    code: 'LAKE_DAMAGED',
  })
})

const PERSON = { Name: 'Anna Berg', NationalIdentificationNumber: '700101-0000', BirthDate: '1970-01-01' }

/** Of somebody else of the same name and day. */
const OWN = { NationalIdentificationNumber: '700101-0001' }

test('files of relations mask the five fields of persons whom any record protects, and are offered as long as these are the same', async () => {
  const own = await batchLake.newLake()
  const other = await openBatchLake([
    { InternalId: 1, CountryCode: 'SE', Parents: [{ InternalId: 70, ...PERSON, Citizenships: ['SE'] }] },
    {
      InternalId: 2,
      CountryCode: 'NO',
      Children: [{ InternalId: 70, IsProtected: true, Name: 'Anna Berg' }],
    },
    { InternalId: 3, CountryCode: 'DK', Unknown: { InternalId: 71, IsProtected: true } },
    {
      InternalId: 4,
      CountryCode: 'FI',
      Parents: [
        { InternalId: 71, ...PERSON },
        { InternalId: 72, ...PERSON, ...OWN },
      ],
    },
  ])
  try {
    await makeBatchFiles({ lake: own, index: other.index })
    const linesOf = async (country: string): Promise<string> =>
      brotliDecompressSync(
        await readFile(join(own, `_batches/00000001/relations-${country}-0001.jsonl.br`)),
      ).toString()
    const [sweden, finland] = [JSON.parse(await linesOf('SE')), JSON.parse(await linesOf('FI'))]
    const masked = { ...PERSON, BirthDate: 'Protected Identity' }
    expect(sweden.Parents).toEqual([{ InternalId: 70, ...masked, Citizenships: 'Protected Identity' }])
    expect(finland.Parents).toEqual([
      { InternalId: 71, ...masked },
      { InternalId: 72, ...PERSON, ...OWN },
    ])
    const offered = async (digest: string): Promise<readonly string[]> => {
      const store = openBatchStore(own, () => digest)
      const { BatchFiles } = await store.listing(EVERYTHING)
      const isFound = (await store.find(EVERYTHING, '1-relations-SE-0001')) !== undefined
      const ids = BatchFiles.map(({ BatchFileId }) => BatchFileId)
      expect(isFound).toBe(ids.includes('1-relations-SE-0001'))
      return ids.filter((id) => id.includes('relations'))
    }
    const { digest } = other.index.persons
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(await offered(digest)).toHaveLength(4)
    expect(await offered('')).toEqual([])
  } finally {
    await other.close()
  }
})
