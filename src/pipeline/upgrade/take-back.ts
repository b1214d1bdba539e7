/**
 * Takes an upgrade back: the lake is byte for byte what the earlier release left. The next snapshot's number is taken first, as
 * by a commit, so that nobody commits meanwhile; it goes last.
 */

import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { PARTS_FOLDER, recordPath, runOfPart, snapshotPath } from '../../lake/lake/layout.ts'
import { UPGRADE_PIPELINE } from '../../manifest/commit-upgrade.ts'
import { listRuns } from '../../manifest/runs.ts'
import type { SnapshotRoot } from '../../manifest/snapshot-root.ts'
import {
  createSnapshot,
  ensureRecord,
  listSnapshots,
  newestRoot,
  readKnownRoot,
  readSnapshotHash,
  TAKING_BACK,
} from '../../manifest/snapshots.ts'
import {
  discardUpgrade,
  type NumberedState,
  readUpgrade,
  takeUpgrade,
  writePhase,
} from '../../manifest/upgrade-state.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { TOOL } from '../../support/tool-version.ts'
import { type RunScope, withRun } from '../run/with-run.ts'
import { checkBefore, restoreBefore } from './before-image.ts'
import { UPGRADE_RUN } from './upgrade-lake.ts'

/** What is there again. */
export interface TakenBack {
  readonly kind: 'taken back'
  /** The newest snapshot now, and its format. */
  readonly snapshot: number
  readonly format: number
}

const stands = (lake: string, why: string): ToolkitError =>
  new ToolkitError('UPGRADE_STANDS', `Cannot take the upgrade of lake "${lake}" back: ${why}`, { lake })

const committedAfter = ({ snapshot, pipeline, time }: SnapshotRoot): string =>
  `snapshot ${snapshot} was committed after it (${pipeline}, ${time})`

/** Why there is nothing to be taken back. */
const whyNone = async (lake: string): Promise<ToolkitError> => {
  let after: SnapshotRoot | undefined
  for (const number of (await listSnapshots(lake)).toReversed()) {
    const root = await readKnownRoot(lake, number)
    if (root.pipeline === UPGRADE_PIPELINE)
      return stands(lake, after ? committedAfter(after) : 'what stood there before was removed')
    after = root
  }
  return stands(lake, 'there is none: none of its snapshots is of an upgrade')
}

/** @throws {ToolkitError} `UPGRADE_STANDS` */
const checkBack = async (lake: string, state: NumberedState, newest: SnapshotRoot): Promise<void> => {
  const { from, runs, files } = state
  if (newest.snapshot !== from.snapshot && !runs.includes(newest.run))
    throw stands(lake, committedAfter(newest))
  const hash = await readSnapshotHash(lake, from.snapshot).catch(() => null)
  if (hash !== from.sha256) throw stands(lake, `snapshot ${from.snapshot}, which it was made of, was removed`)
  await checkBefore(lake, files)
}

/** Its record first: one without its snapshot would look like damage. */
const removeSnapshot = async (lake: string, number: number): Promise<void> => {
  await storageOf(lake).remove([recordPath(number)])
  await storageOf(lake).remove([snapshotPath(number)])
}

/** Takes the next number. Whoever is at work may build on the snapshot that is to go. */
const block = async (lake: string, { run, keep }: RunScope, newest: SnapshotRoot): Promise<void> => {
  const { snapshot, pipeline } = newest
  if (pipeline !== TAKING_BACK) {
    // It may be made and its record not: whoever comes next finds the run.
    keep()
    const time = new Date().toISOString()
    const head = { snapshot: snapshot + 1, parent: snapshot, run, pipeline: TAKING_BACK, tool: TOOL, time }
    if (!(await createSnapshot(lake, { ...newest, ...head })))
      throw stands(lake, committedAfter(await readKnownRoot(lake, snapshot + 1)))
    await ensureRecord(lake, snapshot + 1)
  }
  const others = await listRuns(lake, { now: new Date() })
  const working = others.find((one) => one.run !== run && one.state !== 'gone')
  if (working === undefined) return
  if (pipeline !== TAKING_BACK) await removeSnapshot(lake, snapshot + 1)
  throw new ToolkitError(
    'RUN_LIVE',
    `Cannot take the upgrade of lake "${lake}" back: run "${working.run}" is at work, or may be; wait for it`,
    { lake, run: working.run },
  )
}

/** Removes the snapshots of the upgrade, the one that blocks commits last, then their parts. */
const removeSnapshots = async (lake: string, { from, runs }: NumberedState): Promise<void> => {
  const storage = storageOf(lake)
  for (const number of await listSnapshots(lake)) {
    if (number <= from.snapshot || !runs.includes((await readKnownRoot(lake, number)).run)) continue
    await removeSnapshot(lake, number)
  }
  const parts = (await storage.list(PARTS_FOLDER)).map(({ path }) => path)
  const own = parts.filter((path) => runs.includes(runOfPart(path.slice(PARTS_FOLDER.length + 1)) ?? ''))
  if (own.length > 0) await storage.remove(own)
}

const work = async (lake: string, scope: RunScope): Promise<NumberedState> => {
  const judge = { now: new Date() }
  const before = await readUpgrade(lake)
  const newest = await newestRoot(lake)
  if (before === null || newest === null) throw await whyNone(lake)
  if (before.phase !== 'restored') await checkBack(lake, before, newest)
  let state = await takeUpgrade(lake, scope.run, before, before, judge)
  if (state.phase !== 'restored') {
    // Nothing was changed, and nothing may have been kept yet.
    if (state.phase !== 'saving') {
      await block(lake, scope, newest)
      state = await writePhase(lake, state, { phase: 'back' })
      await restoreBefore(lake, state.files)
    }
    state = await writePhase(lake, state, { phase: 'restored' })
  }
  await removeSnapshots(lake, state)
  await discardUpgrade(lake)
  return state
}

/**
 * Takes back the upgrade of a lake, also one that was not finished. Given again after a crash it goes on.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`; `UPGRADE_STANDS` where something was committed since, or there was none;
 *   `RUN_LIVE`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
 */
export const takeBack = async (lake: string): Promise<TakenBack> => {
  if ((await newestRoot(lake)) === null || (await readUpgrade(lake)) === null) throw await whyNone(lake)
  try {
    const { from } = await withRun({ lake, plan: UPGRADE_RUN }, (scope) => work(lake, scope))
    return { kind: 'taken back', snapshot: from.snapshot, format: from.format }
  } catch (error) {
    throw systemCode(error) === undefined
      ? error
      : writeError(`Cannot take the upgrade of lake "${lake}" back`, error)
  }
}
