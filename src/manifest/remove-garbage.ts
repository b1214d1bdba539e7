/**
 * Deletes unreferenced files and dead runs, and unfinished writes. Never a live
 * run's, never a file of a kept snapshot. Can be stopped at any point and run again, also twice at once.
 */

import { rm, rmdir } from 'node:fs/promises'
import { writeError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import {
  BATCHES_FOLDER,
  inLake,
  MANIFEST_FOLDER,
  oldestPath,
  parseManifestName,
  RUNS_FOLDER,
  runPath,
  SERVE_FOLDER,
} from '../lake/lake/layout.ts'
import { TABLES } from '../lake/tables/tables.ts'
import { storageOf } from '../storage/open-storage.ts'
import { refuseLinks } from '../support/file-modes.ts'
import {
  type DeadRun,
  listLocalRuns,
  releaseDeadRuns,
  removeDeadRun,
  type SortedRuns,
  sizeOfRun,
  sortRuns,
} from './dead-runs.ts'
import {
  type LoadFolder,
  type LocalFolder,
  listLeftovers,
  listLoadFolders,
  listLocalFolders,
  listOutdated,
  type Removable,
} from './lake-files.ts'
import { listedFiles } from './listed-files.ts'
import type { LivenessRule } from './run-lease.ts'
import { listRunIds } from './runs.ts'
import { oldestText } from './snapshot-text.ts'
import { listManifest, newestNumber, readKnownSnapshot } from './snapshots.ts'

export interface GarbageRequest extends LivenessRule {
  readonly lake: string
  /** Newest snapshots to keep; older ones and what only they list is removed. @default all */
  readonly keep?: number | undefined
  /** Snapshots from this one on stay, whatever `keep` says: published tables show it. @default none */
  readonly keepFrom?: number | undefined
  /** Changes nothing and reports what would be removed. @default false */
  readonly dryRun?: boolean
}

/** What was removed; paths are below the lake's folder. */
export interface Garbage {
  readonly runs: readonly string[]
  readonly snapshots: readonly number[]
  /** Data files, and the serving indexes and batch files of removed snapshots. */
  readonly files: readonly string[]
  /** Unfinished writes of processes that are gone. */
  readonly leftovers: readonly string[]
  readonly freedBytes: number
  /** Runs that were left alone: at work, or possibly running on another host. */
  readonly working: readonly string[]
}

/** What the kept snapshots list, and which run made each of them. Holds no whole snapshot. */
interface Kept {
  readonly first: number
  readonly newest: number
  readonly paths: ReadonlySet<string>
  readonly commits: ReadonlyMap<string, Snapshot>
}

const readKept = async ({ lake, keep, keepFrom = Infinity }: GarbageRequest): Promise<Kept> => {
  const newest = await newestNumber(lake)
  const { oldest } = await listManifest(lake)
  const first = keep === undefined ? oldest : Math.max(oldest, Math.min(newest - keep + 1, keepFrom))
  const paths = new Set<string>()
  const commits = new Map<string, Snapshot>()
  for (let number = first; number <= newest; number += 1) {
    // Also a missing one stops gc here: what only it lists must not be taken for garbage.
    const snapshot = await readKnownSnapshot(lake, number)
    for (const { path } of listedFiles(snapshot)) paths.add(path)
    commits.set(snapshot.run, { ...snapshot, partitions: [], merged: [], files: [] })
  }
  return { first, newest, paths, commits }
}

/** Whether files of a run are to go that no kept snapshot lists. */
const clearsAway = (
  { dead, working }: SortedRuns,
  kept: Kept,
): ((load: { readonly run: string }) => boolean) => {
  const dying = new Set(dead.map(({ run }) => run))
  // Without any snapshot a file may be the last trace of a lake whose manifest was lost: only runs that
  // are known to have failed are cleared away.
  return ({ run }) => !working.includes(run) && (kept.newest > 0 || dying.has(run))
}

/** Removes copies on this machine of what is gone from the lake, and folders left empty. */
const clearLocal = async (lake: string, folders: readonly LocalFolder[], kept: Kept): Promise<void> => {
  for (const path of folders.flatMap(({ files }) => files))
    if (!kept.paths.has(path)) await rm(inLake(lake, path), { force: true })
  const emptied = [...folders.map(({ path }) => path), ...new Set(folders.map(({ table }) => table))]
  // `rmdir` takes no folder that holds anything.
  for (const folder of emptied) await rmdir(inLake(lake, folder)).catch(() => undefined)
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

const removeOldSnapshots = async (lake: string, first: number, names: readonly string[]): Promise<void> => {
  if (names.length === 0) return
  // First what says that they are gone on purpose, so that at no moment anything looks lost.
  await storageOf(lake).create(oldestPath(first), oldestText(first))
  await storageOf(lake).remove(names.map((name) => `${MANIFEST_FOLDER}/${name}`))
}

interface Work {
  readonly loads: readonly LoadFolder[]
  readonly localFolders: readonly LocalFolder[]
  readonly leftovers: readonly Removable[]
  readonly runs: SortedRuns
}

const sweep = async (
  request: GarbageRequest,
  { loads, localFolders, leftovers, runs }: Work,
): Promise<Garbage> => {
  const { lake, dryRun = false } = request
  const kept = await readKept(request)
  const removed: string[] = []
  let freedBytes = 0
  const removeRuns = async (dead: DeadRun): Promise<void> => {
    const bytes = await sizeOfRun(lake, dead.run)
    if (!dryRun && !(await removeDeadRun(lake, dead, kept.commits.get(dead.run), request))) return
    removed.push(dead.run)
    freedBytes += bytes
  }
  for (const dead of runs.dead) await removeRuns(dead)
  const left = runs.dead.map(({ run }) => run).filter((run) => !removed.includes(run))
  const working = [...runs.working, ...left]
  const old = await oldSnapshots(lake, kept.first)
  const outdated = await listOutdated(lake, kept.first)
  const goes = clearsAway({ dead: runs.dead, working }, kept)
  const garbage = loads.filter(goes).flatMap((load) => load.files.filter(({ path }) => !kept.paths.has(path)))
  const files = [...garbage, ...outdated.flatMap((folder) => folder.files)]
  if (!dryRun) {
    await removeOldSnapshots(lake, kept.first, old.names)
    await storageOf(lake).remove(garbage.map(({ path }) => path))
    await clearLocal(lake, localFolders.filter(goes), kept)
    for (const { path } of [...leftovers, ...outdated])
      await rm(inLake(lake, path), { recursive: true, force: true })
  }
  for (const { bytes } of [...files, ...leftovers]) freedBytes += bytes
  return {
    runs: removed,
    snapshots: old.numbers,
    files: files.map(({ path }) => path),
    leftovers: leftovers.map(({ path }) => path),
    freedBytes,
    working,
  }
}

/** What stands behind a link is not the lake's to remove. @throws {ToolkitError} `WRITE_FAILED` */
const refuseLinkedFolders = async (lake: string): Promise<void> => {
  const names = [
    MANIFEST_FOLDER,
    RUNS_FOLDER,
    SERVE_FOLDER,
    BATCHES_FOLDER,
    ...TABLES.map(({ name }) => name),
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
  const loads = await listLoadFolders(lake)
  const localFolders = await listLocalFolders(lake)
  const leftovers = await listLeftovers(lake, request)
  const left = new Set(await listRunIds(lake))
  const runs = await sortRuns(lake, request, dryRun)
  try {
    // What a run left on this machine that has ended elsewhere.
    for (const run of dryRun ? [] : localRuns)
      if (!left.has(run)) await rm(inLake(lake, runPath(run)), { recursive: true, force: true })
    return await sweep(request, { loads, localFolders, leftovers, runs })
  } catch (error) {
    await releaseDeadRuns(runs.dead)
    throw writeError(`Cannot collect garbage in lake "${lake}"`, error)
  }
}
