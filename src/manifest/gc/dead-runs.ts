/** The part of gc that deals with unfinished runs: takes over the dead ones, then removes them. */

import { ToolkitError } from '../../core/errors.ts'
import { inLake, RUNS_FOLDER, runPath, stagingPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { listFolder, listTree } from '../../support/list-files.ts'
import { isRunId } from '../../support/run-ids.ts'
import { type Heartbeat, startHeartbeat } from '../runs/heartbeat.ts'
import { type LivenessRule, leaseRun, type RunLease, releaseRun, runState } from '../runs/run-lease.ts'
import { listRunIds, removeLocalRun, removeRunFolder } from '../runs/runs.ts'
import { readHeld } from '../snapshots/held.ts'
import { ensureRecord } from '../snapshots/snapshots.ts'
import { below } from './lake-files.ts'

/** A dead run that this gc owns. No lease: the disk is too full to write one, or nothing is to be changed. */
export interface DeadRun {
  readonly run: string
  readonly owner: number
  readonly lease: RunLease | null
  /** Heartbeat of the lease, while other dead runs are removed. */
  readonly heartbeat?: Heartbeat
}

export interface SortedRuns {
  readonly dead: readonly DeadRun[]
  /** Running, possibly running, or just taken over by another process; and the one whose snapshot is held back. */
  readonly working: readonly string[]
  /** The run whose snapshot is held back, one of `working`. */
  readonly held: string | undefined
}

const codeOf = (error: unknown): string => (error instanceof ToolkitError ? error.code : '')

const takeOver = async (
  lake: string,
  run: string,
  owner: number,
  judge: LivenessRule,
): Promise<DeadRun | null> => {
  try {
    const lease = await leaseRun(lake, run, judge)
    return { run, owner: lease.number, lease, heartbeat: startHeartbeat(lease) }
  } catch (error) {
    if (codeOf(error) === 'DISK_FULL') return { run, owner, lease: null }
    if (codeOf(error) === 'RUN_LIVE' || codeOf(error) === 'RUN_NOT_FOUND') return null
    throw error
  }
}

/** Sorts the runs of a lake, and takes over the dead ones so that nobody can resume them any more. */
export const sortRuns = async (lake: string, judge: LivenessRule, dryRun: boolean): Promise<SortedRuns> => {
  const dead: DeadRun[] = []
  const working: string[] = []
  const held = (await readHeld(lake))?.run
  try {
    for (const run of await listRunIds(lake)) {
      if (run === held) {
        working.push(run)
        continue
      }
      const found = await runState(lake, run, judge)
      // A worker that was late has made the folder again, and removed what it wrote there.
      if (found === null && !dryRun) await removeRunFolder(lake, run)
      const owner = found?.owner.number ?? 0
      const gone = found?.state === 'gone'
      const taken =
        gone && dryRun ? { run, owner, lease: null } : gone ? await takeOver(lake, run, owner, judge) : null
      if (taken) dead.push(taken)
      else working.push(run)
    }
    return { dead, working, held }
  } catch (error) {
    await releaseDeadRuns(dead)
    throw error
  }
}

/** Releases dead runs when gc fails. */
export const releaseDeadRuns = async (runs: readonly DeadRun[]): Promise<void> => {
  for (const { lease, heartbeat } of runs) {
    await heartbeat?.stop()
    if (lease) await releaseRun(lease).catch(() => undefined)
  }
}

/** Bytes that a run holds in the lake and on this machine. */
export const sizeOfRun = async (lake: string, run: string): Promise<number> => {
  const stored = await storageOf(lake).list(runPath(run))
  const here = await listTree(inLake(lake, runPath(run)))
  // In a lake in a folder both are the same files.
  const sizes = new Map(stored.map(({ path, bytes }) => [path, bytes]))
  for (const { path, bytes } of here) sizes.set(below(lake, path), bytes)
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** Runs of which something stands on this machine, at work or not. */
export const listLocalRuns = async (lake: string): Promise<readonly string[]> =>
  (await listFolder(inLake(lake, RUNS_FOLDER))).map(({ name }) => name).filter(isRunId)

/** Removes a dead run's folder; writes the record of its commit first where a crash left it out. */
export const removeDeadRun = async (
  lake: string,
  { run, owner, lease, heartbeat }: DeadRun,
  /** The snapshot of its commit. */
  commit: number | undefined,
  judge: LivenessRule,
): Promise<boolean> => {
  if (!lease) {
    // Nobody can lease a run on a full disk, this one included: check again, then remove it in one step.
    const found = await runState(lake, run, judge)
    if (found?.state !== 'gone' || found.owner.number !== owner) return false
  }
  if (commit !== undefined) {
    // The run's staged files are useless by now, and a full disk needs room for the record.
    await removeLocalRun(lake, run, stagingPath(run))
    await ensureRecord(lake, commit)
  }
  await heartbeat?.stop()
  await removeRunFolder(lake, run)
  return true
}
