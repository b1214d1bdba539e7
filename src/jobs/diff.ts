/** `diff`: what changed between two snapshots of a lake, in one call; `openDiff` where its rows are too many to hold. */

import { ToolkitError } from '../core/errors.ts'
import { queryMemory } from '../core/memory-shares.ts'
import type { Snapshot } from '../core/partition.ts'
import { sinceMs } from '../core/since.ts'
import { type DiffSummary, type LakeDiff, openComparison } from '../lake/diff/open-comparison.ts'
import { type QueryRow, readRows } from '../lake/query/read-rows.ts'
import { readChosenRoot } from '../manifest/snapshots/held.ts'
import { readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { listSnapshots, readRoot, readSnapshot } from '../manifest/snapshots/snapshots.ts'
import type { Read } from '../options/entry.ts'
import type { DiffOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { DIFF } from '../options/read-jobs.ts'

/** The changes: how much, and each record and figure. */
export interface DiffReport extends DiffSummary {
  /** A row: by `kind` a company or relations record that is new, changed or gone, or a restated figure (docs/diff.md). */
  readonly rows: readonly QueryRow[]
}

type Asked = Read<DiffOptions, typeof DIFF>

const opened = async (options: Asked): Promise<LakeDiff> => {
  const { lake } = options
  const [from, to] = await chooseSnapshots(lake, options, new Date())
  const { memoryBytes, threads, signal, onProgress, onFetch, check } = options
  return openComparison({
    ...{ lake, from, to, threads, signal, onProgress, onFetch, check },
    memoryBytes: queryMemory(memoryBytes),
  })
}

/**
 * Compares two snapshots of a lake and keeps what it finds: `summary` has the counts, `rows(which)` streams the rows in a stable
 * order, `close()` ends it.
 *
 * @throws {ToolkitError} as `diff`
 * @example
 * import { convert, fromRecords, openDiff } from 'firmlake'
 *
 * const from = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CountryCode: 'SE' } }])
 * await convert({ from: ['batches/'], lake: './lake' })
 * await convert({ from, lake: './lake' })
 * const changes = await openDiff({ lake: './lake' })
 * try {
 *   const { rows } = await changes.rows('records')
 *   for await (const chunk of rows) console.log(changes.summary.companies.new, chunk.length) // 1 1
 * } finally {
 *   changes.close()
 * }
 */
export const openDiff: (options: DiffOptions) => Promise<LakeDiff> = job('openDiff', DIFF, opened)

const compared = async (options: Asked): Promise<DiffReport> => {
  const changes = await opened(options)
  try {
    return { ...changes.summary, rows: await readRows(await changes.rows('all')) }
  } finally {
    changes.close()
  }
}

/**
 * Compares the current versions of two snapshots: companies and relations new, changed and gone, and restatements, which are
 * figures of years that a company had reported before whose value or currency changed, that were withdrawn, or added afterwards.
 *
 * @returns the counts, and all rows in memory; for any number of them: `openDiff`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND` (also of a first snapshot without `from`), `LAKE_DAMAGED`,
 *   `QUERY_FAILED`, `DISK_FULL`, `INTERRUPTED`
 * @example
 * import { convert, diff, fromRecords } from 'firmlake'
 *
 * const from = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CountryCode: 'SE' } }])
 * await convert({ from: ['batches/'], lake: './lake' })
 * await convert({ from, lake: './lake' })
 * const { companies, rows } = await diff({ lake: './lake', from: 1, to: 2 })
 * console.log(companies.new, rows[0]?.kind, rows[0]?.change, rows[0]?.internal_id) // 1 company new 7
 */
export const diff: (options: DiffOptions) => Promise<DiffReport> = job(
  'diff',
  DIFF,
  compared,
  'The comparison',
)

const noneBefore = (lake: string, { snapshot }: SnapshotRoot, hint: string): ToolkitError =>
  new ToolkitError('SNAPSHOT_NOT_FOUND', `Cannot compare snapshot ${snapshot}: ${hint}`, { lake, snapshot })

/** The newest snapshot that was there at a time. */
const newestAt = async (lake: string, newer: SnapshotRoot, since: string, now: Date): Promise<number> => {
  const moment = sinceMs(since, now, ', or last-change')
  const kept = (await listSnapshots(lake)).filter((number) => number <= newer.snapshot)
  for (const number of kept.toReversed())
    if (Date.parse((await readRoot(lake, number)).time) <= moment) return number
  const first = kept[0] ?? newer.snapshot
  throw noneBefore(
    lake,
    newer,
    `the lake has no snapshot from before "${since}"; its oldest one is --from ${first}`,
  )
}

/** The last snapshot up to one that changed data: a compaction holds the same as the one before it. */
const lastChange = async (lake: string, newer: SnapshotRoot): Promise<SnapshotRoot> => {
  let changed = newer
  while (changed.pipeline === 'compact' && changed.parent !== null)
    changed = await readRoot(lake, changed.parent)
  return changed
}

/**
 * The older and the newer one.
 *
 * @throws {ToolkitError} SNAPSHOT_NOT_FOUND, LAKE_NOT_FOUND, USAGE
 */
export const chooseSnapshots = async (
  lake: string,
  { from, to, since = 'last-change', held = false }: Pick<DiffOptions, 'from' | 'to' | 'since' | 'held'>,
  now: Date,
): Promise<readonly [Snapshot, Snapshot]> => {
  if (held) {
    const root = await readChosenRoot(lake, { snapshot: to, held })
    if (root.parent === null && from === undefined) throw noneBefore(lake, root, 'there is none before it')
    return [await readSnapshot(lake, from), await readAllListed(lake, root)]
  }
  const newer = await readRoot(lake, to)
  if (from !== undefined) return [await readSnapshot(lake, from), await readSnapshot(lake, to)]
  if (since !== 'last-change')
    return [await readSnapshot(lake, await newestAt(lake, newer, since, now)), await readSnapshot(lake, to)]
  const changed = await lastChange(lake, newer)
  if (newer.parent === null) throw noneBefore(lake, newer, 'there is none before it, expected --from')
  // Nothing but compactions since the first load.
  if (changed.parent === null) return [await readSnapshot(lake, newer.parent), await readSnapshot(lake, to)]
  const [older, data] = [await readSnapshot(lake, changed.parent), await readSnapshot(lake, changed.snapshot)]
  // The older snapshot holds the same as the newer one, of which most files would have to be read.
  return [older, { ...data, snapshot: newer.snapshot, time: newer.time }]
}
