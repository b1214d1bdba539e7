/** `diff`: what changed between two snapshots of a lake, in one call; `openDiff` where its rows are too many to hold. */

import { orInterrupted } from '../../core/interrupted.ts'
import type { SnapshotsToCompare } from '../../lake/diff/compare-snapshots.ts'
import { type DiffSummary, type LakeDiff, openComparison } from '../../lake/diff/open-comparison.ts'
import { queryMemory } from '../../run/memory-shares.ts'
import { type QueryRow, readRows } from '../common/read-rows.ts'
import { chooseSnapshots } from './choose-snapshots.ts'

/** Options of `diff` and `openDiff`. */
export interface DiffOptions extends Pick<SnapshotsToCompare, 'signal' | 'onProgress' | 'onFetch' | 'check'> {
  /** Number of the older snapshot. @default the one before the last one up to `to` that changed data */
  readonly from?: number | undefined
  /** Number of the newer snapshot. @default the newest */
  readonly to?: number | undefined
  /**
   * Instead of `from`: the newest snapshot that was there so long ago (`90m`, `24h`, `7d`) or at a time (`2026-11-21`, UTC);
   * `last-change` is the default of `from`.
   */
  readonly since?: string | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
}

/** What changed: how much, and each record and figure. */
export interface DiffReport extends DiffSummary {
  /** By `kind` a company or relations record that is new, changed or gone, or a restated figure (docs/diff.md). */
  readonly rows: readonly QueryRow[]
}

/**
 * Compares two snapshots of a lake and keeps what it finds: `summary` has the counts, `rows(which)` streams the rows in a stable
 * order, `close()` ends it.
 *
 * @param lake a folder, or `s3://bucket/prefix`
 * @throws {ToolkitError} as `diff`
 * @example
 * import { convert, fromRecords, openDiff } from 'firmlake'
 *
 * const from = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CountryCode: 'SE' } }])
 * await convert({ from: ['batches/'], lake: './lake' })
 * await convert({ from, lake: './lake' })
 * const changes = await openDiff('./lake')
 * try {
 *   const { rows } = await changes.rows('records')
 *   for await (const chunk of rows) console.log(changes.summary.companies.new, chunk.length) // 1 1
 * } finally {
 *   changes.close()
 * }
 */
export const openDiff = async (lake: string, options: DiffOptions = {}): Promise<LakeDiff> => {
  const [from, to] = await chooseSnapshots(lake, options, new Date())
  const { memoryBytes, threads, signal, onProgress, onFetch, check } = options
  return openComparison({
    ...{ lake, from, to, threads, signal, onProgress, onFetch, check },
    memoryBytes: queryMemory(memoryBytes),
  })
}

/**
 * Compares the current versions of two snapshots: companies and relations new, changed and gone, and restatements, which are
 * figures of years that a company had reported before whose value or currency changed, that were withdrawn, or added afterwards.
 *
 * @param lake a folder, or `s3://bucket/prefix`
 * @returns the counts, and all rows in memory; for any number of them: `openDiff`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND` (also of a first snapshot without `from`), `LAKE_DAMAGED`,
 *   `QUERY_FAILED`, `DISK_FULL`, `INTERRUPTED`
 * @example
 * import { convert, diff, fromRecords } from 'firmlake'
 *
 * const from = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CountryCode: 'SE' } }])
 * await convert({ from: ['batches/'], lake: './lake' })
 * await convert({ from, lake: './lake' })
 * const { companies, rows } = await diff('./lake', { from: 1, to: 2 })
 * console.log(companies.new, rows[0]?.kind, rows[0]?.change, rows[0]?.internal_id) // 1 company new 7
 */
export const diff = async (lake: string, options: DiffOptions = {}): Promise<DiffReport> =>
  orInterrupted('The comparison', options.signal, async () => {
    const compared = await openDiff(lake, options)
    try {
      return { ...compared.summary, rows: await readRows(await compared.rows('all')) }
    } finally {
      compared.close()
    }
  })
