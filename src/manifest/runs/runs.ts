/**
 * Unfinished runs: `_runs/<run id>/` with owners, `plan.json` and journals in the lake, and with what is at
 * work (`staging/`, `spool/`, …) on the machine that works on it. A run that has an owner has its plan.
 */

import { lstat, rm } from 'node:fs/promises'
import { type Failure, failureOf, isFinal, systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import type { SnapshotHead } from '../../core/partition.ts'
import { inLake, MANIFEST_FOLDER, RUNS_FOLDER, runPath, stagingPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { makeFolders } from '../../support/file-modes.ts'
import { seal, unseal } from '../../support/hash.ts'
import { type ProcessIdentity, thisProcess } from '../../support/process-identity.ts'
import { isRunId, newRunId, type RandomBytes } from '../../support/run-ids.ts'
import { headOf, type SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { findCommit, newestNumber, newestRoot } from '../snapshots/snapshots.ts'
import { JOURNAL_FILE, readJournal, recordedUnits } from './journal.ts'
import {
  assertOwner,
  type LivenessRule,
  ownerName,
  ownerText,
  PLAN_FILE,
  type RunLease,
  type RunState,
  runState,
  type SHARED,
  type StandingRun,
  seeRun,
} from './run-lease.ts'

interface NewRun {
  readonly lake: string
  /** Whatever the pipeline needs to resume later: command, options, sources. JSON, not empty. */
  readonly plan: object
  /** Texts of files that stand in its folder before it has an owner, by their names. @default none */
  readonly files?: ReadonlyMap<string, string> | undefined
  readonly now: Date
  readonly random: RandomBytes
  /** Mode bits of the lake's folder where it is new. @default 0o700 */
  readonly mode?: number | undefined
  /** The run's owner. @default this process */
  readonly process?: ProcessIdentity | typeof SHARED
}

/**
 * Makes the folders of a lake where they are missing.
 *
 * @param mode bits of its own folder where it is new: what is made in it takes them. @default 0o700
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`
 */
export const makeLake = async (lake: string, mode?: number): Promise<void> => {
  try {
    await storageOf(lake).prepare([MANIFEST_FOLDER, RUNS_FOLDER], mode)
  } catch (error) {
    throw writeError(`Cannot make lake "${lake}"`, error)
  }
}

/**
 * The files of a new run. Its owner comes last, so that a run without one was never begun; its plan first, so that a
 * folder without one is what a removed run left. One that many processes work on has a journal too: it may get an owner.
 */
const filesOfRun = (
  { plan, files = new Map(), process = thisProcess() }: NewRun,
  base: number,
): ReadonlyMap<string, string> =>
  new Map([
    [PLAN_FILE, `${seal(JSON.stringify(plan, null, 2))}\n`],
    ...files,
    [JOURNAL_FILE, ''],
    [ownerName(1), ownerText(base, process)],
  ])

/**
 * Begins a run, and the lake where there is none. The caller owns it.
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `SNAPSHOT_DAMAGED` when the newest snapshot is missing
 */
export const createRun = async (asked: NewRun): Promise<RunLease> => {
  const { lake, now, random, mode } = asked
  await makeLake(lake, mode)
  const base = await newestNumber(lake)
  const run = newRunId(now, random)
  try {
    if (!(await storageOf(lake).createFolder(runPath(run), filesOfRun(asked, base))))
      throw new Error('its id is taken')
    await makeFolders(inLake(lake, stagingPath(run)), { within: inLake(lake, '') })
  } catch (error) {
    throw writeError(`Cannot begin run "${run}" in lake "${lake}"`, error)
  }
  return { lake, run, number: 1, base }
}

/** The plan of a run as it was passed to `createRun`. @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` */
export const readPlan = async (lake: string, run: string): Promise<unknown> => {
  const text = await storageOf(lake).read(`${runPath(run)}/${PLAN_FILE}`)
  if (text === null)
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot read the plan of run "${run}": there is none`, { run })
  const read = unseal(text)
  if (read.kind !== 'damaged') return read.value
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot read the plan of run "${run}": it is damaged`, { run })
}

/** Whether the plan's file is this user's or root's; of a bucket, and on systems without users, it is taken to be. */
export const isOwnPlan = async (lake: string, run: string): Promise<boolean> => {
  const own = process.getuid?.()
  if (own === undefined || storageOf(lake).isRemote) return true
  const { uid } = await lstat(inLake(lake, `${runPath(run)}/${PLAN_FILE}`))
  return uid === own || uid === 0
}

/** The ids of the runs that have a folder, oldest first. */
export const listRunIds = async (lake: string): Promise<readonly string[]> =>
  (await storageOf(lake).entries(RUNS_FOLDER)).map(({ name }) => name).filter(isRunId)

export interface RunSummary {
  readonly run: string
  readonly state: RunState
  /** Process that owns it; absent when it was released, or nobody owns it. */
  readonly process?: { readonly host: string; readonly pid: number }
  /** Any number of processes work on it: see `firmlake run status`. */
  readonly shared?: true
  /** Units that are done, of a run that any number of processes work on. */
  readonly unitsDone?: number
  /** The snapshot that shows it already; `null` before its commit. */
  readonly committed: number | null
  /** Finished partitions; 0 when the journal is damaged, and of a run that any number of processes work on. */
  readonly partitions: number
  /** Why it was released, where its work failed; `final`: it can only fail again. */
  readonly failure?: Failure & { readonly final: boolean }
}

const summarise = async (
  lake: string,
  run: string,
  judge: LivenessRule,
  newest: SnapshotRoot | null,
): Promise<RunSummary | null> => {
  const found = await runState(lake, run, judge)
  if (!found) return null
  const { state, owner } = found
  const { host = '', pid = 0 } = owner.process ?? {}
  const committed = (await findCommit(lake, run, owner.base, newest))?.snapshot ?? null
  let failure = owner.failure
  const countPartitions = async (): Promise<number> => (await readJournal(lake, run)).entries.length
  const progress = owner.shared
    ? { shared: true as const, partitions: 0, unitsDone: (await recordedUnits(lake, run)).size }
    : {
        ...(owner.process && { process: { host, pid } }),
        partitions: await countPartitions().catch((error: unknown) => {
          if (error instanceof ToolkitError && error.code === 'RUN_NOT_RESUMABLE') failure = failureOf(error)
          return 0
        }),
      }
  const isStopped = committed === null && state === 'gone'
  return {
    ...{ run, state, committed, ...progress },
    ...(failure && isStopped && { failure: { ...failure, final: isFinal(failure) } }),
  }
}

/**
 * Looks for a run by its id. @returns what stands of it, and the snapshot that shows it
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND` for what is no id, `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`
 */
export const lookUpRun = async (
  lake: string,
  run: string,
): Promise<{ readonly seen: StandingRun | null; readonly snapshot: SnapshotHead | null }> => {
  if (!isRunId(run))
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot find run "${run}": it is not the id of a run`, { run })
  const seen = await seeRun(lake, run)
  // Asked behind the look at its folder: a run whose folder was gone by then is in the lake, or nowhere.
  const root = await findCommit(lake, run, seen?.base ?? 0, await newestRoot(lake))
  return { seen, snapshot: root && headOf(root) }
}

/** The runs that have a folder, oldest first. @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED` */
export const listRuns = async (lake: string, judge: LivenessRule): Promise<readonly RunSummary[]> => {
  const ids = await listRunIds(lake)
  const newest = await newestRoot(lake)
  const runs: RunSummary[] = []
  for (const run of ids) {
    const one = await summarise(lake, run, judge, newest)
    if (one) runs.push(one)
  }
  return runs
}

/** As `listRuns`; none where there is no lake yet. */
export const runsIfAny = async (lake: string, judge: LivenessRule): Promise<readonly RunSummary[]> => {
  try {
    return await listRuns(lake, judge)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return []
    throw error
  }
}

/**
 * Removes what stands of a run on this machine. What a late worker writes there meanwhile goes with the next gc.
 *
 * @param path all of it, or a folder of it
 */
export const removeLocalRun = async (lake: string, run: string, path = runPath(run)): Promise<void> => {
  try {
    await rm(inLake(lake, path), { recursive: true, force: true })
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY') throw error
  }
}

/** Removes a run's folder, and what stands of it on this machine. */
export const removeRunFolder = async (lake: string, run: string): Promise<void> => {
  try {
    // Deletion may not be atomic: the plan is deleted first, so that nobody resumes the run.
    await storageOf(lake).removeFolder(runPath(run), PLAN_FILE)
    await removeLocalRun(lake, run)
  } catch (error) {
    throw writeError(`Cannot remove run "${run}"`, error)
  }
}

/** Ends a run that one owns: after its commit, or to discard what it did. @throws as `assertOwner` */
export const removeRun = async (lease: RunLease): Promise<void> => {
  if (!(await storageOf(lease.lake).hasFolder(runPath(lease.run)))) return
  await assertOwner(lease)
  await removeRunFolder(lease.lake, lease.run)
}
