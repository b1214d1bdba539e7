/**
 * Commits of runs that nobody owns. A commit under way marks itself by a file in the run's folder before it looks whether the
 * run still stands; a process that ends the run without a commit removes its plan before looking for marks. So one of the two
 * sees the other, and no file is removed that a snapshot is about to list. A run that ended without a snapshot, as it brought
 * nothing new, leaves a trace, so that a repeated commit learns of it; one that was removed from a lake without any snapshot
 * another one, so that gc knows its files from those of a lake whose manifest was lost. gc removes the traces.
 */

import { RUNS_FOLDER, runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { seal } from '../../support/hash.ts'
import { DAY_MS } from '../../support/quantities.ts'
import { isRunId } from '../../support/run-ids.ts'
import { listSnapshots } from '../snapshots/snapshots.ts'
import { workerName } from './heartbeat.ts'
import { type LivenessRule, PLAN_FILE } from './run-lease.ts'
import { lookUpRun, removeRunFolder } from './runs.ts'

const marksPath = (run: string): string => `${runPath(run)}/commits`
const markPath = (run: string, attempt: string): string => `${marksPath(run)}/${attempt}.json`

/** Marks a commit. It must look afterwards whether the run still stands. */
export const markCommit = async (lake: string, run: string, attempt: string): Promise<void> => {
  await storageOf(lake).create(markPath(run, attempt), `${seal(JSON.stringify({ by: workerName() }))}\n`)
}

/** Takes the mark of a commit away that has made no snapshot. */
export const unmarkCommit = (lake: string, run: string, attempt: string): Promise<void> =>
  storageOf(lake).remove([markPath(run, attempt)])

/** How many commits of a run are under way, or were killed. */
export const countCommits = async (lake: string, run: string): Promise<number> =>
  (await storageOf(lake).entries(marksPath(run))).length

/**
 * Ends a run without a commit; again, where that was stopped halfway. Where a commit of it is under way its folder stays
 * until that ends; where that was killed, until nobody has worked on the run for a day.
 */
export const endRun = async (lake: string, run: string): Promise<void> => {
  await storageOf(lake).remove([`${runPath(run)}/${PLAN_FILE}`])
  if ((await countCommits(lake, run)) > 0) return
  await recordRemoved(lake, run)
  await removeRunFolder(lake, run)
}

/** No run has such an id. */
const ENDED_FOLDER = `${RUNS_FOLDER}/ended`

const tracePath = (run: string): string => `${ENDED_FOLDER}/${run}`

/** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED` */
export const recordEnded = async (lake: string, run: string): Promise<void> => {
  await storageOf(lake).create(tracePath(run), '')
}

export const hasEnded = async (lake: string, run: string): Promise<boolean> =>
  (await storageOf(lake).stat(tracePath(run)))?.bytes === 0

/**
 * Whether a run is still to be committed. What stands of another one is left of its removal: files that it had loaded may be
 * gone.
 *
 * @throws {ToolkitError} as `lookUpRun`
 */
export const isUnfinished = async (lake: string, run: string): Promise<boolean> => {
  const { seen, snapshot } = await lookUpRun(lake, run)
  return seen !== null && seen.shared !== 'removed' && snapshot === null && !(await hasEnded(lake, run))
}

/** To be called before the run's folder goes. Any snapshot tells which files are no longer needed. */
export const recordRemoved = async (lake: string, run: string): Promise<void> => {
  if ((await listSnapshots(lake)).length === 0) await storageOf(lake).create(tracePath(run), 'removed\n')
}

/** The runs that have left a trace: no snapshot lists anything of them. */
export const listEnded = async (lake: string): Promise<readonly string[]> =>
  (await storageOf(lake).entries(ENDED_FOLDER)).map(({ name }) => name).filter(isRunId)

/** Traces that are needed no more, since the files of their runs are gone; those of runs without news stay for a day. */
export const oldTraces = async (
  lake: string,
  { now, remoteIdleMs = DAY_MS }: LivenessRule,
): Promise<readonly StoredFile[]> =>
  (await storageOf(lake).list(ENDED_FOLDER)).filter(
    ({ bytes, changedMs }) => bytes > 0 || now.getTime() - changedMs > remoteIdleMs,
  )
