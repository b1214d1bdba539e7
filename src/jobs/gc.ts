/** `gc`: deletes unreferenced files and dead runs, in one call. */

import { ToolkitError } from '../core/errors.ts'
import { PUBLISHED_ROWS } from '../core/table-formats.ts'
import { finishDeadForgets } from '../forget/finish-forget.ts'
import { type Garbage, removeGarbage } from '../manifest/gc/remove-garbage.ts'
import { listManifest, newestNumber, snapshotAsOf } from '../manifest/snapshots/snapshots.ts'
import { GC } from '../options/gc.ts'
import type { GcOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { DAY_MS } from '../support/quantities.ts'
import { type PublishSummary, publish } from '../targets/publish.ts'
import { removePublishedGarbage } from '../targets/published-garbage.ts'
import { publishedFormats } from '../targets/table-formats.ts'
import { holdBackAgain } from './resume.ts'

/**
 * Updates what is published to the newest snapshot: a table that still shows files of an old one must let go of them
 * before they are removed.
 *
 * @returns the snapshot that all of it shows then at least; `undefined` where nothing is published
 */
const publishFirst = async ({
  lake,
  catalog,
  signal,
  onPublish: onProgress,
}: GcOptions): Promise<number | undefined> => {
  const summaries: PublishSummary[] = []
  for (const rows of PUBLISHED_ROWS) {
    const request = { lake, rows: [rows], signal, onProgress }
    const inLake = await publishedFormats(lake, rows)
    if (inLake.length > 0) summaries.push(await publish({ ...request, formats: inLake }))
    // A catalog in the environment may be meant for other lakes.
    const formats = catalog === undefined ? [] : await publishedFormats(lake, rows, catalog)
    if (formats.length > 0) summaries.push(await publish({ ...request, formats, catalog }))
  }
  return summaries.length > 0 ? Math.min(...summaries.map(({ snapshot }) => snapshot)) : undefined
}

/** How many snapshots are kept, and from which one on. */
const keptBy = async ({ lake, keep, keepDays, now = () => new Date() }: GcOptions) => {
  if (keepDays === undefined) return { keep, first: undefined }
  const first = await snapshotAsOf(lake, new Date(now().getTime() - keepDays * DAY_MS))
  const within = (await newestNumber(lake)) - first + 1
  // A lake without a snapshot has none to remove.
  return { keep: Math.max(keep ?? 1, within, 1), first }
}

/**
 * Removes runs whose process is gone, unfinished writes, and files that no kept snapshot lists. Never touches a run at work
 * or a file of a kept snapshot. With `keep` or `keepDays` published tables are updated first.
 *
 * @returns what was removed, and the bytes that are free again
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `WRITE_FAILED`, `STORAGE_FAILED`, `INTERRUPTED`, and what
 *   `publish` throws, before anything is removed
 * @example
 * import { gc, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { runs, snapshots } = await gc({ lake: './lake', keep: 10 })
 * console.log(runs.length, snapshots.length) // 0 0
 */
export const gc: (options: GcOptions) => Promise<Garbage> = job('gc', GC, async (options) => {
  const { lake, catalog, dryRun = false, now = () => new Date(), signal, onRemove } = options
  // Leftovers of a killed forget belong to snapshots that are gone for ever.
  if (!dryRun) await finishDeadForgets({ lake, catalog, signal }, holdBackAgain)
  const { keep, first } = await keptBy(options)
  // A run that commits meanwhile is not published: what the tables show has to stay until it is.
  const published = keep !== undefined && !dryRun ? await publishFirst(options) : undefined
  const bounds = [published, first].filter((one) => one !== undefined)
  const keepFrom = bounds.length > 0 ? Math.min(...bounds) : undefined
  if (signal?.aborted) throw new ToolkitError('INTERRUPTED', 'Nothing was removed', {}, signal.reason)
  onRemove?.()
  const garbage = await removeGarbage({ lake, keep, keepFrom, dryRun, now: now() })
  const oldest = Math.max((await listManifest(lake)).oldest, ...garbage.snapshots.map((number) => number + 1))
  const tables = await removePublishedGarbage({ lake, oldest, catalog, dryRun, now })
  return {
    ...garbage,
    files: [...garbage.files, ...tables.files],
    freedBytes: garbage.freedBytes + tables.freedBytes,
  }
})
