/** `discard`: gives up the load that is held back. */

import { ToolkitError } from '../../core/errors.ts'
import { knownByBytes, sourcesOf } from '../../manifest/form/sources.ts'
import { readAllWork } from '../../manifest/runs/journal.ts'
import { addDiscarded, type DiscardedSource } from '../../manifest/snapshots/discarded.ts'
import { type HeldSnapshot, readHeld } from '../../manifest/snapshots/held.ts'
import { DISCARD } from '../../options/held.ts'
import type { DiscardOptions } from '../../options/interfaces.ts'
import { job } from '../../options/job.ts'
import { discardHeld, letLoad } from '../../run/discard-held.ts'

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
  // First: killed behind it, the same call goes on, and nobody takes the sources for new ones.
  await addDiscarded(lake, sources)
  await discardHeld(lake, held)
  return { run, snapshot: root.snapshot, sources: [...new Set(sources.map(({ source }) => source))] }
}

/** Gives up the load that is held back, where one is. @throws {ToolkitError} as `discard` */
export const discardIfHeld = async (lake: string): Promise<DiscardedLoad | undefined> => {
  const held = await readHeld(lake)
  return held ? giveUp(lake, held) : undefined
}

/**
 * Gives up the load that is held back: its files go, and its sources are remembered, so that the next load does not bring them
 * again (with `again` one does). The days of a pull are asked for again.
 *
 * @throws {ToolkitError} `NOTHING_HELD` where none is held back, `RUN_LIVE` while it is released, `DISK_FULL`, `WRITE_FAILED`
 * @example
 * import { convert, discard } from 'firmlake'
 *
 * const check = { minCompanies: 1_000_000 }
 * const held = await convert({ from: ['batches/'], lake: './lake', check }).catch(({ code }) => code)
 * const { snapshot } = await discard({ lake: './lake' })
 * console.log(held, snapshot) // LOAD_HELD 1
 */
export const discard: (options: DiscardOptions) => Promise<DiscardedLoad> = job(
  'discard',
  DISCARD,
  async ({ lake }) => {
    const done = await discardIfHeld(lake)
    if (done) return done
    // One that was stopped is ended.
    await letLoad(lake)
    throw new ToolkitError('NOTHING_HELD', 'Cannot discard: no snapshot is held back', { lake })
  },
)
