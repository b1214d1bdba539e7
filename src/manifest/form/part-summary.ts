/**
 * What the entries of a part have in common, as it stands beside the part's name: a reader tells by it whether it needs
 * to open the part. Pure.
 */

import type { Content } from '../../contract/objects.ts'
import type { DateRange, FileOfRun, PartitionEntry, PullEntry } from '../../core/partition.ts'
import { announcementOf, isReplay, kindOf } from '../../core/source-kinds.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import { observedIn, requestedIn } from './date-extremes.ts'
import { isLoaded, knownByBytes, sourceOf } from './loaded-sources.ts'
import { sourcesOf } from './shared-sources.ts'
import { keysOf } from './source-keys.ts'

/** What is absent is not there in any entry. */
export interface PartSummary {
  readonly entries: number
  /** Least and greatest id of a run. */
  readonly runs: { readonly least: string; readonly greatest: string }
  readonly contents?: readonly Content[]
  readonly requested?: NonNullable<DateRange['requested']>
  readonly observed?: NonNullable<DateRange['observed']>
  /** Partitions with names that the contract does not know. */
  readonly drift?: number
  /** Partitions that have lines in the quarantine, or were loaded from it. */
  readonly quarantine?: number
  /** Sources of which another number of records may have come than was announced. */
  readonly differing?: number
  /** Of the companies' figures, as they were asked for; `''` for partitions of which only their rows tell. */
  readonly currencies?: readonly string[]
  /** Services whose batch files there are. */
  readonly services?: readonly string[]
  /** Of the sources that are known by their bytes, in a part of entries: see `source-keys.ts`. */
  readonly keys?: string
}

const runsOf = (entries: readonly { readonly run: string }[]): PartSummary['runs'] => {
  const [first = { run: '' }] = entries
  let [least, greatest] = [first.run, first.run]
  for (const { run } of entries) {
    if (run < least) least = run
    if (run > greatest) greatest = run
  }
  return { least, greatest }
}

const each = <T>(values: Iterable<T>): readonly T[] => [...new Set(values)].sort()

/** Leaves out what no entry has. */
const withoutEmpty = ({
  contents = [],
  drift = 0,
  quarantine = 0,
  differing = 0,
  currencies = [],
  services = [],
  ...always
}: PartSummary): PartSummary => ({
  ...always,
  ...(contents.length > 0 && { contents }),
  ...(drift > 0 && { drift }),
  ...(quarantine > 0 && { quarantine }),
  ...(differing > 0 && { differing }),
  ...(currencies.length > 0 && { currencies }),
  ...(services.length > 0 && { services }),
})

const rangesOf = (ranges: readonly Pick<DateRange, 'requested' | 'observed'>[]) => {
  const [requested, observed] = [requestedIn(ranges), observedIn(ranges)]
  return { ...(requested && { requested }), ...(observed && { observed }) }
}

/** Whether the partitions of one source are all that it has, and as many lines came as were announced. */
const isAsAnnounced = (partitions: readonly PartitionEntry[]): boolean => {
  const source = partitions[0]?.source
  const { announced, received } = (source && announcementOf(source)) ?? {}
  if (announced === undefined) return true
  if (received !== undefined) return announced === received
  const blocks = new Set(partitions.map((one) => one.source.block))
  const last = partitions.find((one) => one.source.last)?.source.block
  const lines = partitions.reduce((sum, { counts }) => sum + counts.lines, 0)
  return last !== undefined && blocks.size === last + 1 && lines === announced
}

const isOfQuarantine = ({ source, files }: PartitionEntry): boolean =>
  isReplay(source) || files.some(({ table }) => table === QUARANTINE.name)

export const summaryOfPartitions = (entries: readonly PartitionEntry[]): PartSummary => {
  const loaded = entries.filter(isLoaded)
  const sources = Map.groupBy(loaded, (one) => `${one.run} ${sourceOf(one)}`)
  const currencies = loaded.flatMap(({ content, source }) =>
    content === 'companies' ? [kindOf(source).currency?.(source) ?? ''] : [],
  )
  const known = loaded.filter(({ source }) => knownByBytes(source))
  return withoutEmpty({
    entries: entries.length,
    runs: runsOf(entries),
    contents: each(entries.map(({ content }) => content)),
    ...rangesOf(entries.map(({ range }) => range)),
    drift: entries.filter(({ drift }) => drift.length > 0).length,
    quarantine: entries.filter(isOfQuarantine).length,
    differing: [...sources.values()].filter((one) => !isAsAnnounced(one)).length,
    currencies: each(currencies),
    services: each(loaded.flatMap(({ source }) => source.batch?.service ?? [])),
    ...(known.length > 0 && { keys: keysOf(known.flatMap(sourcesOf).map(({ sha256 }) => sha256)) }),
  })
}

export const summaryOfFiles = (entries: readonly FileOfRun[]): PartSummary => ({
  entries: entries.length,
  runs: runsOf(entries),
})

export const summaryOfPulls = (entries: readonly PullEntry[]): PartSummary => ({
  entries: entries.length,
  runs: runsOf(entries),
  contents: each(entries.map(({ content }) => content)),
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** Of a part that lists other parts. */
export const summaryOfParts = (parts: readonly PartSummary[]): PartSummary =>
  withoutEmpty({
    entries: sum(parts.map(({ entries }) => entries)),
    runs: runsOf(parts.flatMap(({ runs }) => [{ run: runs.least }, { run: runs.greatest }])),
    contents: each(parts.flatMap(({ contents = [] }) => contents)),
    ...rangesOf(parts.map(({ requested = null, observed = null }) => ({ requested, observed }))),
    drift: sum(parts.map(({ drift = 0 }) => drift)),
    quarantine: sum(parts.map(({ quarantine = 0 }) => quarantine)),
    differing: sum(parts.map(({ differing = 0 }) => differing)),
    currencies: each(parts.flatMap(({ currencies = [] }) => currencies)),
    services: each(parts.flatMap(({ services = [] }) => services)),
  })

/** Whether a part may hold something of a run. */
export const mayHoldRun =
  (run: string) =>
  ({ runs }: PartSummary): boolean =>
    runs.least <= run && run <= runs.greatest
