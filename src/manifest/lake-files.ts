/** What stands in a lake's tables, listed in a snapshot or not, and what crashes left unfinished. */

import { relative, sep } from 'node:path'
import {
  BATCHES_FOLDER,
  inLake,
  loadPath,
  MANIFEST_FOLDER,
  parseBatchesName,
  parseServeName,
  RUNS_FOLDER,
  SERVE_FOLDER,
} from '../lake/layout.ts'
import { listFolder, listTree } from '../support/list-files.ts'
import { temporaryLiveness } from '../support/process-identity.ts'
import { isRunId } from '../support/run-ids.ts'
import { DAY_MS, type Judge } from './run-claims.ts'

export interface StoredFile {
  /** Below the lake's folder, with `/`. */
  readonly path: string
  readonly bytes: number
}

/** `<table>/load=<run>`: all files of one run in one table. */
export interface LoadFolder {
  readonly table: string
  readonly run: string
  readonly path: string
  readonly files: readonly StoredFile[]
  /** Folders below it, the deepest last. */
  readonly folders: readonly string[]
}

const below = (lake: string, path: string): string => relative(lake, path).split(sep).join('/')

const readLoadFolder = async (lake: string, table: string, run: string): Promise<LoadFolder> => {
  const path = loadPath(table, run)
  const found = await listTree(inLake(lake, path))
  const files = found.filter(({ kind }) => kind === 'file')
  const folders = found.filter(({ kind }) => kind === 'folder')
  return {
    table,
    run,
    path,
    files: files.map((one) => ({ path: below(lake, one.path), bytes: one.bytes })),
    folders: folders.map((one) => below(lake, one.path)),
  }
}

/** Every folder that a run made in a table. Folders that are not named like one are nobody's business. */
export const listLoadFolders = async (lake: string): Promise<readonly LoadFolder[]> => {
  const loads: LoadFolder[] = []
  for (const table of await listFolder(lake)) {
    if (!table.isDirectory() || /^[._]/.test(table.name)) continue
    for (const { name } of await listFolder(inLake(lake, table.name))) {
      const run = name.startsWith('load=') ? name.slice('load='.length) : ''
      if (isRunId(run)) loads.push(await readLoadFolder(lake, table.name, run))
    }
  }
  return loads
}

/** Folders that hold something made from a snapshot, and how they tell its number by a name. */
const MADE_FROM_SNAPSHOTS = [
  { parent: SERVE_FOLDER, parse: parseServeName },
  { parent: BATCHES_FOLDER, parse: parseBatchesName },
] as const

/** `_serve/00000012`, `_batches/00000012`: what was made from one snapshot. */
export interface MadeFolder {
  readonly path: string
  readonly files: readonly StoredFile[]
}

/** Serving copies and batch files whose snapshots are below a number: gc has removed them. */
export const listOutdated = async (lake: string, first: number): Promise<readonly MadeFolder[]> => {
  const outdated: MadeFolder[] = []
  for (const { parent, parse } of MADE_FROM_SNAPSHOTS) {
    for (const { name } of await listFolder(inLake(lake, parent))) {
      if ((parse(name) ?? first) >= first) continue
      const path = `${parent}/${name}`
      const found = (await listTree(inLake(lake, path))).filter(({ kind }) => kind === 'file')
      outdated.push({ path, files: found.map((one) => ({ path: below(lake, one.path), bytes: one.bytes })) })
    }
  }
  return outdated
}

/**
 * Unfinished writes of processes that are gone: temporary files in `_manifest`, folders in `_runs`, serving copies
 * and batch files that were not finished.
 */
export const listLeftovers = async (
  lake: string,
  { now, foreignIdleMs = DAY_MS }: Judge,
): Promise<readonly StoredFile[]> => {
  const leftovers: StoredFile[] = []
  for (const folder of [MANIFEST_FOLDER, RUNS_FOLDER, SERVE_FOLDER, BATCHES_FOLDER]) {
    for (const { name } of await listFolder(inLake(lake, folder))) {
      const liveness = temporaryLiveness(name)
      if (liveness === null || liveness === 'alive') continue
      const found = await listTree(inLake(lake, `${folder}/${name}`))
      const idle = found.every(({ changedMs }) => now.getTime() - changedMs > foreignIdleMs)
      if (liveness === 'unknown' && !idle) continue
      leftovers.push({ path: `${folder}/${name}`, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) })
    }
  }
  return leftovers
}
