/** Reads the facts of a lake, its manifest and its rates, as rows for SQL: each kind when a statement asks for it. */

import type { CheckEntry, CommittedPartition, PartitionEntry, PullEntry } from '../../core/partition.ts'
import { announcementOf } from '../../core/source-kinds.ts'
import { loadRates } from '../../lake/rates/lake-rates.ts'
import { historySince } from '../../lake/tables/past-tables.ts'
import type { Listed } from '../../lake/views/current-versions.ts'
import type { Fact, FactName, ReadFacts } from '../../lake/views/fact-columns.ts'
import { isLoaded, loadedPartitions } from '../form/sources.ts'
import { entriesOf } from './parts.ts'
import { headOf, listOf, readWithoutSources, type SnapshotRoot } from './snapshot-root.ts'
import { listManifest, readKnownRoot } from './snapshots.ts'

/** The snapshots that gc has left, up to one. */
async function* snapshotFacts(lake: string, last: number): AsyncGenerator<Fact<'snapshots'>> {
  const { snapshots } = await listManifest(lake)
  for (const number of snapshots) if (number <= last) yield { ...headOf(await readKnownRoot(lake, number)) }
}

export const partitionFact = (partition: CommittedPartition, isMerged: boolean): Fact<'partitions'> => {
  const { id, run, content, counts, files, range, committed, asOf, version } = partition
  return {
    ...{ partition: id, run, content, is_merged: isMerged },
    ...{ lines: counts.lines, records: counts.records, quarantined: counts.quarantined },
    filtered: counts.filtered ?? 0,
    rows: Object.values(counts.rows).reduce((sum, rows) => sum + rows, 0),
    ...{ files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) },
    ...{ requested_from: range.requested?.from, requested_to: range.requested?.to },
    ...{ least: range.observed?.least, greatest: range.observed?.greatest },
    ...{ snapshot: committed.snapshot, time: committed.time, as_of: asOf, version },
    past_since: historySince(partition),
  }
}

export const sourceFactsOf = ({
  run,
  content,
  id,
  counts,
  source,
  sources,
}: PartitionEntry): Fact<'sources'>[] =>
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

/** The sources of all partitions as they were loaded: only those of a few parts are in memory. */
async function* sourceFacts(lake: string, { lists }: SnapshotRoot): AsyncGenerator<Fact<'sources'>> {
  for (const name of ['merged', 'partitions'] as const)
    for await (const { entries } of entriesOf(lake, name, lists[name]))
      for (const one of entries) if (isLoaded(one)) yield* sourceFactsOf(one)
}

export const driftFactsOf = ({ run, content, id, drift }: PartitionEntry): Fact<'drift'>[] =>
  drift.map(({ kind, name, records }) => ({ run, content, partition: id, kind, name, records }))

export const checkFact = ({ keys, ...check }: CheckEntry): Fact<'checks'> => ({
  ...check,
  keys: keys?.join(' '),
})

export const pullFact = (pull: PullEntry): Fact<'pulls'> => {
  const { run, content, service, search, currency, field, from, to, asOf, gapLeft = 0, ...counts } = pull
  return {
    ...{ run, content, service, search: JSON.stringify(search), currency, field, as_of: asOf },
    ...{ from_day: from, to_day: to, gap_left: gapLeft },
    ...{ announced: counts.announced, planned: counts.planned, received: counts.received },
  }
}

async function* pullFacts(lake: string, root: SnapshotRoot): AsyncGenerator<Fact<'pulls'>> {
  for (const pull of await listOf(lake, root, 'pulls')) yield pullFact(pull)
}

export async function* rateFacts(lake: string): AsyncGenerator<Fact<'rates'>> {
  const rates = await loadRates(lake)
  for (const currency of rates.currencies)
    for (const year of rates.years(currency))
      yield { currency, year, units_per_usd: rates.unitsPerUsd(currency, year) }
}

/**
 * Reads the facts of a snapshot and of all before it.
 *
 * @param known all that it lists but sources, where that was read
 * @throws {ToolkitError} as `listOf`; RATES_UNREADABLE
 */
export const readFactsOf = (lake: string, root: SnapshotRoot, known?: Listed): ReadFacts => {
  let listed: Promise<Listed> | undefined = known && Promise.resolve(known)
  const all = (): Promise<Listed> => {
    listed ??= readWithoutSources(lake, root)
    return listed
  }
  const readers: { readonly [Name in FactName]: () => AsyncIterable<Fact<Name>> } = {
    snapshots: () => snapshotFacts(lake, root.snapshot),
    partitions: async function* () {
      const { merged = [], partitions } = await all()
      for (const one of merged) yield partitionFact(one, true)
      for (const one of partitions) yield partitionFact(one, false)
    },
    sources: () => sourceFacts(lake, root),
    drift: async function* () {
      for (const one of loadedPartitions(await all())) yield* driftFactsOf(one)
    },
    pulls: () => pullFacts(lake, root),
    checks: async function* () {
      for (const one of await listOf(lake, root, 'checks')) yield checkFact(one)
    },
    rates: () => rateFacts(lake),
  }
  return (name) => readers[name]()
}
