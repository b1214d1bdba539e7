/** The rules of the commit of a run, in the order in which they apply. A new one is a file of this room and a line here. */

import type { QuarantineLimit } from '../options/value-types.ts'
import { checkedBefore, type SnapshotAudit } from './check-before.ts'
import type { CommitRule } from './commit-rule.ts'
import { sameCurrency } from './currency-change.ts'
import { recordVersions } from './list-versions.ts'
import type { GoneOptions } from './mark-gone.ts'
import { boundNames } from './names.ts'
import { quarantineLimit } from './quarantine-limit.ts'
import { type DeclaredTake, sameProjection } from './same-projection.ts'
import type { StagedRun } from './staged-files.ts'

/** The part of a run's plan that its commit goes by. */
export interface PlannedCommit extends DeclaredTake {
  /** Commits sources that the lake holds already once more. */
  readonly again: boolean
  readonly limits: {
    /** Names in the drift of the snapshot that the contract does not know. @default 10,000 */
    readonly maxUnknownNames?: number | undefined
  }
}

/** How strict a commit is. */
export interface RuleOptions extends Partial<GoneOptions> {
  readonly maxQuarantined: QuarantineLimit
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /** Checks the snapshot before it is shown. @default it is shown */
  readonly audit?: SnapshotAudit | undefined
}

/** The code of rules that few runs need is loaded for these alone. */
export const rulesOf = async (
  run: StagedRun,
  plan: PlannedCommit,
  { maxQuarantined, changeCurrency = false, listings = [], maxGone, audit, signal }: RuleOptions,
): Promise<readonly CommitRule[]> => [
  quarantineLimit(run, maxQuarantined),
  sameProjection(run, plan),
  sameCurrency(run, changeCurrency),
  ...(listings.length > 0
    ? [(await import('./mark-gone.ts')).markGone(run, { listings, maxGone, signal })]
    : []),
  ...(plan.again ? [(await import('./mistaken-instants.ts')).loadedAgain(run)] : []),
  boundNames(run, plan.limits.maxUnknownNames),
  recordVersions(run),
  ...(audit ? [checkedBefore(audit)] : []),
]
