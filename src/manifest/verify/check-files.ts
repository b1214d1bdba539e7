/**
 * Checks the files of a lake: data files against the manifest, the folders of serving indexes and batch files against the lists
 * in them, and published files against the hashes that were recorded of them.
 */

import { messageOf, openFilesError, systemCode, ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import { TABLE_FORMAT_NAMES } from '../../core/table-formats.ts'
import {
  currentFolder,
  inLake,
  PUBLISHED_FOLDER,
  PUBLISHED_IN_TABLE,
  publishedHashPath,
  publishedPathOf,
  readPublishedHash,
} from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileHash } from '../../support/hash.ts'
import { statPath } from '../../support/list-files.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'
import {
  checkNamedFile,
  damageOf,
  type FileDamage,
  LIST_FILE,
  type NamedFile,
  readFileList,
} from '../form/file-list.ts'
import type { Findings, Problem, ProblemKind } from '../form/problems.ts'
import { listMade } from '../gc/lake-files.ts'

/** Counts the rows of a file that is not JSON Lines. Throws when it cannot be read. */
export type CountRows = (table: string, absolutePath: string) => Promise<number>

/** How many rows a file has, or why they cannot be counted. @throws {ToolkitError} `OPEN_FILES_LIMIT` */
const rowsOrReason = async (table: string, path: string, countRows: CountRows): Promise<number | string> => {
  try {
    return await countRows(table, path)
  } catch (error) {
    const tooMany = openFilesError('Cannot count the rows of a file', error)
    if (tooMany !== undefined) throw tooMany
    return messageOf(error)
  }
}

/** Damage of a file, or `null`. Reads it once to its end, and once more to count its rows. */
export const checkFile = async (
  lake: string,
  { table, path, rows, bytes, sha256 }: FileEntry,
  countRows: CountRows,
  signal?: AbortSignal,
): Promise<Problem | null> => {
  const storage = storageOf(lake)
  const problem = (kind: ProblemKind, detail: string): Problem => ({ path, problem: kind, detail })
  const countLines = path.endsWith('.jsonl')
  const judge = async (hash: FileHash, localPath: string): Promise<Problem | 'right'> => {
    const damage = damageOf({ bytes, sha256 }, hash)
    if (damage !== null) return { path, ...damage }
    const counted = countLines ? hash.lines : await rowsOrReason(table, localPath, countRows)
    if (typeof counted === 'string') return problem('unreadable', `its rows cannot be counted: ${counted}`)
    return counted === rows ? 'right' : problem('counts', `${counted} rows, expected ${rows}`)
  }
  try {
    const found = await storage.stat(path)
    const cut = found && damageOf({ bytes, sha256 }, { bytes: found.bytes, sha256 })
    if (cut) return { path, ...cut }
    const judged = await storage.examine(path, { countLines, signal }, judge)
    if (judged === null) return problem('missing', 'the file is missing')
    return judged === 'right' ? null : judged
  } catch (error) {
    signal?.throwIfAborted()
    // Whatever the file system says of one file; a bucket that does not answer is no damage.
    if (error instanceof ToolkitError || systemCode(error) === undefined) throw error
    return problem('unreadable', 'the file is unreadable')
  }
}

/** A file that was made, in one folder or, shared by serving indexes, in several. */
export interface MadeFile {
  /** Paths below the lake's folder. */
  readonly folders: readonly string[]
  readonly file: NamedFile
}

interface MadeFiles {
  readonly files: readonly MadeFile[]
  readonly problems: readonly Problem[]
}

/** The files that the lists name. @param only those of this snapshot */
export const madeFiles = async (lake: string, only: number | undefined): Promise<MadeFiles> => {
  const files = new Map<string, { readonly folders: string[]; readonly file: NamedFile }>()
  const problems: Problem[] = []
  for (const { path: folder, snapshot } of await listMade(lake)) {
    if (only !== undefined && snapshot !== only) continue
    const list = await readFileList(inLake(lake, folder))
    const path = `${folder}/${LIST_FILE}`
    if (list.kind === 'none') problems.push({ path, problem: 'missing', detail: 'the file is missing' })
    else if (list.kind !== 'list') problems.push({ path, problem: list.kind, detail: list.reason })
    else
      for (const file of list.files) {
        const found = await statPath(inLake(lake, `${folder}/${file.name}`))
        const key = JSON.stringify([found?.identity ?? folder, file.name, file.bytes, file.sha256])
        const known = files.get(key)
        if (known) known.folders.push(folder)
        else files.set(key, { folders: [folder], file })
      }
  }
  return { files: [...files.values()], problems }
}

/** Whether a folder's list still says the same of a file: it may have been removed or made again meanwhile. */
const isListed = async (lake: string, folder: string, file: NamedFile): Promise<boolean> => {
  const list = await readFileList(inLake(lake, folder))
  return (
    list.kind === 'list' && list.files.some((one) => one.name === file.name && one.sha256 === file.sha256)
  )
}

/** Damage of a file, in each folder that lists it. */
export const checkMadeFile = async (
  lake: string,
  { folders, file }: MadeFile,
  signal?: AbortSignal,
): Promise<readonly Problem[]> => {
  const problems: Problem[] = []
  let damage: FileDamage | null = null
  for (const folder of folders) {
    damage ??= await checkNamedFile(inLake(lake, folder), file, signal)
    if (damage === null) return []
    if (await isListed(lake, folder, file)) problems.push({ path: `${folder}/${file.name}`, ...damage })
    // The file was renamed during the check: it is looked up under its new name.
    else damage = null
  }
  return problems
}

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
  const strings = beside.map(async (one) => {
    const version = /\/(\d{20})\.checkpoint\.parquet$/.exec(one)?.[1]
    if (version === undefined || !one.startsWith(folder)) return []
    const size = await storageOf(lake).examine(one, {}, (_, local) => rowsOrReason('', local, countRows))
    return [`${JSON.stringify({ version: Number(version), size })}\n`]
  })
  const bytes = await storageOf(lake).read(path)
  if (bytes === null) return missing(path)
  return (await Promise.all(strings)).flat().includes(bytes.toString('latin1'))
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
const publishedFolders = async (lake: string): Promise<readonly string[]> => {
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
