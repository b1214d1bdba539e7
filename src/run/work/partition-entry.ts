/** The manifest's entry of a loaded part, and its place among all parts of a run. */

import { type CheckedBlock, type CheckedPart, lineOf } from '../../check/check-block.ts'
import type { Content } from '../../contract/objects.ts'
import { type Block, type LinePlace, placeOf } from '../../core/lines.ts'
import type { LineCounts, PartitionEntry, SharedSource } from '../../core/partition.ts'
import { AS_OF_BEGIN, type Fingerprint, type Source } from '../../core/source.ts'
import { DATE_COLUMN, type LoadedPart } from '../../load/loader.ts'
import { togetherAs } from '../../manifest/form/sources.ts'
import type { JournalEntry } from '../../manifest/runs/journal-lines.ts'
import { sha256Of } from '../../support/hash.ts'
import { runBegan } from '../../support/run-ids.ts'

/** Place of a part: its source, the block of it, the layer of records of that block. */
export type Place = readonly [source: number, block: number, layer: number]

/** A finished partition and its place in the order of the sources. */
export interface Finished extends JournalEntry {
  readonly place: Place
}

/** Digits of a hash that an id begins with. */
const ORIGIN_LENGTH = 16

/** The same in each attempt of a run, so that a finished partition is known again. */
export const partitionId = (origin: string, block: number, layer: number): string =>
  `${origin}-${String(block).padStart(5, '0')}${layer > 0 ? `-${layer}` : ''}`

/** Stands for a fingerprint that is known only when the source has been read to its end. */
const NOT_YET: Fingerprint = { bytes: 0, sha256: '0'.repeat(64) }

/** The id of the first layer of a partition's block: the drift of the whole block stands there. */
export const firstLayerOf = (id: string): string => id.replace(LATER_LAYER, '$1')
const LATER_LAYER = /^(.+-\d{5,})-\d+$/

export interface PartOrigin {
  readonly run: string
  /** The start of the ids of the source's partitions. */
  readonly id: string
  readonly source: Source
  readonly fingerprint: Fingerprint | undefined
  readonly content: Content
  readonly block: Block
  readonly checked: CheckedBlock
  readonly last: boolean
}

/** The counts of each small source that shares a part; sources of which a later layer has nothing are left out. */
const sharedSources = (
  { run, source: { shared = [] }, block, checked }: PartOrigin,
  layer: number,
  part: CheckedPart,
  kept: CheckedPart,
): readonly SharedSource[] => {
  const lines = shared.map(() => ({ passed: 0, kept: 0, rejected: 0, stamp: 0, first: WHOLE_SOURCE }))
  const { stamp } = part.rows.records.columns
  const keptMembers = new Set(kept.members)
  const numbers = new Map(shared.map(({ name }, at) => [name, at]))
  let at = 0
  for (const member of part.members) {
    const [start] = lineOf(part, member)
    while ((shared[at + 1]?.from ?? Number.POSITIVE_INFINITY) <= start) at++
    const own = lines[at]
    if (own === undefined) continue
    if (layer > 0 && own.passed === 0) own.first = placeOf(block, start)
    own.passed++
    own.stamp = Math.max(own.stamp, stamp[member] ?? 0)
    if (keptMembers.has(member)) own.kept++
  }
  for (const { source = '' } of layer === 0 ? checked.rejected : []) {
    const own = lines[numbers.get(source) ?? -1]
    if (own) own.rejected++
  }
  return shared.flatMap(({ kind, name, fingerprint, asOf }, number) => {
    const own = lines[number]
    if (own === undefined || (layer > 0 && own.passed === 0)) return []
    const { line, offset } = own.first
    const counts = lineCounts(own.passed, own.kept, own.rejected)
    const place = { block: 0, firstLine: line, offset, last: true }
    return [{ kind, name, ...fingerprint, ...place, counts, ...instantOf(run, asOf, own.stamp) }]
  })
}

/** @param stamp the latest one in its records, in milliseconds since 1970; 0: none */
const instantOf = (run: string, known: string | undefined, stamp: number): Pick<PartitionEntry, 'asOf'> => {
  if (known === AS_OF_BEGIN) return { asOf: runBegan(run) }
  const asOf = known ?? (stamp > 0 ? new Date(stamp).toISOString() : undefined)
  return asOf === undefined ? {} : { asOf }
}

const latestStamp = ({ rows, members }: CheckedPart): number => {
  const { stamp } = rows.records.columns
  return members.reduce((latest, member) => Math.max(latest, stamp[member] ?? 0), 0)
}

