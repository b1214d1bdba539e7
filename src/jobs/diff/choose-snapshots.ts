/** Which two snapshots are compared: by number, by time, or by what changed last. */

import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import type { SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { listSnapshots, readRoot, readSnapshot } from '../../manifest/snapshots/snapshots.ts'

export interface ChosenSnapshots {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly since?: string | undefined
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SPAN = /^(\d{1,6})([mhd])$/
const MOMENT = /^\d{4}-\d\d-\d\d(T.+)?$/

/** When a time such as `24h` or `2026-11-21` (its beginning, in UTC) is, in milliseconds. @throws {ToolkitError} USAGE */
export const sinceMs = (since: string, now: Date): number => {
  const [, count, unit] = SPAN.exec(since) ?? []
  if (unit === 'm' || unit === 'h' || unit === 'd') return now.getTime() - Number(count) * UNITS_MS[unit]
  const moment = MOMENT.test(since) ? Date.parse(since) : Number.NaN
  if (!Number.isNaN(moment)) return moment
  throw new ToolkitError(
    'USAGE',
    `Cannot compare since "${since}": expected a span such as 90m, 24h or 7d, a day such as 2026-11-21, or last-change`,
  )
}

const noneBefore = (lake: string, { snapshot }: SnapshotRoot, hint: string): ToolkitError =>
  new ToolkitError('SNAPSHOT_NOT_FOUND', `Cannot compare snapshot ${snapshot}: ${hint}`, { lake, snapshot })

/** The newest snapshot that was there at a time. */
const newestAt = async (lake: string, newer: SnapshotRoot, since: string, now: Date): Promise<number> => {
  const moment = sinceMs(since, now)
  const kept = (await listSnapshots(lake)).filter((number) => number <= newer.snapshot)
  for (const number of kept.toReversed())
    if (Date.parse((await readRoot(lake, number)).time) <= moment) return number
  const first = kept[0] ?? newer.snapshot
  throw noneBefore(lake, newer, `the lake has none of before "${since}"; --from ${first} is its oldest one`)
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
  { from, to, since = 'last-change' }: ChosenSnapshots,
  now: Date,
): Promise<readonly [Snapshot, Snapshot]> => {
  const newer = await readRoot(lake, to)
  if (from !== undefined) return [await readSnapshot(lake, from), await readSnapshot(lake, to)]
  if (since !== 'last-change')
    return [await readSnapshot(lake, await newestAt(lake, newer, since, now)), await readSnapshot(lake, to)]
  const changed = await lastChange(lake, newer)
  if (newer.parent === null) throw noneBefore(lake, newer, 'there is none before it, expected --from')
  // Nothing but compactions since the first load.
  if (changed.parent === null) return [await readSnapshot(lake, newer.parent), await readSnapshot(lake, to)]
  const [older, data] = [await readSnapshot(lake, changed.parent), await readSnapshot(lake, changed.snapshot)]
  // It holds the same as the newer one, of which most files would have to be read.
  return [older, { ...data, snapshot: newer.snapshot, time: newer.time }]
}
