/**
 * Deletes unreferenced files and dead runs, and unfinished writes. Never a live
 * run's, never a file of a kept snapshot. Can be stopped at any point and run again, also twice at once.
 */

import { rm, rmdir } from 'node:fs/promises'
import { writeError } from '../../core/errors.ts'
import {
  BATCHES_FOLDER,
  inLake,
  loadPath,
  MANIFEST_FOLDER,
  oldestPath,
  PARTS_FOLDER,
  parseManifestName,
  RUNS_FOLDER,
  runOfPart,
  SERVE_FOLDER,
} from '../../lake/files/layout.ts'
import { STORED_TABLES } from '../../lake/tables/past-tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { refuseLinks } from '../../support/file-modes.ts'
import { isLeftBehind, listFolder } from '../../support/list-files.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'
import { DAY_MS } from '../../support/quantities.ts'
import { refreshKeptFiles, unnamedDeletes } from '../lake-file/lake-file.ts'
import type { LivenessRule } from '../runs/run-lease.ts'
import { listRunIds, removeLocalRun } from '../runs/runs.ts'
import { listEnded, oldTraces, recordRemoved } from '../runs/shared-commits.ts'
import { removeStaleHeld } from '../snapshots/held.ts'
import { oldestText } from '../snapshots/snapshot-text.ts'
import { listManifest } from '../snapshots/snapshots.ts'
import {
  type DeadRun,
  listLocalRuns,
  releaseDeadRuns,
  removeDeadRun,
  type SortedRuns,
  sizeOfRun,
  sortRuns,
} from './dead-runs.ts'
import { type Kept, readKept } from './gc-kept.ts'
import {
  type LoadFolder,
  listLeftovers,
  listLoadNames,
  listLocalFolders,
  listOutdated,
  type Removable,
  runOfFile,
} from './lake-files.ts'

interface GarbageRequest extends LivenessRule {
  readonly lake: string
  /** Newest snapshots to keep; older ones and what only they list is removed. @default all */
  readonly keep?: number | undefined
  /** Snapshots from this one on stay, whatever `keep` says: published tables show it. @default none */
  readonly keepFrom?: number | undefined
  /** Changes nothing and reports what would be removed. @default false */
  readonly dryRun?: boolean
}

/** Removed files and runs; paths are below the lake's folder. */
export interface Garbage {
  readonly runs: readonly string[]
  readonly snapshots: readonly number[]
  /** Data files, parts of the manifest, and the serving indexes and batch files of removed snapshots. */
  readonly files: readonly string[]
  /** Unfinished writes of processes that are gone. */
  readonly leftovers: readonly string[]
  readonly freedBytes: number
  /** Runs that were left alone: at work, or possibly running on another host. */
  readonly working: readonly string[]
  /** The run whose snapshot is held back, one of `working`; absent where none is. */
  readonly held?: string
}

type Goes = (load: { readonly run: string }) => boolean

/** Whether files of a run are to go that no kept snapshot lists. */
const clearsAway = (
  { dead, working }: Pick<SortedRuns, 'dead' | 'working'>,
  ended: readonly string[],
  kept: Kept,
): Goes => {
  const dying = new Set([...dead.map(({ run }) => run), ...ended])
  // Without any snapshot a file may be the last trace of a lake whose manifest was lost: only runs that
  // are known to have failed, or to have ended without one, are cleared away.
  return ({ run }) => !working.includes(run) && (kept.newest > 0 || dying.has(run))
}

/** Files that go, of the folders that were there at the first look; of one table after the other. */
const findGarbage = async (
  lake: string,
  loads: readonly LoadFolder[],
  goes: Goes,
  { paths }: Kept,
): Promise<readonly StoredFile[]> => {
  const garbage: StoredFile[] = []
  for (const [table, folders] of Map.groupBy(loads.filter(goes), (load) => load.table)) {
    const runs = new Set(folders.map(({ run }) => run))
    for (const file of await storageOf(lake).list(table))
      if (runs.has(runOfFile(file.path) ?? '') && !paths.has(file.path)) garbage.push(file)
  }
  return garbage
}

/** Removes copies on this machine of what is gone from the lake, and folders left empty. */
const clearLocal = async (lake: string, folders: readonly LoadFolder[], kept: Kept): Promise<void> => {
  for (const { table, run } of folders) {
    const folder = loadPath(table, run)
    for (const file of await listFolder(inLake(lake, folder))) {
      const path = `${folder}/${file.name}`
      // A file that another process is just copying has no name of the lake yet.
      const isMade = temporaryLiveness(file.name) !== null && !(await isLeftBehind(inLake(lake, path)))
      if (file.isFile() && !isMade && !kept.paths.has(path)) await rm(inLake(lake, path), { force: true })
    }
    // `rmdir` takes no folder that holds anything.
    await rmdir(inLake(lake, folder)).catch(() => undefined)
  }
  for (const table of new Set(folders.map((one) => one.table)))
    await rmdir(inLake(lake, table)).catch(() => undefined)
}

const oldSnapshots = async (lake: string, first: number): Promise<{ names: string[]; numbers: number[] }> => {
  const entries = (await storageOf(lake).entries(MANIFEST_FOLDER)).map(({ name }) => name)
  const names = entries.filter((name) => (parseManifestName(name)?.number ?? first) < first)
  const numbers = names.flatMap((name) => {
    const known = parseManifestName(name)
    return known?.kind === 'snapshot' ? [known.number] : []
  })
  return { names, numbers }
}

/**
 * Says that older snapshots go on purpose, so that at no moment anything looks lost. From here on no catalog and no view names what
 * only they list.
 *
 * @returns as `refreshKeptFiles`
 */
