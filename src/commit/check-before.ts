/** A rule that checks the snapshot that would be, before anybody sees it. */

import type { CheckResult, KeptResult } from '../core/checks.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { CommitRule } from './commit-rule.ts'

/** The checks that fail in a snapshot that would be. */
export interface FailedChecks {
  /** Checks that fail worse than in the newest snapshot: the load is held back by them. */
  readonly worse: readonly CheckResult[]
  /** Checks that fail as much in the newest snapshot. */
  readonly asBefore: readonly CheckResult[]
  /** Results of all checks, also of those that passed. */
  readonly results: readonly KeptResult[]
}

/** Checks the snapshot that would be, against the one that is. */
export type SnapshotAudit = (next: SnapshotRoot, root: SnapshotRoot | null) => Promise<FailedChecks>

export const checkedBefore = (audit: SnapshotAudit): CommitRule => {
  let failing: readonly CheckResult[] = []
  return {
    audit: async (next, root) => {
      const { worse, asBefore, results } = await audit(next, root)
      failing = asBefore
      return { failed: worse, results }
    },
    report: () => (failing.length > 0 ? { failing } : {}),
  }
}
