import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MadeBatchFiles, makeBatchFiles } from '../../../src/server/batch-files/make-batch-files.ts'
import { hashFile } from '../../../src/support/hash.ts'
import { type BatchLake, ofSnapshot, openBatchLake } from './batch-lake.ts'

let batchLake: BatchLake
beforeAll(async () => {
  batchLake = await openBatchLake()
})
afterAll(() => batchLake.close())

const make = async (
  snapshot = 1,
  given?: string,
): Promise<{ lake: string; folder: string; made: MadeBatchFiles }> => {
  const lake = given ?? (await batchLake.newLake())
  const index = ofSnapshot(batchLake.index, snapshot)
  const made = await makeBatchFiles({ lake, index, companiesPerFile: 2 })
  return { lake, folder: join(lake, '_batches', String(snapshot).padStart(8, '0')), made }
}
const linesOf = async (folder: string, name: string): Promise<unknown[]> => {
  const text = brotliDecompressSync(await readFile(join(folder, name))).toString('utf8')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const idsOf = async (folder: string, name: string): Promise<unknown[]> =>
  (await linesOf(folder, name)).map((record) => {
    const { BasicDetails, InternalId } = record as {
      BasicDetails?: { InternalId: number }
      InternalId?: number
    }
    return BasicDetails?.InternalId ?? InternalId
  })

test('makeBatchFiles cuts by content, country and number, in the order of ids', async () => {
  const { folder } = await make()
  const odd = `companies-x${Buffer.from('../x').toString('hex')}-0001.jsonl.br`
  const expected = {
    'companies-SE-0001.jsonl.br': [1, 2],
    'companies-SE-0002.jsonl.br': [3, 5],
    'companies-SE-0003.jsonl.br': [9],
    'companies-NO-0001.jsonl.br': [4],
    [odd]: [7],
    'companies-none-0001.jsonl.br': [8],
    'relations-SE-0001.jsonl.br': [1],
    'relations-none-0001.jsonl.br': [8],
  }
  expect((await readdir(folder)).toSorted()).toEqual(
    [...Object.keys(expected), 'files.json', 'index.json'].toSorted(),
  )
  for (const [name, ids] of Object.entries(expected)) expect(await idsOf(folder, name)).toEqual(ids)
  expect((await linesOf(folder, 'companies-SE-0002.jsonl.br'))[0]).toMatchObject({ Score: 1.5 })
})

test('makeBatchFiles tells of each file its id, content, country, time, size, count and hash', async () => {
  const { folder, made } = await make()
  const file = made.files.find(({ FileName }) => FileName === 'companies-SE-0002.jsonl.br')
  const { bytes, sha256 } = await hashFile(join(folder, 'companies-SE-0002.jsonl.br'))
  expect(file).toEqual({
    BatchFileId: '1-companies-SE-0002',
    FileName: 'companies-SE-0002.jsonl.br',
    Content: 'Companies',
    CountryCode: 'SE',
    CreatedAt: batchLake.index.description.snapshotTime,
    SizeInBytes: bytes,
    Count: 2,
    sha256,
    readers: 'all',
  })
  const none = made.files.find(({ FileName }) => FileName === 'relations-none-0001.jsonl.br')
  expect(none).toMatchObject({ Content: 'Relations', Count: 1 })
  expect(none).not.toHaveProperty('CountryCode')
  expect(JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))).toEqual({
    snapshot: 1,
    protected: '',
    files: made.files,
  })
})

test('makeBatchFiles gives the same bytes each time, and does nothing where the files are', async () => {
  const [first, second] = [await make(), await make()]
  expect(second.made.files).toEqual(first.made.files)
  const index = join(first.folder, 'index.json')
  const before = await stat(index)
  const again = await make(1, first.lake)
  expect(again.made).toEqual({ ...first.made, made: false })
  expect((await stat(index)).ino).toBe(before.ino)
})

test('makeBatchFiles makes files anew of which one is damaged, and says which', async () => {
  const { lake, folder, made } = await make()
  for (const name of ['companies-SE-0001.jsonl.br', 'index.json', 'files.json']) {
    const path = join(folder, name)
    const good = await readFile(path)
    await writeFile(path, Buffer.from(good).fill(0x21, 20, 21))
    const said: string[] = []
    const again = await makeBatchFiles({
      ...{ lake, index: batchLake.index, companiesPerFile: 2 },
      onDamaged: (reason) => said.push(reason),
    })
    expect(again).toEqual(made)
    expect(said).toEqual([expect.stringContaining(name === 'files.json' ? 'index.json' : name)])
    expect(await readFile(path)).toEqual(good)
  }
})

test('makeBatchFiles removes the files of older snapshots when the new ones stand, and no newer ones', async () => {
  const { lake } = await make(2)
  await make(3, lake)
  expect(await readdir(join(lake, '_batches'))).toEqual(['00000003'])
  await make(1, lake)
  expect((await readdir(join(lake, '_batches'))).toSorted()).toEqual(['00000001', '00000003'])
})

test('makeBatchFiles clears away what a dead maker left, and a folder without an index', async () => {
  const lake = await batchLake.newLake()
  const dead = join(lake, '_batches', '.tmp-00000000-00000000-00000000-1-1-0-1')
  await mkdir(join(lake, '_batches', '00000001'), { recursive: true })
  await writeFile(join(lake, '_batches', '00000001', 'half.jsonl.br'), 'x')
  const { folder, made } = await make(1, lake)
  expect(made.made).toBe(true)
  expect(await readdir(folder)).not.toContain('half.jsonl.br')
  // Of another host's process nothing is known: it stays.
  await mkdir(dead)
  await make(1, lake)
  expect(await readdir(join(lake, '_batches'))).toContain('.tmp-00000000-00000000-00000000-1-1-0-1')
  await rm(dead, { recursive: true })
})

test('makeBatchFiles that is stopped leaves nothing to see', async () => {
  const lake = await batchLake.newLake()
  const stop = new AbortController()
  const making = makeBatchFiles({
    lake,
    index: batchLake.index,
    companiesPerFile: 1,
    signal: stop.signal,
    onFile: () => stop.abort(),
  })
  await expect(making).rejects.toThrow()
  expect(await readdir(join(lake, '_batches'))).toEqual([])
})

test('two makers at once end with one whole set', async () => {
  const lake = await batchLake.newLake()
  const both = await Promise.all([make(1, lake), make(1, lake)])
  expect(both.map(({ made }) => made.made).toSorted()).toEqual([false, true])
  expect(both[0]?.made.files).toEqual(both[1]?.made.files)
  expect(await readdir(join(lake, '_batches'))).toEqual(['00000001'])
})
