/** How a lake stands: its snapshot and format, unfinished runs, leftovers. */

import { ToolkitError } from '../../core/errors.ts'
import { listLeftovers } from '../../manifest/lake-files.ts'
import { NEWEST_FORMAT } from '../../manifest/root-form.ts'
import { listRuns } from '../../manifest/runs.ts'
import { newestNumber, readFormat } from '../../manifest/snapshots.ts'
import type { MachineFinding } from './finding.ts'

/** Nothing to say where there is none. */
const someOf = (about: string, says: string, count: number, mend: string): readonly MachineFinding[] =>
  count === 0 ? [] : [{ about, state: 'absent', says: `${says}: ${count}`, mend }]

export const checkLake = async (lake: string): Promise<readonly MachineFinding[]> => {
  try {
    const newest = await newestNumber(lake)
    const format = newest === 0 ? NEWEST_FORMAT : await readFormat(lake, newest)
    const runs = await listRuns(lake, { now: new Date() })
    const leftovers = await listLeftovers(lake, { now: new Date() })
    const says = `snapshot ${newest} in format ${format}`
    const stands: MachineFinding = { about: 'lake', state: 'well', says }
    return [
      format < NEWEST_FORMAT ? { ...stands, mend: `firmlake upgrade --lake ${lake}` } : stands,
      ...someOf('runs', 'unfinished runs', runs.length, `firmlake resume --lake ${lake}`),
      ...someOf('leftovers', 'leftovers', leftovers.length, `firmlake gc --lake ${lake}`),
    ]
  } catch (error) {
    if (!(error instanceof ToolkitError)) throw error
    return [{ about: 'lake', state: 'missing', says: `${error.code}: ${error.message}` }]
  }
}
