/** Removes a load that was held back: its run with all that it has loaded. */

import { discardLoaded } from '../commit/files-of-run.ts'
import { ToolkitError } from '../core/errors.ts'
import { isSharedRun, leaseRun } from '../manifest/runs/run-lease.ts'
import { removeRun } from '../manifest/runs/runs.ts'
import { endRun } from '../manifest/runs/shared-commits.ts'
import {
  beginDiscard,
  type HeldSnapshot,
  readDiscarding,
  refuseWhileHeld,
  removeHeld,
} from '../manifest/snapshots/held.ts'

/** Its folder goes first: from then on nobody resumes it. */
const endOwned = async (lake: string, run: string): Promise<void> => {
  try {
    await removeRun(await leaseRun(lake, run, { now: new Date() }))
  } catch (error) {
    if (!(error instanceof ToolkitError) || error.code !== 'RUN_NOT_FOUND') throw error
  }
}

const removeLoad = async (lake: string, { run }: HeldSnapshot): Promise<void> => {
  await ((await isSharedRun(lake, run)) ? endRun(lake, run) : endOwned(lake, run))
  await discardLoaded(lake, run)
  await removeHeld(lake)
}

/** Killed at any moment, whoever loads next goes on with it. @throws {ToolkitError} `RUN_LIVE` while another process does the same */
export const discardHeld = async (lake: string, held: HeldSnapshot): Promise<void> => {
  await beginDiscard(lake, held)
  await removeLoad(lake, held)
}

/** Ends a discard that was stopped; then has loads wait as long as a snapshot is held back. @throws {ToolkitError} `LOAD_HELD`, `RUN_LIVE` */
export const letLoad = async (lake: string): Promise<void> => {
  const discarding = await readDiscarding(lake)
  if (discarding) await removeLoad(lake, discarding)
  await refuseWhileHeld(lake)
}
