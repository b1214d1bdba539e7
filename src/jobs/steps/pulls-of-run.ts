/** What the manifest keeps of a pull, from what is stored of its run alone. */

import type { PullEntry } from '../../core/partition.ts'
import type { UnitRecord } from '../../manifest/runs/units.ts'
import { type NotDelivered, notDelivered, notResumable } from '../../run/opened-job.ts'
import { parseAddress } from '../../source/service/address.ts'
import { pullEntry, readWindows, type WindowCounts } from '../pull/plan-pull.ts'
import { readFindings, syncEntry } from '../sync/find-changes.ts'
import type { SharedRun } from './shared-run.ts'

/** What each source of a unit gave, in its order. Every window has a partition, and each says it of the whole. */
const windowsIn = ({ sources, entries }: UnitRecord): readonly WindowCounts[] => {
  const byId = new Map(entries.map(({ partition }) => [partition.id, partition]))
  return sources.map((source) => {
    const window = source.kind === 'loaded' ? byId.get(source.partitions[0] ?? '')?.source.window : undefined
    return window ?? { announced: 0, received: 0 }
  })
}

/** What a sync found, and did not get. */
export const notDeliveredOfRun = async (
  { plan, seen }: SharedRun,
  records: readonly UnitRecord[],
): Promise<NotDelivered | undefined> => {
  if (plan.jobs[0].kind !== 'sync') return undefined
  const findings = await readFindings(seen)
  const came = records.flatMap(windowsIn).reduce((sum, { received }) => sum + received, 0)
  return findings && notDelivered(findings.new.length + findings.changed.length, came)
}

/** @param records of all units, in their order */
export const pullsOfRun = async (
  { plan, seen, units }: SharedRun,
  records: readonly UnitRecord[],
): Promise<readonly PullEntry[]> => {
  const [job] = plan.jobs
  if (job.kind !== 'pull' && job.kind !== 'sync') return []
  const { origin } = parseAddress(job.url)
  const windows = await readWindows(seen)
  if (windows === undefined) throw notResumable(seen.run, 'it has no windows')
  if (job.kind === 'sync') {
    const findings = await readFindings(seen)
    if (findings === undefined) throw notResumable(seen.run, 'it has no findings')
    return [syncEntry({ origin }, seen, job, windows, findings)]
  }
  const searched: WindowCounts[] = []
  let closed = 0
  // Windows that close a gap stand behind those of the search.
  for (const [id, record] of records.entries())
    for (const [index, window] of windowsIn(record).entries())
      if ((units[id]?.sources[index]?.at ?? 0) >= windows.windows.length) closed += window.received
      else searched.push(window)
  return [pullEntry(origin, seen, job, windows, { windows: searched, closed })]
}
