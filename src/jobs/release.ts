/** `release`: shows the snapshot that is held back. */

import type { SnapshotAudit } from '../commit/check-before.ts'
import type { CheckResult } from '../core/checks.ts'
import { ToolkitError } from '../core/errors.ts'
import { finishDeadForgets } from '../forget/finish-forget.ts'
import { endHeld, readHeld } from '../manifest/snapshots/held.ts'
import type { Read } from '../options/entry.ts'
import { RELEASE } from '../options/held.ts'
import type { ReleaseOptions } from '../options/interfaces.ts'
import type { RunReport } from '../run/run-report.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { auditOf } from './measured-load.ts'
import { commitHeldRun, holdBackAgain } from './resume.ts'

/** The load that was held back, as it is shown now. */
export interface ReleasedLoad extends RunReport {
  /** The lake has got other snapshots since it was held back: it is built upon the newest. Absent where it has not. */
  readonly moved?: {
    /** The snapshot that it was held back against, and the one that it is built upon. */
    readonly from: number
    readonly to: number
    /** The checks that fail in it now; what `failing` names fails in the one before, too. */
    readonly checks: readonly CheckResult[]
  }
}

type Asked = Read<ReleaseOptions, typeof RELEASE>

const notHeld = (lake: string): ToolkitError =>
  new ToolkitError('NOTHING_HELD', 'Cannot release: no snapshot is held back', { lake })

const released = async ({ check, ...options }: Asked): Promise<ReleasedLoad> => {
  const { lake } = options
  // A forget that was killed behind its commit has written the load again.
  if ((await readHeld(lake)) !== null) await finishDeadForgets(options, holdBackAgain)
  const held = await readHeld(lake)
  if (held === null) throw notHeld(lake)
  const from = held.root.parent ?? 0
  let moved: ReleasedLoad['moved']
  // A load that would take its place is not meant: this is the load itself.
  const look = check && (await auditOf(options, { ...check, held: 'wait' }))
  const audit: SnapshotAudit = async (next, root) => {
    const to = root?.snapshot ?? 0
    if (to === from) return { worse: [], asBefore: [], results: held.results ?? held.checks }
    const { worse, asBefore, results } = (await look?.(next, root)) ?? {
      worse: [],
      asBefore: [],
      results: [],
    }
    moved = { from, to, checks: worse }
    return { worse: [], asBefore, results }
  }
  const report = await commitHeldRun(held, { ...options, audit })
  if (report === undefined) throw notHeld(lake)
  await endHeld(lake, held)
  return { ...report, ...(moved && { moved }) }
}

/**
 * Shows the snapshot that is held back, in one commit, and then updates targets. What its load has read is committed: its sources
 * are not read again. Where the lake has got other snapshots meanwhile, it is built upon the newest, and the result says so.
 *
 * @throws {ToolkitError} `NOTHING_HELD` where none is held back, `RUN_LIVE` while another process releases it,
 *   `RUN_NOT_RESUMABLE` where its files are damaged (discard it); what a commit and `updateTargets` throw
 * @example
 * import { convert, release } from 'firmlake'
 *
 * const check = { minCompanies: 1_000_000 }
 * await convert({ from: ['batches/'], lake: './lake', check }).catch(({ code }) => code)
 * const { snapshot, records } = await release({ lake: './lake' })
 * console.log(snapshot, records) // 1 5
 */
export const release: (options: ReleaseOptions) => Promise<ReleasedLoad & TargetsSummary> = lakeJob(
  'release',
  RELEASE,
  released,
  'The release',
)
