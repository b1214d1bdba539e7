/** `discard`: gives up the load that is held back. */

import { ToolkitError } from '../core/errors.ts'
import { DISCARD } from '../options/held.ts'
import type { DiscardOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { type DiscardedLoad, discardIfHeld, letLoad } from '../run/discard-held.ts'

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
    // A load that was interrupted is ended.
    await letLoad(lake)
    throw new ToolkitError('NOTHING_HELD', 'Cannot discard: no snapshot is held back', { lake })
  },
)