/** @param passed lines that are good, of which so many were `kept` */
const lineCounts = (passed: number, kept: number, rejected: number): LineCounts => ({
  lines: passed + rejected,
  records: kept,
  quarantined: rejected,
  ...(passed > kept && { filtered: passed - kept }),
})

const WHOLE_SOURCE: LinePlace = { line: 1, offset: 0 }

/** Origin of a part. */
const originIn = (
  origin: PartOrigin,
  [, number, layer]: Place,
  part: CheckedPart,
  kept: CheckedPart,
): Pick<PartitionEntry, 'source' | 'sources' | 'asOf'> => {
  const { source, fingerprint, block, last } = origin
  const { requested: _, asOf = block.asOf ?? source.asOf, ...facts } = source.details?.() ?? {}
  const sources = source.shared && sharedSources(origin, layer, part, kept)
  const [only] = sources ?? []
  if (sources && sources.length > 1) return { source: togetherAs(sources), sources }
  if (only) {
    const { counts: _, asOf: own, ...entry } = only
    return { source: entry, ...(own !== undefined && { asOf: own }) }
  }
  const first = placeOf(block, layer === 0 ? 0 : lineOf(part, part.members[0] ?? 0)[0])
  return {
    source: {
      kind: source.kind,
      name: source.name,
      ...(fingerprint ?? NOT_YET),
      block: number,
      firstLine: first.line,
      offset: first.offset,
      last,
      ...facts,
    },
    ...instantOf(origin.run, asOf, latestStamp(part)),
  }
}

export const partitionEntry = (
  origin: PartOrigin,
  place: Place,
  part: CheckedPart,
  loaded: LoadedPart,
): PartitionEntry => {
  const { run, source, content, checked } = origin
  const [, number, layer] = place
  const { kept, receipts, observed } = loaded
  const { requested = null } = source.details?.() ?? {}
  // The bad lines and the drift of a block belong to its first layer.
  const rejected = layer === 0 ? checked.rejected.length : 0
  return {
    id: partitionId(origin.id, number, layer),
    run,
    content,
    ...originIn(origin, place, part, kept),
    range: { field: DATE_COLUMN[content].field, requested, observed },
    counts: {
      ...lineCounts(part.members.length, kept.members.length, rejected),
      rows: Object.fromEntries(receipts.map(({ table, rows }) => [table, rows])),
    },
    files: receipts.flatMap(({ files }) => files),
    drift: layer === 0 ? checked.drift : [],
  }
}

/** A source that was loaded to its end, every layer of every block. */
export interface WholeSource {
  readonly content: Content
  readonly fingerprint: Fingerprint
  readonly partitions: readonly Finished[]
}

/** Partitions that an earlier attempt of a run has finished, by its journal. */
export class DonePartitions {
  readonly #run: string
  readonly #entries: ReadonlyMap<string, JournalEntry>

  constructor(run: string, entries: readonly JournalEntry[]) {
    this.#run = run
    this.#entries = new Map(entries.map((entry) => [entry.partition.id, entry]))
  }

  /**
   * The start of the ids of a source's partitions: the same in each attempt of a run, and unlike those of every
   * other run, also where it loads the same bytes once more.
   */
  origin({ key }: Pick<Source, 'key'>, fingerprint: Fingerprint | undefined, index: number): string {
    const source = key ?? fingerprint?.sha256 ?? `stdin ${index}`
    return sha256Of(`${this.#run}\n${source}`).slice(0, ORIGIN_LENGTH)
  }

  /** A finished partition, unless it was made of other bytes than those of the source now; `null`: its id tells. */
  find(id: string, sha256: string | undefined | null): JournalEntry | undefined {
    const entry = this.#entries.get(id)
    if (sha256 === null) return entry
    return entry?.partition.source.sha256 === sha256 ? entry : undefined
  }

  /** @param known absent where the key of the source tells its partitions */
  wholeSource(
    source: Pick<Source, 'key'>,
    known: Fingerprint | undefined,
    index: number,
  ): WholeSource | undefined {
    const origin = this.origin(source, known, index)
    const first = this.#entries.get(partitionId(origin, 0, 0))?.partition
    if (first === undefined) return undefined
    const { bytes, sha256 } = first.source
    const found: Finished[] = []
    for (let block = 0; ; block += 1) {
      const layers = this.#entries.get(partitionId(origin, block, 0))?.layers ?? 0
      for (let layer = 0; layer < Math.max(layers, 1); layer += 1) {
        const entry = this.find(partitionId(origin, block, layer), sha256)
        if (entry === undefined) return undefined
        found.push({ ...entry, place: [index, block, layer] })
      }
      if (found.at(-1)?.partition.source.last)
        return { content: first.content, fingerprint: { bytes, sha256 }, partitions: found }
    }
  }
}
