/**
 * Unfinished runs: `_runs/<run id>/` with owners, `plan.json`, `journal.jsonl` and `staging/`. The folder is
 * built under a temporary name, so a run that can be seen has its owner and its plan.
 */

import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import { inLake, MANIFEST_FOLDER, RUNS_FOLDER, runPath } from '../lake/layout.ts'
import { createIfAbsent, fsyncFolder, makeFolder } from '../support/durable-files.ts'
import { listFolder, listTree, look } from '../support/list-files.ts'
import { type ProcessIdentity, temporaryName, thisProcess } from '../support/process-identity.ts'
import { isRunId, newRunId, type RandomBytes } from '../support/run-ids.ts'
import { findCommit } from './find-commit.ts'
import { readJournal } from './journal.ts'
import {
  assertOwner,
  type Judge,
  ownerName,
  ownerText,
  type RunClaim,
  type RunState,
  runState,
} from './run-claims.ts'
import { ensureRecord, newestNumber, newestSnapshot } from './snapshots.ts'

export interface NewRun {
  readonly lake: string
  /** Whatever the pipeline needs to go on later: command, options, sources. JSON. */
  readonly plan: unknown
  readonly now: Date
  readonly random: RandomBytes
  /** @default this process */
  readonly process?: ProcessIdentity
}

/** Makes the folders of a lake where they are missing. @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED` */
export const makeLake = async (lake: string): Promise<void> => {
  try {
    for (const folder of [MANIFEST_FOLDER, RUNS_FOLDER]) await makeFolder(inLake(lake, folder))
  } catch (error) {
    throw writeError(`Cannot make lake "${lake}"`, error)
  }
}

const buildRun = async (folder: string, plan: unknown, owner: string): Promise<void> => {
  await makeFolder(join(folder, 'staging'))
  await createIfAbsent(join(folder, 'plan.json'), `${JSON.stringify(plan, null, 2)}\n`)
  await createIfAbsent(join(folder, 'journal.jsonl'), '')
  await createIfAbsent(join(folder, ownerName(1)), owner)
}

/**
 * Begins a run, and the lake where there is none. The caller owns it.
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, `SNAPSHOT_DAMAGED` when the newest snapshot is missing
 */
export const createRun = async ({
  lake,
  plan,
  now,
  random,
  process = thisProcess(),
}: NewRun): Promise<RunClaim> => {
  await makeLake(lake)
  const base = await newestNumber(lake)
  const run = newRunId(now, random)
  const building = join(inLake(lake, RUNS_FOLDER), temporaryName())
  try {
    await buildRun(building, plan, ownerText(base, process))
    await rename(building, inLake(lake, runPath(run)))
    await fsyncFolder(inLake(lake, RUNS_FOLDER))
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    throw writeError(`Cannot begin run "${run}" in lake "${lake}"`, error)
  }
  return { lake, run, number: 1, base }
}

/** The plan of a run as it was passed to `createRun`. @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` */
export const readPlan = async (lake: string, run: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(inLake(lake, `${runPath(run)}/plan.json`), 'utf8'))
  } catch (error) {
    const absent = systemCode(error) === 'ENOENT'
    throw new ToolkitError(
      absent ? 'RUN_NOT_FOUND' : 'RUN_NOT_RESUMABLE',
      `Cannot read the plan of run "${run}": ${absent ? 'there is none' : 'it is damaged'}`,
      { run },
      error,
    )
  }
}

/** The ids of the runs that have a folder, oldest first. */
export const listRunIds = async (lake: string): Promise<readonly string[]> =>
  (await listFolder(inLake(lake, RUNS_FOLDER))).map(({ name }) => name).filter(isRunId)

export interface RunSummary {
  readonly run: string
  readonly state: RunState
  /** Process that owns it; absent when it was released. */
  readonly process?: { readonly host: string; readonly pid: number }
  /** The snapshot that shows it already; `null` before its commit. */
  readonly committed: number | null
  /** Finished partitions; 0 when the journal is damaged. */
  readonly partitions: number
}

const summarise = async (
  lake: string,
  run: string,
  judge: Judge,
  newest: Snapshot | null,
): Promise<RunSummary | null> => {
  const found = await runState(lake, run, judge)
  if (!found) return null
  const { state, owner } = found
  const commit = await findCommit(lake, run, owner.base, newest)
  const entries = await readJournal(lake, run).catch(() => [])
  const process = owner.process && { process: { host: owner.process.host, pid: owner.process.pid } }
  return { run, state, ...process, committed: commit?.snapshot ?? null, partitions: entries.length }
}

/** All runs that have a folder, oldest first. @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED` */
export const listRuns = async (lake: string, judge: Judge): Promise<readonly RunSummary[]> => {
  const ids = await listRunIds(lake)
  const newest = await newestSnapshot(lake)
  const runs: RunSummary[] = []
  for (const run of ids) {
    const one = await summarise(lake, run, judge, newest)
    if (one) runs.push(one)
  }
  return runs
}

/** Removes a run's folder in one step for all who look. @returns the bytes it held */
export const removeRunFolder = async (lake: string, run: string): Promise<number> => {
  const folder = inLake(lake, runPath(run))
  // Never piece by piece: a run without its newest owner would look like one to take over.
  const removed = join(inLake(lake, RUNS_FOLDER), temporaryName())
  try {
    await rename(folder, removed)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0
    throw writeError(`Cannot remove run "${run}"`, error)
  }
  const bytes = (await listTree(removed)).reduce((sum, one) => sum + one.bytes, 0)
  await rm(removed, { recursive: true, force: true })
  return bytes
}

/**
 * Ends a run that had committed before its process went: the second record of its commit may still be missing.
 * @throws as `assertOwner`, `SNAPSHOT_DAMAGED`
 */
export const removeCommittedRun = async (claim: RunClaim, snapshot: number): Promise<void> => {
  await ensureRecord(claim.lake, snapshot)
  await removeRun(claim)
}

/** Ends a run that one owns: after its commit, or to give up what it did. @throws as `assertOwner` */
export const removeRun = async (claim: RunClaim): Promise<void> => {
  if (!(await look(inLake(claim.lake, runPath(claim.run))))) return
  await assertOwner(claim)
  await removeRunFolder(claim.lake, claim.run)
}
