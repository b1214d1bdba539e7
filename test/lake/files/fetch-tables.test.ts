import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { FileEntry, Snapshot } from '../../../src/core/partition.ts'
import { type FetchTablesOptions, type FileCheck, fetchTables } from '../../../src/lake/files/fetch-tables.ts'
import { listedFiles } from '../../../src/manifest/form/totals.ts'
import { flipBit } from '../../manifest/damage.ts'
import { type Bench, companyLines, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let one: Bench
let snapshot: Snapshot
let workFolder: string
beforeEach(async () => {
  workFolder = await temporaryFolder()
  vi.stubEnv('FIRMLAKE_WORK_DIR', workFolder)
  one = openBench(await temporaryFolder())
  await one.write('a.jsonl', companyLines(20))
  await one.run(['a.jsonl'])
  snapshot = await one.snapshot()
  // Files written just now are not remembered.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

const CHECKS: readonly FileCheck[] = ['every-read', 'first-read', 'never']
const TABLES = ['companies', 'financials']

/** How many files were read for their hashes. */
const hashed = async (check: FileCheck, more: FetchTablesOptions = {}): Promise<number> => {
  let files = 0
  await fetchTables(one.lake, snapshot, TABLES, {
    check,
    ...more,
    onProgress: (progress) => {
      files = progress.files
    },
  })
  return files
}

const fileOf = (table: string): FileEntry => {
  const found = listedFiles(snapshot).find((file) => file.table === table)
  if (found === undefined) throw new Error(`No file of "${table}"`)
  return found
}
const place = (table: string): string => join(one.lake, fileOf(table).path)

const memories = async (): Promise<string[]> =>
  (await readdir(join(workFolder, 'hashed')).catch(() => [])).map((name) => join(workFolder, 'hashed', name))

test('fetchTables hashes before every read unless it is told otherwise', async () => {
  expect(await hashed('every-read')).toBe(2)
  expect(await hashed('every-read')).toBe(2)
  expect(await hashed('never')).toBe(0)
  expect(await memories()).toEqual([])
})

test('fetchTables remembers for the next read what this machine has hashed, for its user alone', async () => {
  expect(await hashed('first-read')).toBe(2)
  expect(await hashed('first-read')).toBe(0)
  const [memory = ''] = await memories()
  expect((await stat(memory)).mode & 0o777).toBe(0o600)
  expect((await stat(join(workFolder, 'hashed'))).mode & 0o777).toBe(0o700)
})

test('fetchTables does not remember a file that was written within the last seconds', async () => {
  vi.useRealTimers()
  await writeFile(place('companies'), await readFile(place('companies')))
  await hashed('first-read')
  expect(await hashed('first-read')).toBeGreaterThan(0)
})

test.each(CHECKS)('fetchTables names a missing file and one of another length (check %s)', async (check) => {
  const { bytes, path } = fileOf('financials')
  await truncate(place('financials'), bytes - 1)
  await expect(hashed(check)).rejects.toMatchObject({
    code: 'LAKE_DAMAGED',
    message: `Cannot read "${path}": it has ${bytes - 1} bytes, expected ${bytes}`,
    context: { path },
  })
  await copyFile(place('companies'), place('financials'))
  await expect(hashed(check)).rejects.toMatchObject({ code: 'LAKE_DAMAGED', context: { path } })
  await rm(place('financials'))
  await expect(hashed(check)).rejects.toMatchObject({
    code: 'LAKE_DAMAGED',
    message: `Cannot read "${path}": there is no such file, expected ${bytes} bytes`,
  })
})

test.each(['every-read', 'first-read'] as const)(
  'fetchTables finds a flipped bit (check %s)',
  async (check) => {
    await hashed(check)
    await flipBit(place('companies'), 200, 3)
    const { path, sha256 } = fileOf('companies')
    await expect(hashed(check)).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
      message: expect.stringMatching(
        `^Cannot read "${path}": its SHA-256 is [0-9a-f]{64}, expected ${sha256}$`,
      ),
    })
  },
)

test('fetchTables finds a flipped bit under a restored time of writing', async () => {
  await hashed('first-read')
  const { atime, mtime } = await stat(place('companies'))
  await flipBit(place('companies'), 200, 3)
  await utimes(place('companies'), atime, mtime)
  await expect(hashed('first-read')).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
})

test.each([
  ['damaged', (memory: string) => flipBit(memory, 60, 1)],
  ['cut', (memory: string) => truncate(memory, 50)],
  ['of no JSON', (memory: string) => writeFile(memory, 'no')],
  ['writable by others', (memory: string) => chmod(memory, 0o666)],
  [
    'a folder',
    async (memory: string) => {
      await rm(memory)
      await mkdir(memory)
    },
  ],
])('fetchTables hashes again where its memory is %s', async (_, spoil) => {
  await hashed('first-read')
  await spoil((await memories())[0] ?? '')
  expect(await hashed('first-read')).toBe(2)
})

test('fetchTables hashes and gives no error where nothing can be remembered', async () => {
  vi.stubEnv('FIRMLAKE_WORK_DIR', place('companies'))
  expect(await hashed('first-read')).toBe(2)
  expect(await hashed('first-read')).toBe(2)
})

test('fetchTables of two processes at once leaves a memory that is whole', async () => {
  const found = await Promise.all(Array.from({ length: 6 }, () => hashed('first-read')))
  expect(found).toEqual([2, 2, 2, 2, 2, 2])
  expect(await hashed('first-read')).toBe(0)
  expect(await memories()).toHaveLength(1)
})
