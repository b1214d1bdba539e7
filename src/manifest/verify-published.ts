/** Checks what is published of a lake's tables: every file that was made once against the hash that stands for it. */

import {
  CURRENT_FOLDERS,
  PUBLISHED_FOLDER,
  PUBLISHED_IN_TABLE,
  publishedHashPath,
  publishedPathOf,
  readPublishedHash,
} from '../lake/lake/published-hash.ts'
import { storageOf } from '../storage/open-storage.ts'
import { temporaryLiveness } from '../support/process-identity.ts'
import type { CountRows } from './check-file.ts'
import type { Findings, Problem } from './findings.ts'

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** What a file that is written again and again should hold; `undefined` for a file that is made once. */
const expectedText = async (
  lake: string,
  path: string,
  beside: readonly string[],
  countRows: CountRows,
): Promise<readonly string[] | undefined> => {
  const folder = path.slice(0, -nameOf(path).length)
  if (nameOf(path) === 'version-hint.text') {
    const numbers = beside.map((one) => Number(/\/v(\d+)\.metadata\.json$/.exec(one)?.[1] ?? 0))
    return [String(Math.max(0, ...numbers))]
  }
  if (nameOf(path) !== '_last_checkpoint') return undefined
  const texts = beside.map(async (one) => {
    const version = /\/(\d{20})\.checkpoint\.parquet$/.exec(one)?.[1]
    if (version === undefined || !one.startsWith(folder)) return []
    const size = await storageOf(lake).examine(one, {}, (_, local) => countRows('', local).catch(() => -1))
    return [`${JSON.stringify({ version: Number(version), size })}\n`]
  })
  return (await Promise.all(texts)).flat()
}

const checkPublished = async (
  lake: string,
  path: string,
  beside: readonly string[],
  countRows: CountRows,
): Promise<Problem | 'right' | 'unhashed'> => {
  const storage = storageOf(lake)
  const missing: Problem = { path, problem: 'missing', detail: 'the file is missing' }
  const texts = await expectedText(lake, path, beside, countRows)
  if (texts !== undefined) {
    const bytes = await storage.read(path)
    if (bytes === null) return missing
    return texts.includes(bytes.toString('latin1'))
      ? 'right'
      : { path, problem: 'changed', detail: 'it does not name the newest of what stands beside it' }
  }
  const sha256 = await storage.examine(path, {}, async (hash) => hash.sha256)
  if (sha256 === null) return missing
  const record = await storage.read(publishedHashPath(path))
  if (record === null) return 'unhashed'
  const expected = readPublishedHash(record)
  if (expected === undefined)
    return { path: publishedHashPath(path), problem: 'changed', detail: 'it is not what was written' }
  if (sha256 === expected) return 'right'
  return { path, problem: 'changed', detail: `its SHA-256 is ${sha256}, expected ${expected}` }
}

/** Folders of what is published: logs beside the lake's tables, and tables of current rows as a whole. */
export const publishedFolders = async (lake: string): Promise<readonly string[]> => {
  const storage = storageOf(lake)
  const below = async (folder: string): Promise<readonly string[]> =>
    (await storage.entries(folder))
      .filter(({ name, kind }) => kind === 'folder' && !/^[._]/.test(name))
      .map(({ name }) => (folder === '' ? name : `${folder}/${name}`))
  const current = await Promise.all(Object.values(CURRENT_FOLDERS).map(below))
  const tables = (await below('')).filter((name) => name !== PUBLISHED_FOLDER)
  return [
    ...tables.flatMap((table) => PUBLISHED_IN_TABLE.map((folder) => `${table}/${folder}`)),
    ...current.flat(),
  ]
}

const _isOfTime = (path: string): boolean => /\/(version-hint\.text|_last_checkpoint)$/.test(path)

/** Checks the files of all publications in the lake; what a catalog keeps is the catalog's. */
export const verifyPublished = async (
  lake: string,
  countRows: CountRows,
  { problems, notes }: Findings,
): Promise<void> => {
  const storage = storageOf(lake)
  let unhashed = 0
  for (const folder of await publishedFolders(lake)) {
    const found = (await storage.list(folder)).map(({ path }) => path)
    const paths = found.filter((path) => publishedPathOf(path) === null)
    const hashed = found.flatMap((path) => publishedPathOf(path) ?? [])
    for (const path of new Set([...paths, ...hashed])) {
      if (temporaryLiveness(nameOf(path)) !== null) continue
      const state = await checkPublished(lake, path, paths, countRows)
      if (state === 'unhashed') unhashed += 1
      else if (state !== 'right') problems.push(state)
    }
  }
  if (unhashed > 0) notes.push(`published files without a hash, whose publisher was interrupted: ${unhashed}`)
}
