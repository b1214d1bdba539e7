import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Embedder } from '../../../../src/server/ranking/embedder.ts'
import { buildIndex, indexFolder } from '../../../../src/server/serving-index/build/build-index.ts'
import { contractHash } from '../../../../src/server/serving-index/index-form.ts'
import { openIndex } from '../../../../src/server/serving-index/open-index.ts'
import { temporaryName, thisProcess } from '../../../../src/support/process-identity.ts'
import { type LoadedLake, Workbench } from '../../../load/loaded-lake.ts'
import { DEAD } from '../../../manifest/small-lake.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { lengthEmbedder, loadServed, MEMORY_BYTES, requestOf, sampleLines } from '../served-lake.ts'

let bench: Workbench
let loaded: LoadedLake

beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(
    bench,
    { content: 'companies', lines: await sampleLines('companies', 10) },
    { content: 'relations', lines: await sampleLines('relations', 10) },
  )
})
afterAll(() => bench.close())

/** Where an index may be made in a folder of its own. */
const newFolder = async (): Promise<string> => join(await temporaryFolder(), 'copies', '1')
const opens = async (folder: string): Promise<void> =>
  (await openIndex({ folder, memoryBytes: MEMORY_BYTES })).close()

test('buildIndex writes the copy into the folder of its snapshot, and nothing beside it', async () => {
  const folder = indexFolder(loaded.lake, 1)
  const description = await buildIndex(requestOf(loaded))
  expect(description).toMatchObject({
    snapshot: 1,
    snapshotTime: '2025-01-01T00:00:00Z',
    snapshotAsOf: '2025-01-01T00:00:00Z',
    records: { companies: 10, relations: 10 },
    embedder: { name: 'length', dimensions: 2 },
  })
  expect(folder).toBe(join(loaded.lake, '_serve', '00000001'))
  expect(await readdir(dirname(folder))).toEqual(['00000001'])
  const name = description.segments[0]?.name
  expect((await readdir(folder)).sort()).toEqual([
    `companies-${name}.jsonl.zst`,
    'files.json',
    'index.json',
    `minified-${name}.jsonl.zst`,
    `relations-${name}.jsonl.zst`,
    `search-${name}.duckdb`,
  ])
  expect(JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))).toEqual(description)
})

test('buildIndex leaves nothing when the embedder fails, and a second call succeeds', async () => {
  const folder = await newFolder()
  const embedder: Embedder = { ...lengthEmbedder, embed: () => Promise.reject(new Error('no service')) }
  await expect(buildIndex(requestOf(loaded, { folder, embedder }))).rejects.toMatchObject({
    code: 'ENGINE_FAILED',
  })
  expect(await readdir(dirname(folder))).toEqual([])
  await buildIndex(requestOf(loaded, { folder }))
  await opens(folder)
})

test.each([
  ['too few vectors', []],
  ['vectors that are too short', Array.from({ length: 10 }, () => Float32Array.of(1))],
])('buildIndex refuses an embedder that gives %s', async (_what, vectors) => {
  const embedder: Embedder = { ...lengthEmbedder, embed: () => Promise.resolve(vectors) }
  const making = buildIndex(requestOf(loaded, { folder: await newFolder(), embedder }))
  await expect(making).rejects.toMatchObject({ code: 'EMBEDDER_FAILED' })
})

test.each(['companies', 'tables', 'embeddings'] as const)(
  'buildIndex that is stopped in step %s leaves nothing',
  async (step) => {
    const folder = await newFolder()
    const stop = new AbortController()
    const onProgress = (progress: { readonly step: string }): void => {
      if (progress.step === step) stop.abort(new Error('enough'))
    }
    const making = buildIndex(requestOf(loaded, { folder, signal: stop.signal, onProgress }))
    await expect(making).rejects.toThrow('enough')
    expect(await readdir(dirname(folder))).toEqual([])
  },
)

test('buildIndex leaves unfinished folders of other hosts alone', async () => {
  const folder = await newFolder()
  const [dead, elsewhere] = [temporaryName(DEAD), temporaryName({ ...thisProcess(), host: 'elsewhere' })]
  for (const name of [dead, elsewhere, 'mine']) await mkdir(join(dirname(folder), name), { recursive: true })
  await buildIndex(requestOf(loaded, { folder }))
  expect(await readdir(dirname(folder))).toEqual([elsewhere, '1', 'mine'].sort())
})

test('buildIndex twice at once gives one copy, and both say what it is', async () => {
  const folder = await newFolder()
  const made = await Promise.all([1, 2].map(() => buildIndex(requestOf(loaded, { folder }))))
  expect(made[0]).toEqual(made[1])
  expect(await readdir(dirname(folder))).toEqual(['1'])
  await opens(folder)
})

test('buildIndex uses an index that is there, and makes one of another embedder or snapshot anew', async () => {
  const folder = await newFolder()
  await buildIndex(requestOf(loaded, { folder }))
  const refusing: Embedder = { ...lengthEmbedder, embed: () => Promise.reject(new Error('asked')) }
  expect(await buildIndex(requestOf(loaded, { folder, embedder: refusing }))).toMatchObject({ snapshot: 1 })
  const other = { ...lengthEmbedder, name: 'other' }
  expect(await buildIndex(requestOf(loaded, { folder, embedder: other }))).toMatchObject({
    embedder: { name: 'other' },
  })
  const again = requestOf(loaded, { folder, embedder: other, snapshotSha256: 'a'.repeat(64) })
  expect(await buildIndex(again)).toMatchObject({ snapshotSha256: 'a'.repeat(64) })
  expect(await readdir(dirname(folder))).toEqual(['1'])
  await opens(folder)
})

test('buildIndex makes an index of another version or another contract anew', async () => {
  const folder = await newFolder()
  const description = await buildIndex(requestOf(loaded, { folder }))
  const path = join(folder, 'index.json')
  for (const other of [{ version: 2 }, { contract: 'a'.repeat(64) }, { version: 2, contract: undefined }]) {
    await writeFile(path, JSON.stringify({ ...description, ...other }))
    expect(await buildIndex(requestOf(loaded, { folder }))).toEqual(description)
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(description)
  }
})

test('contractHash is another when a field or a column is another, and not for another explanation', () => {
  const declared = { fields: { Name: { kind: 'text', omitted: 'null', about: 'A name.' } } }
  const hashOf = (kind: string, about: string) =>
    contractHash({ fields: { Name: { ...declared.fields.Name, kind, about } } })
  expect(hashOf('text', 'Another.')).toBe(contractHash(declared))
  expect(hashOf('strings', 'A name.')).not.toBe(contractHash(declared))
  expect(contractHash(declared, [])).not.toBe(contractHash(declared))
})

test('buildIndex never removes a folder that is no copy', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'notes.txt'), 'x')
  await expect(buildIndex(requestOf(loaded, { folder }))).rejects.toMatchObject({ code: 'INDEX_UNUSABLE' })
  expect(await readdir(folder)).toEqual(['notes.txt'])
})

test('buildIndex makes an index of a lake without records', async () => {
  const folder = await newFolder()
  const empty = await bench.load({ content: 'companies', lines: [] })
  expect(await buildIndex(requestOf(empty, { folder }))).toMatchObject({
    records: { companies: 0, relations: 0 },
  })
  await opens(folder)
})
