/**
 * Whether what a target shows is the lake's: its runs, and the snapshots that were exported to it, each named by number and
 * run. Where a backup took the lake's place, a target may show what the lake has lost.
 */

import type { LakeClaim } from '../core/sink.ts'
import type { NamedSnapshot } from '../manifest/form/compactions.ts'
import { isOwn, knownRuns } from '../manifest/snapshots/lake-past.ts'
import { newestRoot } from '../manifest/snapshots/snapshots.ts'
import { targetAhead } from '../sink/delivered-runs.ts'
import { readExportName } from '../sink/export-names.ts'
import { isRunId } from '../support/run-ids.ts'

/** The snapshot of a lake that an export brought; `undefined` for other names and other lakes. */
const exported = (name: string, lake: string | null): NamedSnapshot | undefined => {
  const found = readExportName(name)
  return found?.lake === lake ? found : undefined
}

/**
 * @param known runs that the lake is known to have
 * @returns those of a target's runs and exports that the lake does not have; other names are nobody's
 */
export const lostRuns =
  (lake: string, id: string | null, known: ReadonlySet<string> = new Set()): NonNullable<LakeClaim['lost']> =>
  async (shown) => {
    const asked = [...shown].filter((name) =>
      isRunId(name) ? !known.has(name) : exported(name, id) !== undefined,
    )
    // As it is now: another process may have committed and delivered meanwhile.
    const root = asked.length === 0 ? null : await newestRoot(lake)
    if (root === null) return asked
    const runs = await knownRuns(lake, root)
    return asked.filter((name) => {
      const snapshot = exported(name, id)
      return snapshot === undefined ? !runs.has(name) : !isOwn(runs, snapshot)
    })
  }

/** Refuses a target that still shows what the lake has lost. @throws {ToolkitError} `TARGET_AHEAD` */
export const refuseLost = async (
  lost: NonNullable<LakeClaim['lost']>,
  shown: ReadonlySet<string>,
  target: string,
): Promise<void> => {
  const [first] = await lost(shown)
  if (first !== undefined) throw targetAhead(target, first)
}
