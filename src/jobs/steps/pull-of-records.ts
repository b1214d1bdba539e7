/** A pull or a sync in steps whose units are all done: what it was follows from its plan and from their records. */

import type { Listing } from '../../commit/find-gone.ts'
import type { PullEntry } from '../../core/partition.ts'
import type { UnitRecord } from '../../manifest/runs/units.ts'
import { type NotDelivered, notResumable } from '../../run/opened-job.ts'
import { parseAddress } from '../../source/service/address.ts'
import type { Service } from '../../source/service/service.ts'
import { listingOf } from '../pull/ask-listed.ts'
import { missingFrom } from '../pull/missing-records.ts'
import { pullEntry, type WindowCounts } from '../pull/open-windows.ts'
import { windowsOfRun } from '../pull/plan-pull.ts'
import { readFindings, syncEntry } from '../sync/find-changes.ts'
import { missingFromSync, syncListing } from '../sync/sync-outcome.ts'
import type { SharedRun } from './shared-run.ts'

export interface DonePull {
  readonly entry: PullEntry
  /** Whether all companies of the search came; absent of what is no whole search. */
  readonly listing: Listing | undefined
  /** The records that did not come. */
  readonly missing: NotDelivered | undefined
}

/** The counts of each source of a unit, in its order. Every window has a partition, and each says it of the whole. */
const windowsIn = ({ sources, entries }: UnitRecord): readonly WindowCounts[] => {
  const byId = new Map(entries.map(({ partition }) => [partition.id, partition]))
  return sources.map((source) => {
    const window = source.kind === 'loaded' ? byId.get(source.partitions[0] ?? '')?.source.window : undefined
    return window ?? { announced: 0, received: 0 }
  })
}

/**
 * @param records of all units, in their order
 * @param open the service of the job, where companies are asked for that the search lacks
 * @returns `undefined` for a job that is no search
 * @throws {ToolkitError} RUN_NOT_RESUMABLE
 */
export const donePull = async (
  { plan, seen, units }: SharedRun,
  records: readonly UnitRecord[],
  open: (url: string) => Promise<Service>,
  signal: AbortSignal | undefined,
): Promise<DonePull | undefined> => {
  const [job] = plan.jobs
  if (job.kind !== 'pull' && job.kind !== 'sync') return undefined
  const service = { origin: parseAddress(job.url).origin, open: () => open(job.url) }
  const windows = await windowsOfRun(seen)
  const came = records.map(windowsIn)
  if (job.kind === 'sync') {
    const findings = await readFindings(seen)
    if (findings === undefined) throw notResumable(seen.run, 'it has no findings')
    const entry = syncEntry(service, seen, job, windows, findings)
    const fetched = came.flat().reduce((sum, { received }) => sum + received, 0)
    return {
      entry,
      listing: syncListing(service, job, entry, findings, signal),
      missing: missingFromSync(entry, job, windows, findings, fetched),
    }
  }
  const searched: WindowCounts[] = []
  let closed = 0
  // Windows that close a gap stand behind those of the search.
  for (const [id, own] of came.entries())
    for (const [index, window] of own.entries())
      if ((units[id]?.sources[index]?.at ?? 0) >= windows.windows.length) closed += window.received
      else searched.push(window)
  const entry = pullEntry(service.origin, seen, job, windows, { windows: searched, closed })
  return {
    entry,
    listing: listingOf(service, job, entry, { signal }),
    missing: missingFrom(entry, job, windows),
  }
}
