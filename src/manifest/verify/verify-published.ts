/** Checks what is published of a lake's tables: every file that was made once against the hash that stands for it. */

import { TABLE_FORMAT_NAMES } from '../../core/table-formats.ts'
import {
  currentFolder,
  PUBLISHED_FOLDER,
  PUBLISHED_IN_TABLE,
  publishedHashPath,
  publishedPathOf,
  readPublishedHash,
} from '../../lake/files/published-hash.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'
import type { Findings, Problem } from '../form/findings.ts'
import { type CountRows, rowsOrReason } from './check-file.ts'

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** `unfinished`: whoever published was stopped before the last step, which the next publication does. */
type Published = Problem | 'right' | 'unhashed' | { readonly unfinished: string }

const METADATA = /\/v(\d+)\.metadata\.json$/
const HINT = '/version-hint.text'

const missing = (path: string): Problem => ({ path, problem: 'missing', detail: 'the file is missing' })

/** A hint is written after the metadata that it names: an older one, or none, is what a kill or a full disk leaves. */
const checkHint = async (lake: string, path: string, beside: readonly string[]): Promise<Published> => {
  const folder = path.slice(0, -HINT.length)
  const numbers = beside.flatMap((one) =>
    one.startsWith(`${folder}/v`) ? (METADATA.exec(one)?.[1] ?? []) : [],
  )
  const newest = Math.max(0, ...numbers.map(Number))
  const bytes = await storageOf(lake).read(path)
  if (bytes === null && newest === 0) return missing(path)
  const unfinished = (what: string): Published => ({
    unfinished: `"${path}" ${what}, the newest is ${newest}: an unfinished publication, "firmlake publish iceberg" finishes it`,
  })
  if (bytes === null) return unfinished('is not there yet')
  const text = bytes.toString('latin1')
  // Not by the list: a publisher may have come further since.
  const named =
    /^[1-9]\d{0,14}$/.test(text) && (await storageOf(lake).stat(`${folder}/v${text}.metadata.json`))
  if (!named) return { path, problem: 'changed', detail: 'it does not name a version that stands beside it' }
  return Number(text) < newest ? unfinished(`names version ${text}`) : 'right'
}

/** Any checkpoint beside it may be named: the versions behind an older one are in the log all the same. */
const checkLastCheckpoint = async (
  lake: string,
  path: string,
  beside: readonly string[],
  countRows: CountRows,
): Promise<Published> => {
  const folder = path.slice(0, -nameOf(path).length)
  const texts = beside.map(async (one) => {
    const version = /\/(\d{20})\.checkpoint\.parquet$/.exec(one)?.[1]
    if (version === undefined || !one.startsWith(folder)) return []
    const size = await storageOf(lake).examine(one, {}, (_, local) => rowsOrReason('', local, countRows))
    return [`${JSON.stringify({ version: Number(version), size })}\n`]
  })
  const bytes = await storageOf(lake).read(path)
  if (bytes === null) return missing(path)
  return (await Promise.all(texts)).flat().includes(bytes.toString('latin1'))
    ? 'right'
    : { path, problem: 'changed', detail: 'it does not name a checkpoint that stands beside it' }
}

const checkPublished = async (
  lake: string,
  path: string,
  beside: readonly string[],
  countRows: CountRows,
): Promise<Published> => {
  const storage = storageOf(lake)
  if (path.endsWith(HINT)) return checkHint(lake, path, beside)
  if (nameOf(path) === '_last_checkpoint') return checkLastCheckpoint(lake, path, beside, countRows)
  const sha256 = await storage.examine(path, {}, async (hash) => hash.sha256)
  if (sha256 === null) return missing(path)
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
  const current = await Promise.all(TABLE_FORMAT_NAMES.map(currentFolder).map(below))
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
    const hints = paths.flatMap((path) => (METADATA.test(path) ? [path.replace(METADATA, HINT)] : []))
    for (const path of new Set([...paths, ...hashed, ...hints])) {
      if (temporaryLiveness(nameOf(path)) !== null) continue
      const state = await checkPublished(lake, path, paths, countRows)
      if (state === 'unhashed') unhashed += 1
      else if (typeof state === 'object' && 'unfinished' in state) notes.push(state.unfinished)
      else if (state !== 'right') problems.push(state)
    }
  }
  if (unhashed > 0) notes.push(`published files without a hash, whose publisher was interrupted: ${unhashed}`)
}