const letGo = async (lake: string, first: number, names: readonly string[]): Promise<string | undefined> => {
  if (names.length > 0) await storageOf(lake).create(oldestPath(first), oldestText(first))
  return refreshKeptFiles(lake)
}

interface Work {
  readonly loads: readonly LoadFolder[]
  readonly localFolders: readonly LoadFolder[]
  readonly parts: readonly StoredFile[]
  readonly leftovers: readonly Removable[]
  readonly runs: SortedRuns
}

const sweep = async (
  request: GarbageRequest,
  { loads, localFolders, parts, leftovers, runs }: Work,
): Promise<Garbage> => {
  const { lake, dryRun = false } = request
  const kept = await readKept(request)
  const removed: string[] = []
  let freedBytes = 0
  const removeRuns = async (dead: DeadRun): Promise<void> => {
    const bytes = await sizeOfRun(lake, dead.run)
    // The files of a run go after its folder: a gc that is killed in between leaves the next one a trace of it.
    if (!dryRun && dead.lease) await recordRemoved(lake, dead.run)
    if (!dryRun && !(await removeDeadRun(lake, dead, kept.commits.get(dead.run), request))) return
    removed.push(dead.run)
    freedBytes += bytes
  }
  for (const dead of runs.dead) await removeRuns(dead)
  const left = runs.dead.map(({ run }) => run).filter((run) => !removed.includes(run))
  const working = [...runs.working, ...left]
  const old = await oldSnapshots(lake, kept.first)
  const noViews = dryRun ? undefined : await letGo(lake, kept.first, old.names)
  const outdated = await listOutdated(lake, kept.first)
  const goes = clearsAway({ dead: runs.dead, working }, await listEnded(lake), kept)
  const unlisted = parts.filter(({ path }) => {
    const name = path.slice(PARTS_FOLDER.length + 1)
    const run = runOfPart(name)
    return run !== null && !kept.parts.has(name) && goes({ run })
  })
  const traces = await oldTraces(lake, request)
  const deletes = (await unnamedDeletes(lake)).filter(
    ({ changedMs }) => request.now.getTime() - changedMs > DAY_MS,
  )
  const garbage = [...(await findGarbage(lake, loads, goes, kept)), ...unlisted, ...deletes]
  const files = [...garbage, ...outdated.flatMap((folder) => folder.files)]
  if (!dryRun) {
    const snapshots = old.names.map((name) => `${MANIFEST_FOLDER}/${name}`)
    if (snapshots.length > 0) await storageOf(lake).remove(snapshots)
    await storageOf(lake).remove([...garbage, ...traces].map(({ path }) => path))
    await clearLocal(lake, localFolders.filter(goes), kept)
    for (const { path } of [...leftovers, ...outdated])
      await rm(inLake(lake, path), { recursive: true, force: true })
    // A disk that was full has room now, and whoever committed meanwhile may have shown what is removed.
    if (noViews !== undefined || snapshots.length > 0) await refreshKeptFiles(lake)
  }
  for (const { bytes } of [...files, ...leftovers]) freedBytes += bytes
  return {
    runs: removed,
    snapshots: old.numbers,
    files: files.map(({ path }) => path),
    leftovers: leftovers.map(({ path }) => path),
    freedBytes,
    working,
    ...(runs.held !== undefined && { held: runs.held }),
  }
}

/** Files behind a link are not the lake's to remove. @throws {ToolkitError} `WRITE_FAILED` */
const refuseLinkedFolders = async (lake: string): Promise<void> => {
  const names = [
    MANIFEST_FOLDER,
    RUNS_FOLDER,
    SERVE_FOLDER,
    BATCHES_FOLDER,
    ...STORED_TABLES.map(({ name }) => name),
  ]
  try {
    await refuseLinks(inLake(lake, ''), ...names.map((name) => inLake(lake, name)))
  } catch (error) {
    throw writeError(`Cannot collect garbage in lake "${lake}"`, error)
  }
}

/**
 * @throws {ToolkitError} `LAKE_NOT_FOUND`; `SNAPSHOT_DAMAGED` when a snapshot that is to be kept is damaged or
 *   missing (nothing is removed then); `WRITE_FAILED`, `DISK_FULL`
 * @throws {RangeError} when `keep` is not a whole number from 1
 */
export const removeGarbage = async (request: GarbageRequest): Promise<Garbage> => {
  const { lake, keep, dryRun = false } = request
  if (keep !== undefined && !(Number.isSafeInteger(keep) && keep >= 1))
    throw new RangeError(`Cannot keep ${keep} snapshots: expected a whole number from 1`)
  await refuseLinkedFolders(lake)
  await listManifest(lake)
  // The order matters. A run that starts after the first look has no file in it. A run that commits meanwhile
  // is at work at the second look, or in a snapshot at the third.
  const localRuns = await listLocalRuns(lake)
  const loads = await listLoadNames(lake)
  const parts = await storageOf(lake).list(PARTS_FOLDER)
  const localFolders = await listLocalFolders(lake)
  const leftovers = await listLeftovers(lake, request)
  const left = new Set(await listRunIds(lake))
  if (!dryRun) await removeStaleHeld(lake)
  const runs = await sortRuns(lake, request, dryRun)
  try {
    // Leftovers on this machine of runs that have ended elsewhere.
    for (const run of dryRun ? [] : localRuns) if (!left.has(run)) await removeLocalRun(lake, run)
    return await sweep(request, { loads, localFolders, parts, leftovers, runs })
  } catch (error) {
    await releaseDeadRuns(runs.dead)
    throw writeError(`Cannot collect garbage in lake "${lake}"`, error)
  }
}
