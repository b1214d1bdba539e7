import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { currentIndex } from '../../../src/server/serving-index/build/current-index.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import type { ServingIndex } from '../../../src/server/serving-index/session-pool.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'
import { seededRandom } from '../../manifest/damage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  fileOf,
  LIMIT,
  lengthEmbedder,
  loadServed,
  type MadeIndex,
  MEMORY_BYTES,
  madeIndex,
  placesOf,
  sampleLines,
} from './served-lake.ts'

let bench: Workbench
let loaded: LoadedLake
let made: MadeIndex

beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(
    bench,
    { content: 'companies', lines: await sampleLines('companies', 30) },
    { content: 'relations', lines: await sampleLines('relations', 30) },
  )
  made = await madeIndex(loaded)
})
afterAll(async () => {
  await made.index.close()
  await bench.close()
})

const random = seededRandom(7)

/** Flips one bit of a file, in place. @returns what puts it back */
const flipBit = async (path: string): Promise<() => Promise<void>> => {
  const good = await readFile(path)
  const bad = Buffer.from(good)
  const at = Math.floor(random() * bad.length)
  bad[at] = (bad[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  // Without truncating: an open file stays what it is, as when a disk rots.
  await writeFile(path, bad, { flag: 'r+' })
  return () => writeFile(path, good, { flag: 'r+' })
}

const copied = async (): Promise<string> => {
  const folder = join(await temporaryFolder(), 'copy')
  await cp(made.folder, folder, { recursive: true })
  return folder
}

test.each([
  ['index.json', 40],
  ['files.json', 40],
  ['search', 8],
] as const)('openIndex refuses an index with one flipped bit in %s', async (what, flips) => {
  const folder = await copied()
  const name = what === 'search' ? await fileOf(folder, what) : what
  for (let flip = 0; flip < flips; flip += 1) {
    const putBack = await flipBit(join(folder, name))
    await expect(openIndex({ folder, memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
      code: 'INDEX_UNUSABLE',
    })
    await putBack()
  }
  await (await openIndex({ folder, memoryBytes: MEMORY_BYTES })).close()
})

/** All documents of a kind, or the code of the error. */
const answerOf = async (index: ServingIndex, sql: string, kind: 'companies' | 'relations' | 'minified') => {
  try {
    const rows = await index.query((session) => session.rows(sql), LIMIT)
    return (await index.documents(kind, placesOf(rows, kind === 'minified' ? 'minified_' : ''))).map(String)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return error.code
    throw error
  }
}
const QUERIES = {
  companies: 'SELECT * FROM serving.company ORDER BY internal_id',
  relations: 'SELECT * FROM serving.relation ORDER BY internal_id',
  minified: 'SELECT * FROM serving.company ORDER BY internal_id',
} as const
const KINDS = ['companies', 'relations', 'minified'] as const

test.each(KINDS)(
  'documents gives no document of %s with a flipped bit, and the file is named',
  async (kind) => {
    const folder = await copied()
    const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
    const right = await answerOf(index, QUERIES[kind], kind)
    const name = await fileOf(folder, kind)
    const path = join(folder, name)
    let refused = 0
    for (let flip = 0; flip < 40; flip += 1) {
      const putBack = await flipBit(path)
      const answer = await answerOf(index, QUERIES[kind], kind)
      if (answer === 'INDEX_UNUSABLE') refused += 1
      // Some bits of a frame's head say nothing about its content.
      else expect(answer).toEqual(right)
      await putBack()
    }
    expect(refused).toBeGreaterThan(35)
    expect(await readFile(join(folder, 'damaged.txt'), 'utf8')).toMatch(
      new RegExp(`^"${name}": the (document|block) at byte`),
    )
    await index.close()
    await expect(openIndex({ folder, memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
      code: 'INDEX_UNUSABLE',
      message: expect.stringContaining(`it was found damaged: "${name}"`),
    })
  },
)

test('query over a search file that is damaged while it is open gives the right answer or INDEX_UNUSABLE', async () => {
  const folder = await copied()
  const path = join(folder, await fileOf(folder, 'search'))
  const right = new Map<string, unknown>()
  for (const kind of KINDS) right.set(kind, await answerOf(made.index, QUERIES[kind], kind))
  const counted = { right: 0, refused: 0 }
  for (let flip = 0; flip < 4; flip += 1) {
    const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
    const putBack = await flipBit(path)
    for (const kind of KINDS) {
      const answer = await answerOf(index, QUERIES[kind], kind)
      if (answer === 'INDEX_UNUSABLE') counted.refused += 1
      else {
        expect(answer).toEqual(right.get(kind))
        counted.right += 1
      }
    }
    await index.close()
    await putBack()
    await rm(join(folder, 'damaged.txt'), { force: true })
  }
  expect(counted.right + counted.refused).toBe(12)
})

test('currentIndex makes a index anew in which an earlier server has found damage', async () => {
  const open = (said: string[]) =>
    currentIndex({
      lake: loaded.lake,
      memoryBytes: MEMORY_BYTES,
      embedder: { ...lengthEmbedder, name: 'own' },
      onUnusable: ({ message }) => said.push(message),
    })
  const said: string[] = []
  const first = await open(said)
  const name = await fileOf(made.folder, 'minified')
  const path = join(made.folder, name)
  const good = await readFile(path)
  const inode = (await stat(path)).ino
  await writeFile(path, Buffer.from(good).fill(0x20, good.length - 9, good.length - 4), { flag: 'r+' })
  expect(await answerOf(first, QUERIES.minified, 'minified')).toBe('INDEX_UNUSABLE')
  const second = await open(said)
  expect(said).toEqual([expect.stringContaining(`it was found damaged: "${name}"`)])
  expect((await stat(path)).ino).not.toBe(inode)
  expect(await readFile(path)).toEqual(good)
  await Promise.all([first.close(), second.close()])
})
