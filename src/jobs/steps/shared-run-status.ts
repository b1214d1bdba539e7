/** How far a run is that many processes work on, and its end without a commit. */

import { type RunState, runState } from '../../manifest/runs/run-lease.ts'
import { removeRunFolder } from '../../manifest/runs/runs.ts'
import { countCommits, endRun } from '../../manifest/runs/shared-commits.ts'
import { readRecord, recordedUnits } from '../../manifest/runs/units.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { findRun, type Phase, phasesOf, seeShared } from './shared-run.ts'

/** How far a run is. */
export interface SharedRunStatus {
  readonly run: string
  /** The snapshot that shows it; `null` before its commit. */
  readonly snapshot: number | null
  /**
   * `gone`: nobody has worked on it for a day, `firmlake gc` may remove it. `cancelled`: it was cancelled, and something of it
   * is left: cancelling it again removes that.
   */
  readonly state: RunState | 'committed' | 'cancelled'
  /** Commits that are under way, or were killed. */
  readonly commits: number
  readonly units: number
  readonly done: number
  readonly phases: readonly (Phase & { readonly done: number })[]
  /** Of the units that are done. */
  readonly partitions: number
  readonly records: number
  readonly quarantined: number
  /** Sources that were left out because they are damaged. */
  readonly leftOut: number
  /** The first units that are not done. */
  readonly open: readonly number[]
}

const NAMED_UNITS = 10
const RECORDS_AT_ONCE = 16

const NOTHING = {
  commits: 0,
  units: 0,
  done: 0,
  phases: [],
  partitions: 0,
  records: 0,
  quarantined: 0,
  leftOut: 0,
  open: [],
}

/** @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE where it is damaged, LAKE_NOT_FOUND */
export const sharedRunStatus = async (lake: string, run: string): Promise<SharedRunStatus> => {
  const found = await findRun(lake, run)
  if (found.kind === 'committed')
    return { ...NOTHING, run, snapshot: found.snapshot.snapshot, state: 'committed' }
  const commits = await countCommits(lake, run)
  if (found.kind === 'removed') return { ...NOTHING, run, snapshot: null, state: 'cancelled', commits }
  const { units } = found.shared
  const recorded = await recordedUnits(lake, run)
  const done = units.filter(({ id }) => recorded.has(id))
  const sums = { partitions: 0, records: 0, quarantined: 0, leftOut: 0 }
  await sideBySide(done, RECORDS_AT_ONCE, async ({ id }) => {
    const record = await readRecord(lake, run, id)
    sums.leftOut += record?.sources.filter(({ kind }) => kind === 'left-out').length ?? 0
    for (const { partition } of record?.entries ?? []) {
      sums.partitions += 1
      sums.records += partition.counts.records
      sums.quarantined += partition.counts.quarantined
    }
  })
  const state = await runState(lake, run, { now: new Date() })
  return {
    ...{
      run,
      snapshot: null,
      state: state?.state ?? 'gone',
      commits,
      units: units.length,
      done: done.length,
    },
    phases: phasesOf(units).map(({ first, count }) => ({
      ...{ first, count },
      done: done.filter(({ id }) => id >= first && id < first + count).length,
    })),
    ...sums,
    open: units.flatMap(({ id }) => (recorded.has(id) ? [] : [id])).slice(0, NAMED_UNITS),
  }
}

/**
 * Ends a run without a commit, damaged ones too: late workers find it gone. Stopped halfway, the same again goes on. What they loaded is removed by gc: at once, or where a commit
 * of it is under way when that has ended, for it may be just in time.
 *
 * @returns the snapshot that shows it, where it had committed: then only its folder is removed
 * @throws {ToolkitError} RUN_NOT_FOUND, LAKE_NOT_FOUND
 */
export const cancelSharedRun = async (lake: string, run: string): Promise<number | null> => {
  const found = await seeShared(lake, run)
  if (found.kind === 'committed') {
    await removeRunFolder(lake, run)
    return found.snapshot.snapshot
  }
  await endRun(lake, run)
  return null
}
