/** Removes a load that was held back: its run with all that it has loaded. */

import { discardLoaded } from '../commit/files-of-run.ts'
import { ToolkitError } from '../core/errors.ts'
import { knownByBytes, sourcesOf } from '../manifest/form/sources.ts'
import { readAllWork } from '../manifest/runs/journal.ts'
import { isSharedRun, leaseRun } from '../manifest/runs/run-lease.ts'
import { removeRun } from '../manifest/runs/runs.ts'
import { endRun } from '../manifest/runs/shared-commits.ts'
import { addDiscarded, type DiscardedSource } from '../manifest/snapshots/discarded.ts'
import {
  beginDiscard,
  type HeldSnapshot,
  readDiscarding,
  readHeld,
  refuseWhileHeld,
  removeHeld,
} from '../manifest/snapshots/held.ts'

/** The run's folder goes first: from then on nobody resumes it. */
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

/** The load that was given up. */
export interface DiscardedLoad {
  readonly run: string
  /** The number that its snapshot would have had. */
  readonly snapshot: number
  /** Sources that no later load takes, unless it is asked to load them again. */
  readonly sources: readonly string[]
}

/** The sources of a run that are known by their bytes; windows of a service are asked again. */
const sourcesIn = async (lake: string, run: string): Promise<readonly DiscardedSource[]> => {
  const at = new Date().toISOString()
  const { entries } = await readAllWork(lake, run)
  return entries
    .map(({ partition }) => partition)
    .filter(({ source }) => knownByBytes(source))
    .flatMap((one) =>
      sourcesOf(one).map(
        ({ name, sha256, batch }): DiscardedSource => ({
          ...{ content: one.content, source: name, sha256, run, at },
          ...(batch && { batch: { service: batch.service, id: batch.id } }),
        }),
      ),
    )
}

const giveUp = async (lake: string, held: HeldSnapshot): Promise<DiscardedLoad> => {
  const { run, root } = held
  const sources = await sourcesIn(lake, run)
  // First: killed behind it, the same call continues, and nobody takes the sources for new ones.
  await addDiscarded(lake, sources)
  await beginDiscard(lake, held)
  await removeLoad(lake, held)
  return { run, snapshot: root.snapshot, sources: [...new Set(sources.map(({ source }) => source))] }
}

/** Gives up the load that is held back, where one is. @throws {ToolkitError} as `discard` */
export const discardIfHeld = async (lake: string): Promise<DiscardedLoad | undefined> => {
  const held = await readHeld(lake)
  return held ? giveUp(lake, held) : undefined
}

/** Ends a discard that was stopped; then has loads wait as long as a snapshot is held back. @throws {ToolkitError} `LOAD_HELD`, `RUN_LIVE` */
export const letLoad = async (lake: string): Promise<void> => {
  const discarding = await readDiscarding(lake)
  if (discarding) await removeLoad(lake, discarding)
  await refuseWhileHeld(lake)
}
