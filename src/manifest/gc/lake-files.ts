/** Lists the files of a lake's tables, in a snapshot or not, and the leftovers of crashed processes. */

import { dirname, relative, sep } from 'node:path'
import {
  BATCHES_FOLDER,
  HASHES_FOLDER,
  inLake,
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  PUBLISHED_FOLDER,
  PUBLISHED_IN_TABLE,
  parseMadeName,
  RATES_PATH,
  RUNS_FOLDER,
  SERVE_FOLDER,
} from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { type FoundPath, isLeftBehind, listFolder, listTree, roomOfFiles } from '../../support/list-files.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'
import { isRunId } from '../../support/run-ids.ts'
import type { LivenessRule } from '../runs/run-lease.ts'

/** A file or folder that can be removed. */
export interface Removable {
  /** Below the lake's folder, with `/`. */
  readonly path: string
  /** Bytes that its removal frees: none where another name of the file stays. */
  readonly bytes: number
}

/** `<table>/load=<run>`: what one run has put into one table. */
export interface LoadFolder {
  readonly table: string
  readonly run: string
}

/** A path of this machine as one of the lake. */
export const below = (lake: string, path: string): string =>
  relative(inLake(lake, ''), path).split(sep).join('/')

const isTable = (name: string): boolean => !/^[._]/.test(name) && name !== PUBLISHED_FOLDER

const LOAD = 'load='
const runOf = (name: string): string | null => {
  const run = name.startsWith(LOAD) ? name.slice(LOAD.length) : ''
  return isRunId(run) ? run : null
}

/** The run whose folder in a table holds a file; `null` where none does. */
export const runOfFile = (path: string): string | null => runOf(path.split('/')[1] ?? '')

/** Every folder of a run in a table. Folders that are not named like one are ignored. */
export const listLoadNames = async (lake: string): Promise<readonly LoadFolder[]> => {
  const storage = storageOf(lake)
  const loads: LoadFolder[] = []
  for (const { name: table, kind } of await storage.entries('')) {
    if (kind !== 'folder' || !isTable(table)) continue
    for (const entry of await storage.entries(table)) {
      const run = entry.kind === 'folder' ? runOf(entry.name) : null
      if (run !== null) loads.push({ table, run })
    }
  }
  return loads
}

/** Every file that a run put into a table. */
export const listLoadFiles = async (lake: string): Promise<readonly StoredFile[]> => {
  const storage = storageOf(lake)
  const files: StoredFile[] = []
  for (const { name: table, kind } of await storage.entries(''))
    if (kind === 'folder' && isTable(table))
      for (const file of await storage.list(table)) if (runOfFile(file.path) !== null) files.push(file)
  return files
}

/** Folders of runs in tables on this machine, where files of the lake or copies of them stand. */
export const listLocalFolders = async (lake: string): Promise<readonly LoadFolder[]> => {
  const folders: LoadFolder[] = []
  for (const table of await listFolder(inLake(lake, ''))) {
    if (!table.isDirectory() || !isTable(table.name)) continue
    for (const { name } of await listFolder(inLake(lake, table.name))) {
      const run = runOf(name)
      if (run !== null) folders.push({ table: table.name, run })
    }
  }
  return folders
}

/** Folders of what is made from snapshots. */
const MADE_FOLDERS = [SERVE_FOLDER, BATCHES_FOLDER] as const

/** `_serve/00000012`, `_batches/00000012`: what was made from one snapshot. */
interface MadeFolder {
  readonly path: string
  readonly files: readonly Removable[]
}

/** Serving indexes and folders of batch files, with the snapshots they were made from. */
export const listMade = async (
  lake: string,
): Promise<readonly { readonly path: string; readonly snapshot: number }[]> => {
  const found: { path: string; snapshot: number }[] = []
  for (const parent of MADE_FOLDERS) {
    for (const { name } of await listFolder(inLake(lake, parent))) {
      const snapshot = parseMadeName(name)
      if (snapshot !== null) found.push({ path: `${parent}/${name}`, snapshot })
    }
  }
  return found
}

/** Lists folders made for snapshots below a number: gc has removed these snapshots. */
export const listOutdated = async (lake: string, first: number): Promise<readonly MadeFolder[]> => {
  const outdated: { path: string; found: readonly FoundPath[] }[] = []
  for (const { path, snapshot } of await listMade(lake)) {
    if (snapshot >= first) continue
    outdated.push({ path, found: (await listTree(inLake(lake, path))).filter(({ kind }) => kind === 'file') })
  }
  // Serving indexes share files.
  const rooms = roomOfFiles(outdated.flatMap(({ found }) => found))
  return outdated.map(({ path, found }) => ({
    path,
    files: found.map((one) => ({ path: below(lake, one.path), bytes: rooms.get(one.path) ?? 0 })),
  }))
}

const foldersWithWrites = async (lake: string): Promise<readonly string[]> => {
  const tables = (await listFolder(inLake(lake, ''))).filter(
    (entry) => entry.isDirectory() && isTable(entry.name),
  )
  const made: string[] = []
  for (const folder of MADE_FOLDERS)
    for (const { name } of await listFolder(inLake(lake, folder)))
      if (temporaryLiveness(name) === null) made.push(`${folder}/${name}`)
  return [
    ...made,
    // The lake's own: `lake.duckdb` is replaced there.
    '.',
    ...[MANIFEST_FOLDER, PARTS_FOLDER, RUNS_FOLDER, ...MADE_FOLDERS, dirname(RATES_PATH)],
    ...tables.flatMap(({ name }) =>
      PUBLISHED_IN_TABLE.flatMap((folder) => [`${name}/${folder}`, `${name}/${folder}/${HASHES_FOLDER}`]),
    ),
    ...(await listTree(inLake(lake, PUBLISHED_FOLDER)))
      .filter(({ kind }) => kind === 'folder')
      .map(({ path }) => below(lake, path)),
  ]
}

/**
 * Unfinished writes of processes that are gone, on this machine: temporary files in `_manifest`, beside the rates and in
 * the logs of published tables, folders in `_runs`, serving indexes and batch files that were not finished.
 */
export const listLeftovers = async (
  lake: string,
  { now, remoteIdleMs: idleMs }: LivenessRule,
): Promise<readonly Removable[]> => {
  const leftovers: Removable[] = []
  for (const folder of await foldersWithWrites(lake)) {
    for (const { name } of await listFolder(inLake(lake, folder))) {
      const path = inLake(lake, `${folder}/${name}`)
      if (!(await isLeftBehind(path, { now, idleMs }))) continue
      const found = await listTree(path)
      const rooms = roomOfFiles(found.filter(({ kind }) => kind === 'file'))
      leftovers.push({
        path: `${folder}/${name}`,
        bytes: [...rooms.values()].reduce((sum, bytes) => sum + bytes, 0),
      })
    }
  }
  return leftovers
}
