/**
 * The instant of each partition, as which the service said what it holds. That of a file is known when all of it was read,
 * whoever read its blocks: so the commit finds it, by what each partition says of its own records.
 */

import type { Content } from '../contract/objects.ts'
import type { PartitionEntry, SharedSource } from '../core/partition.ts'
import { isReplay } from '../core/source-kinds.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { namedSources } from '../manifest/form/sources.ts'
import { runBegan } from '../support/run-ids.ts'

export interface DatedPartition extends PartitionEntry {
  readonly asOf: string
}

const latest = (instants: readonly string[]): string | undefined =>
  instants.reduce<string | undefined>(
    (most, one) => (most === undefined || one > most ? one : most),
    undefined,
  )

/** Lines of the quarantine keep the instants of where they came from: those of one file may be of several. */
const nameIn = ({ id, source }: PartitionEntry, name: string): string =>
  isReplay(source) ? `${id} ${name}` : name

/** The instants of a partition's sources as far as it knows them itself, by their names among all sources of a lake. */
const ownInstants = (partition: PartitionEntry): readonly (readonly [name: string, asOf?: string])[] => {
  const { sources, asOf } = partition
  return namedSources(partition).map(([source], at) => {
    const name = nameIn(partition, source)
    const own = sources === undefined ? asOf : sources[at]?.asOf
    return own === undefined ? [name] : [name, own]
  })
}

/**
 * Partitions of one run with the instants of their sources: the latest that any partition of a source has; where none has
 * one, the begin of the run.
 */
export const withInstants = (partitions: readonly PartitionEntry[]): readonly DatedPartition[] => {
  const known = new Map<string, string>()
  for (const partition of partitions)
    for (const [name, asOf] of ownInstants(partition)) {
      const most = latest([known.get(name) ?? [], asOf ?? []].flat())
      if (most !== undefined) known.set(name, most)
    }
  return partitions.map((partition) => {
    const began = runBegan(partition.run)
    const instants = namedSources(partition).map(([name]) => known.get(nameIn(partition, name)) ?? began)
    const sources = partition.sources?.map(
      (one, at): SharedSource => ({ ...one, asOf: instants[at] ?? began }),
    )
    return { ...partition, asOf: latest(instants) ?? began, ...(sources && { sources }) }
  })
}

/** Partitions of one run in the order of what they hold: of a record that several have the last one counts. */
export const byInstant = (partitions: readonly PartitionEntry[]): readonly DatedPartition[] =>
  withInstants(partitions).toSorted((a, b) => (a.asOf < b.asOf ? -1 : a.asOf > b.asOf ? 1 : 0))

/** Records of a version that are as of another instant than it says. */
export interface MovedVersion {
  readonly version: number
  readonly content: Content
  readonly from: string
  readonly to: string
}

/** The instant of a version in SQL, where some are moved. @param alias of the rows */
export const movedAsOf = (moved: readonly MovedVersion[], alias?: string): string => {
  const of = (name: string): string => (alias === undefined ? name : `${alias}.${name}`)
  const cases = moved.map(
    ({ version, from, to }) =>
      `WHEN ${of('version')} = ${version} AND ${of('as_of')} = TIMESTAMPTZ ${literal(from)} THEN TIMESTAMPTZ ${literal(to)}`,
  )
  return cases.length === 0 ? of('as_of') : `CASE ${cases.join(' ')} ELSE ${of('as_of')} END`
}
