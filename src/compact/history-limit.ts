/** The past rows that a compaction keeps: all, those whose end became known lately, or none. Pure. */

import type { CommittedPartition, Snapshot } from '../core/partition.ts'
import { hasOwnVersions, historySince, runsOfHistory } from '../lake/tables/past-tables.ts'
import type { Compaction } from './compact-work.ts'
import type { CompactContent } from './plan-compaction.ts'

export interface HistoryLimit {
  /** Past rows go whose end became known with lower versions than this one. */
  readonly fromVersion: number
  /** Since when none is missing; absent where all are there. */
  readonly since: string | undefined
}

const later = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a

/** The loads of a content, those that were merged too. */
const loadsOf = ({ partitions, merged = [] }: Snapshot, { content }: CompactContent) => {
  const standIns = runsOfHistory(partitions)
  return [...merged, ...partitions].filter((one) => one.content === content && !standIns.has(one.run))
}

/** Since when a content has all past rows. */
const knownSince = ({ partitions }: CompactContent): string | undefined =>
  partitions.map(historySince).reduce(later, undefined)

/** @param now says how old past rows are */
export const historyLimit = (
  { dropHistory = false, keepHistoryMs }: Pick<Compaction, 'dropHistory' | 'keepHistoryMs'>,
  snapshot: Snapshot,
  content: CompactContent,
  now: Date,
): HistoryLimit => {
  const before = knownSince(content)
  if (dropHistory) return { fromVersion: Number.POSITIVE_INFINITY, since: snapshot.time }
  if (keepHistoryMs === undefined) return { fromVersion: 0, since: before }
  const cutoff = new Date(now.getTime() - keepHistoryMs).toISOString()
  const isKept = ({ committed }: CommittedPartition): boolean => committed.time >= cutoff
  const loads = loadsOf(snapshot, content)
  if (loads.every(isKept)) return { fromVersion: 0, since: before }
  return {
    fromVersion: Math.min(Number.POSITIVE_INFINITY, ...loads.filter(isKept).map(({ version }) => version)),
    since: later(before, cutoff),
  }
}

/** Whether a compact content has past rows that are to go. */
export const hasPastBeyond = (
  snapshot: Snapshot,
  content: CompactContent,
  { fromVersion }: HistoryLimit,
): boolean => {
  const own = content.partitions.find(hasOwnVersions)
  const before = knownSince(content) ?? ''
  const hasPast = own?.files.some(({ table, rows }) => table.endsWith('_past') && rows > 0) ?? false
  return (
    hasPast &&
    loadsOf(snapshot, content).some(
      ({ version, committed }) => version < fromVersion && committed.time > before,
    )
  )
}
