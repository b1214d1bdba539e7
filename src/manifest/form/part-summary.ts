/**
 * A summary of the entries of a part, which stands beside the part's name: a reader sees by it whether it needs to open the
 * part. Its keys name the sources that the part may hold. Pure.
 */

import type { CheckEntry, DateRange, FileOfRun, PartitionEntry, PullEntry } from '../../core/partition.ts'
import { announcementOf, isReplay, kindOf } from '../../core/source-kinds.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import { anyText, count, type FormOf, list, objectOf, optional } from '../../support/json-form.ts'
import { CONTENT_NAME, MIN_AND_MAX, REQUESTED } from './entry-form.ts'
import { isLoaded, knownByBytes, sourceOf, sourcesOf } from './sources.ts'

/** Forms of the fields of a summary. A field that is absent is in no entry. */
export const SUMMARY_FORMS = {
  entries: count,
  /** Least and greatest id of a run. */
  runs: MIN_AND_MAX,
  contents: optional(list(CONTENT_NAME)),
  requested: optional(REQUESTED),
  observed: optional(MIN_AND_MAX),
  /** Partitions with names that the contract does not know. */
  drift: optional(count),
  /** Partitions that have lines in the quarantine, or were loaded from it. */
  quarantine: optional(count),
  /** Sources of which another number of records may have come than was announced. */
  differing: optional(count),
  /** Currencies of companies' figures as requested; `''` for partitions of which only their rows tell. */
  currencies: optional(list(anyText)),
  /** Services whose batch files there are. */
  services: optional(list(anyText)),
  /** Keys of the sources that are known by their bytes, in a part of entries: see {@link keysOf}. */
  keys: optional(anyText),
}
const SUMMARY = objectOf(SUMMARY_FORMS)
export type PartSummary = FormOf<typeof SUMMARY>

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

export const summaryOfChecks = (entries: readonly CheckEntry[]): PartSummary => ({
  entries: entries.length,
  runs: runsOf(entries),
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** The summary of a part that lists other parts. */
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

/** A source that is there is always found; one that is not leads to a wrong part in 6 of 100 lookups among a million. */
const KEY_BYTES = 3

const keyOf = (sha256: string): number => Number.parseInt(sha256.slice(0, KEY_BYTES * 2), 16)

/** The first bytes of hashes, sorted, in base64. @param hashes SHA-256 of sources in hex */
export const keysOf = (hashes: readonly string[]): string => {
  const keys = [...new Set(hashes.map(keyOf))].sort((a, b) => a - b)
  const bytes = Buffer.alloc(keys.length * KEY_BYTES)
  for (const [at, key] of keys.entries()) bytes.writeUIntBE(key, at * KEY_BYTES, KEY_BYTES)
  return bytes.toString('base64')
}

export const decodeKeys = (keys: string): Buffer => Buffer.from(keys, 'base64')

/** Whether a source may be among those of decoded keys. */
export const hasKey = (keys: Buffer, sha256: string): boolean => {
  const sought = keyOf(sha256)
  let [low, high] = [0, keys.length / KEY_BYTES]
  while (low < high) {
    const middle = (low + high) >> 1
    const key = keys.readUIntBE(middle * KEY_BYTES, KEY_BYTES)
    if (key === sought) return true
    if (key < sought) low = middle + 1
    else high = middle
  }
  return false
}

/** As instants first: `…05Z` is before `…05.1Z`, although not as text. */
const byTime = (a: string, b: string): number => Date.parse(a) - Date.parse(b) || (a < b ? -1 : a > b ? 1 : 0)

const extremes = (times: readonly string[]): { least: string; greatest: string } | null => {
  let [least, greatest] = [times[0], times[0]]
  if (least === undefined || greatest === undefined) return null
  for (const time of times) {
    if (byTime(time, least) < 0) least = time
    if (byTime(time, greatest) > 0) greatest = time
  }
  return { least, greatest }
}

/** Least and greatest date asked for; `null` where no range has a window. */
export const requestedIn = (ranges: readonly Pick<DateRange, 'requested'>[]): DateRange['requested'] => {
  const windows = ranges.flatMap(({ requested }) => (requested ? [requested] : []))
  if (windows.length === 0) return null
  const from = extremes(windows.flatMap((one) => one.from ?? []))
  const to = extremes(windows.flatMap((one) => one.to ?? []))
  return { ...(from && { from: from.least }), ...(to && { to: to.greatest }) }
}

/** Least and greatest value seen; `null` where none was. */
export const observedIn = (ranges: readonly Pick<DateRange, 'observed'>[]): DateRange['observed'] =>
  extremes(ranges.flatMap(({ observed }) => (observed ? [observed.least, observed.greatest] : [])))
