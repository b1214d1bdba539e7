/**
 * The sources of partitions: which ones a lake holds already, so that the same file is not loaded twice, and searches as the
 * manifest keeps them, without the numbers of persons. Pure.
 */

import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import type { CommittedPartition, PartitionEntry, SharedSource, SourceEntry } from '../../core/partition.ts'
import { kindOf } from '../../core/source-kinds.ts'
import { sha256Of } from '../../support/hash.ts'

/** The part of a snapshot that says what was loaded. */
interface Loaded {
  readonly partitions: readonly PartitionEntry[]
  readonly merged?: readonly PartitionEntry[]
}

/** Whether records came with a partition: not with a compaction, nor with a listing of companies that are gone. */
export const isLoaded = ({ source }: Pick<PartitionEntry, 'source'>): boolean => kindOf(source).bringsRecords

/**
 * Partitions as they were loaded, in the order of commits: those that a compaction has merged too, and of the
 * compaction nothing.
 */
export const loadedPartitions = ({ partitions, merged = [] }: Loaded): readonly PartitionEntry[] => [
  ...[...merged, ...partitions].filter(isLoaded),
]

/** A source by its bytes: the same file under another name has the same key. */
export const sourceKey = (content: Content, sha256: string): string => `${content} ${sha256}`

const keysOf = (partition: PartitionEntry): readonly string[] =>
  sourcesOf(partition).map(({ sha256 }) => sourceKey(partition.content, sha256))

/**
 * Whether a source that was loaded before need not be loaded again. Not so of a search or a listing: what the service
 * says now is the newest state, also where it is the same as in an older pull.
 */
export const knownByBytes = (source: Pick<SourceEntry, 'kind'>): boolean => kindOf(source).knownBy === 'bytes'

/** A partition's sources by their names among all sources of a lake: a file by its bytes, a search by its run and window. */
export const namedSources = (
  partition: Pick<PartitionEntry, 'run' | 'source' | 'sources'>,
): readonly (readonly [name: string, source: SourceEntry])[] =>
  sourcesOf(partition).map((source) => [
    knownByBytes(source) ? source.sha256 : `${partition.run} ${source.name}`,
    source,
  ])

/** Lengths in bytes of all sources of some partitions, by their names. */
export const sourceSizes = (
  partitions: readonly Pick<PartitionEntry, 'run' | 'source' | 'sources'>[],
): ReadonlyMap<string, number> => {
  const sizes = new Map<string, number>()
  for (const one of partitions) for (const [name, { bytes }] of namedSources(one)) sizes.set(name, bytes)
  return sizes
}

/** As `namedSources`, of several small ones together. */
export const sourceOf = ({ run, source }: Pick<PartitionEntry, 'run' | 'source'>): string =>
  knownByBytes(source) ? source.sha256 : `${run} ${source.name}`

/** Keys of the sources that one run has loaded whole: block 0 and all after it to the last. */
export const loadedSources = (snapshot: Loaded | null): ReadonlySet<string> => {
  const blocks = new Map<string, { seen: Set<number>; last: number | undefined; key: string }>()
  for (const partition of snapshot ? loadedPartitions(snapshot) : []) {
    for (const source of sourcesOf(partition)) {
      if (!knownByBytes(source)) continue
      const key = sourceKey(partition.content, source.sha256)
      const id = `${key} ${partition.run}`
      const one = blocks.get(id) ?? { seen: new Set(), last: undefined, key }
      one.seen.add(source.block)
      if (source.last) one.last = source.block
      blocks.set(id, one)
    }
  }
  const whole = [...blocks.values()].filter(({ seen, last }) => last !== undefined && seen.size === last + 1)
  return new Set(whole.map(({ key }) => key))
}

/**
 * Partitions still to be committed, and those whose source stands whole in the snapshot or earlier in the list; of one
 * that small sources share, all of them.
 */
export const splitLoaded = (
  snapshot: Loaded | null,
  partitions: readonly PartitionEntry[],
): { readonly kept: readonly PartitionEntry[]; readonly dropped: readonly PartitionEntry[] } => {
  const loaded = loadedSources(snapshot)
  const seen = new Set<string>()
  const kept: PartitionEntry[] = []
  const dropped: PartitionEntry[] = []
  for (const partition of partitions) {
    const keys = keysOf(partition)
    const block = partition.sources
      ? partition.id
      : `${keys.join()} ${partition.source.block} ${partition.source.offset}`
    const isLoaded = keys.every((key) => loaded.has(key))
    const double = knownByBytes(partition.source) && (isLoaded || seen.has(block))
    seen.add(block)
    ;(double ? dropped : kept).push(partition)
  }
  return { kept, dropped }
}

/** The latest instant as of which any of some partitions is; empty for none. */
export const latestInstant = (partitions: readonly Pick<CommittedPartition, 'asOf'>[]): string =>
  partitions.reduce((latest, { asOf }) => (asOf > latest ? asOf : latest), '')

/** A partition's name among those of all runs. */
export const nameOfPartition = ({ run, id }: Pick<PartitionEntry, 'run' | 'id'>): string => `${run} ${id}`

/** The sources of a partition, in their order. */
export const sourcesOf = ({
  source,
  sources,
}: Pick<PartitionEntry, 'source' | 'sources'>): readonly SourceEntry[] => sources ?? [source]

/** Several small sources as one: its hash is that of the list of theirs. */
export const togetherAs = (
  sources: readonly Omit<SharedSource, 'counts' | 'asOf' | 'block' | 'firstLine' | 'offset' | 'last'>[],
): SourceEntry => {
  const [first] = sources
  if (first === undefined) throw new RangeError('Cannot share a partition: expected a source')
  return {
    kind: first.kind,
    name: `${first.name} and ${sources.length - 1} more`,
    bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
    sha256: sha256Of(sources.map(({ sha256 }) => `${sha256}\n`).join('')),
    ...{ block: 0, firstLine: 1, offset: 0, last: true },
  }
}

/** Parameters whose values name a person. */
const PERSONAL: readonly string[] = ['nationalidentificationnumber']

const isPersonal = (name: string): boolean => PERSONAL.includes(name.toLowerCase())

/** Whether a search names persons: once it is recorded, nobody can tell whether another one asks for the same. */
export const namesPersons = (search: SearchParameters): boolean => Object.keys(search).some(isPersonal)

const countOf = (values: readonly unknown[]): string =>
  `${values.length} ${values.length === 1 ? 'value' : 'values'}`

/**
 * The search with a count in place of values that name persons.
 *
 * @example recordedSearch({ NationalIdentificationNumber: ['19500101-1234'] }) // { NationalIdentificationNumber: ['1 value'] }
 */
export const recordedSearch = (search: SearchParameters): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [name, isPersonal(name) ? [countOf(values)] : values]),
  )
