/** `check`: what is expected of a lake against what it holds: its loads by the manifest, and rules on the data. */

import { type CheckReport, checkRules, checkSnapshot } from '../checks/check-snapshot.ts'
import { sinceMs } from '../core/since.ts'
import { readChosenRoot } from '../manifest/snapshots/held.ts'
import { readRoot, snapshotAsOf } from '../manifest/snapshots/snapshots.ts'
import { CHECK_LAKE } from '../options/check.ts'
import type { LakeCheckOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'

/**
 * Checks the newest snapshot of a lake, or the one that is held back: the expectations that are given, the rules on the data, and
 * rules of one's own.
 *
 * @returns every check with what was found; `failed` is 0 where all is as expected
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`; of a rule `QUERY_REFUSED`, `QUERY_FAILED`
 * @example
 * import { check, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { failed, checks } = await check({ lake: './lake', minCompanies: 3, maxAgeMs: 24 * 3600 * 1000 })
 * console.log(failed, checks[0]?.name, checks[0]?.status) // 0 age_seconds passed
 */
export const check: (options: LakeCheckOptions) => Promise<CheckReport> = job(
  'check',
  CHECK_LAKE,
  async ({ now = () => new Date(), held, since, ...options }) => {
    const { lake } = options
    const rules = checkRules(options)
    const root = await readChosenRoot(lake, { held })
    const questions = { ...options, rules, now: now() }
    const report = await checkSnapshot(root, questions)
    if (since === undefined) return report
    const { onlyNew } = await import('../checks/check-since.ts')
    const before = await readRoot(lake, await snapshotAsOf(lake, new Date(sinceMs(since, now()))))
    return onlyNew(report, root, before, questions)
  },
)
