/** The summary of a commit: the run in its snapshot, the sources that were not loaded, and the findings of rules. */

import type { CheckResult, KeptResult } from '../core/checks.ts'
import type { ErrorCode } from '../core/errors.ts'
import type { PartitionEntry, SnapshotHead } from '../core/partition.ts'
import type { SourceResult } from '../manifest/runs/journal-lines.ts'

/** Companies whose figures a run replaces by figures in another currency. */
export interface CurrencyChange {
  readonly companies: number
  /** Companies among them that report in another local currency than before. */
  readonly local: number
  /** The first by id. */
  readonly examples: readonly { readonly id: string; readonly from: string; readonly to: string }[]
}

/** The outcome for companies of the lake that a listing lacked. */
export interface GoneCompanies {
  /** The search, as JSON. */
  readonly search: string
  /** Companies that are not shown from now on. */
  readonly marked: number
  /** Why none is marked; absent where some are. */
  readonly reason?: string
}

/** The findings of rules; each reports its own. */
export interface RuleFindings {
  /** Companies whose figures were replaced by figures in another currency, as it was allowed. */
  readonly currencyChange?: CurrencyChange
  /** Companies that whole listings lack; absent where they lacked none. */
  readonly gone?: readonly GoneCompanies[]
  /** Checks that fail in the snapshot as they did in the one before; absent where none does, and where none was asked for. */
  readonly failing?: readonly CheckResult[]
}

export interface CommitSummary extends RuleFindings {
  readonly run: string
  /** The snapshot that shows the run; absent when there was nothing to commit. */
  readonly snapshot: SnapshotHead | undefined
  readonly partitions: readonly PartitionEntry[]
  readonly skipped: readonly { readonly source: string; readonly reason: string }[]
  /** Bad files that were left out; none without `skipBadFiles`. */
  readonly excluded: readonly {
    readonly source: string
    readonly code: ErrorCode
    readonly reason: string
  }[]
}

/** The sources of a run that were not loaded. */
export const unloadedOf = (
  results: readonly SourceResult[],
): Pick<CommitSummary, 'skipped' | 'excluded'> => ({
  skipped: results.flatMap((one) =>
    one.kind === 'skipped' ? [{ source: one.source, reason: one.reason }] : [],
  ),
  excluded: results.flatMap((one) =>
    one.kind === 'left-out' ? [{ source: one.source, code: one.code, reason: one.reason }] : [],
  ),
})

/** The findings of rules about the snapshot that would be. */
export interface Audited {
  readonly failed: readonly CheckResult[]
  readonly results: readonly KeptResult[]
}
