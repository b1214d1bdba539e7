/** What the manifest and the rates of a lake say, as rows for SQL: each kind is read when a statement asks for it. */

import type { CommittedPartition, PartitionEntry } from '../../core/partition.ts'
import { announcementOf } from '../../core/source-kinds.ts'
import { loadRates } from '../../lake/rates/lake-rates.ts'
import type { Fact, Facts, ReadFacts } from '../../lake/views/lake-facts.ts'
import type { Listed } from '../../lake/views/source-macros.ts'
import { loadedPartitions } from '../form/loaded-sources.ts'
import { headOf, listOf, readAllListed, type SnapshotRoot } from './snapshot-root.ts'
import { listManifest, readKnownRoot } from './snapshots.ts'

/** The snapshots that gc has left, up to one. */
const snapshotFacts = async (lake: string, last: number): Promise<Facts['snapshots']> => {
  const { snapshots } = await listManifest(lake)
  const heads: Fact<'snapshots'>[] = []
  for (const number of snapshots)
    if (number <= last) heads.push({ ...headOf(await readKnownRoot(lake, number)) })
  return heads
}

const partitionFact = (partition: CommittedPartition, isMerged: boolean): Fact<'partitions'> => {
  const { id, run, content, counts, files, range, committed, version } = partition
  return {
    ...{ partition: id, run, content, is_merged: isMerged },
    ...{ lines: counts.lines, records: counts.records, quarantined: counts.quarantined },
    filtered: counts.filtered ?? 0,
    rows: Object.values(counts.rows).reduce((sum, rows) => sum + rows, 0),
    ...{ files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) },
    ...{ requested_from: range.requested?.from, requested_to: range.requested?.to },
    ...{ least: range.observed?.least, greatest: range.observed?.greatest },
    ...{ snapshot: committed.snapshot, time: committed.time, version },
  }
}

const sourceFacts = ({ run, content, id, counts, source, sources }: PartitionEntry): Fact<'sources'>[] =>
  (sources ?? [{ ...source, counts }]).map((one) => {
    const { kind, name, bytes, sha256, block, last, counts: own } = one
    const { service, currency, announced, received } = announcementOf(one) ?? {}
    return {
      ...{ run, content, partition: id, is_last: last, kind, name, bytes, sha256, block },
      ...{ lines: own.lines, records: own.records, quarantined: own.quarantined },
      filtered: own.filtered ?? 0,
      ...{ service, currency, announced, received },
    }
  })

const driftFacts = ({ run, content, id, drift }: PartitionEntry): Fact<'drift'>[] =>
  drift.map(({ kind, name, records }) => ({ run, content, partition: id, kind, name, records }))

const pullFacts = async (lake: string, root: SnapshotRoot): Promise<Facts['pulls']> =>
  (await listOf(lake, root, 'pulls')).map(
    ({ run, content, service, search, currency, field, from, to, asOf, gapLeft = 0, ...counts }) => ({
      ...{ run, content, service, search: JSON.stringify(search), currency, field, as_of: asOf },
      ...{ from_day: from, to_day: to, gap_left: gapLeft },
      ...{ announced: counts.announced, planned: counts.planned, received: counts.received },
    }),
  )

const rateFacts = async (lake: string): Promise<Facts['rates']> => {
  const rates = await loadRates(lake)
  return rates.currencies.flatMap((currency) =>
    rates
      .years(currency)
      .map((year) => ({ currency, year, units_per_usd: rates.unitsPerUsd(currency, year) })),
  )
}

/**
 * Reads what a snapshot and all before it say.
 *
 * @param known all that it lists, where that was read
 * @throws {ToolkitError} as `listOf`; RATES_UNREADABLE
 */
export const readFactsOf = (lake: string, root: SnapshotRoot, known?: Listed): ReadFacts => {
  let listed: Promise<Listed> | undefined = known && Promise.resolve(known)
  const all = (): Promise<Listed> => {
    listed ??= readAllListed(lake, root)
    return listed
  }
  const loaded = async (): Promise<readonly PartitionEntry[]> => loadedPartitions(await all())
  const readers: { readonly [Name in keyof Facts]: () => Promise<Facts[Name]> } = {
    snapshots: () => snapshotFacts(lake, root.snapshot),
    partitions: async () => {
      const { merged = [], partitions } = await all()
      return [
        ...merged.map((one) => partitionFact(one, true)),
        ...partitions.map((one) => partitionFact(one, false)),
      ]
    },
    sources: async () => (await loaded()).flatMap(sourceFacts),
    drift: async () => (await loaded()).flatMap(driftFacts),
    pulls: () => pullFacts(lake, root),
    rates: () => rateFacts(lake),
  }
  return (name) => readers[name]()
}
