/** How a lake stands: its snapshot and format, unfinished runs, leftovers. */

import { ToolkitError } from '../../core/errors.ts'
import { FORMAT } from '../../manifest/form/root-form.ts'
import { listLeftovers } from '../../manifest/gc/lake-files.ts'
import { listRuns } from '../../manifest/runs/runs.ts'
import { newestRoot } from '../../manifest/snapshots/snapshots.ts'
import type { MachineFinding } from './finding.ts'

/** Nothing to say where there is none. */
const someOf = (about: string, says: string, count: number, mend: string): readonly MachineFinding[] =>
  count === 0 ? [] : [{ about, state: 'absent', says: `${says}: ${count}`, mend }]

export const checkLake = async (lake: string): Promise<readonly MachineFinding[]> => {
  try {
    const newest = await newestRoot(lake)
    const runs = await listRuns(lake, { now: new Date() })
    const leftovers = await listLeftovers(lake, { now: new Date() })
    return [
      { about: 'lake', state: 'well', says: `snapshot ${newest?.snapshot ?? 0} in format ${FORMAT}` },
      ...someOf('runs', 'unfinished runs', runs.length, `firmlake resume --lake ${lake}`),
      ...someOf('leftovers', 'leftovers', leftovers.length, `firmlake gc --lake ${lake}`),
    ]
  } catch (error) {
    if (!(error instanceof ToolkitError)) throw error
    return [{ about: 'lake', state: 'missing', says: `${error.code}: ${error.message}` }]
  }
}
