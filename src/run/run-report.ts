/** The report of a run, in one object: the result of a job of the library, and the output of `--json`. */

import type { CurrencyChange, GoneCompanies } from '../commit/commit-summary.ts'
import type { CheckResult } from '../core/checks.ts'
import type { Drift, PartitionEntry } from '../core/partition.ts'
import { isAskedAgain } from '../core/source-kinds.ts'
import { moreDrift } from '../core/unknown-names.ts'
import type { DiffSummary } from '../lake/diff/open-comparison.ts'
import { sourceSizes } from '../manifest/form/sources.ts'
import { filteredOf, sumOf } from '../manifest/form/totals.ts'
import { type Difference, differencesOf } from '../manifest/snapshots/summarise-snapshot.ts'
import type { LoadSummary } from './commit-loaded.ts'
import type { NotDelivered } from './opened-job.ts'

/** A source that brought older data than the lake had. */
export interface OlderSource {
  readonly source: string
  /** As of when it is. */
  readonly asOf: string
  readonly content: PartitionEntry['content']
  readonly records: number
  /** Records of which the lake had newer data. */
  readonly older: number
  /** The latest instant of that data. */
  readonly than: string
  /** Whether the service has just answered so: its clock is behind the one by which that data came. */
  readonly isLive: boolean
}

/** Sources that brought older data, the blocks of each together. */
export const olderSources = (partitions: readonly PartitionEntry[]): readonly OlderSource[] =>
  [...Map.groupBy(partitions, ({ content, source }) => `${content} ${source.name}`).values()].flatMap(
    (own) => {
      const older = sumOf(own, (one) => one.older ?? 0)
      const [first] = own
      if (older === 0 || first === undefined) return []
      const { content, source, asOf = '' } = first
      const than = own.reduce((latest, { olderThan = '' }) => (olderThan > latest ? olderThan : latest), '')
      const records = sumOf(own, ({ counts }) => counts.records)
      return [{ source: source.name, asOf, content, records, older, than, isLive: isAskedAgain(source) }]
    },
  )

/** The report of a run. */
export interface RunReport {
  readonly run: string
  /** Number of the snapshot that shows the run; `null` when there was nothing to load. */
  readonly snapshot: number | null
  /** An earlier call had committed the run before it was stopped: this one has loaded nothing; absent where it was no other. */
  readonly already?: true
  readonly partitions: number
  readonly sources: number
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  /** Records that were left out by the load's declaration; absent where there are none. */
  readonly filtered?: number
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Names that the contract does not know, the most frequent first. */
  readonly drift: readonly Drift[]
  /** Windows and batch files that gave another number of records than was announced. */
  readonly differences: readonly Difference[]
  /** Sources of which the lake had newer data of some records: these are history. */
  readonly older: readonly OlderSource[]
  /** Sources that were not loaded, with the reason of each. */
  readonly skipped: LoadSummary['skipped']
  /** Bad files, where they are skipped. */
  readonly excluded: LoadSummary['excluded']
  /** Companies that have their figures in another currency now; absent where there are none. */
  readonly currencyChange?: CurrencyChange
  /** Companies that no search lists any more, or why none was marked; absent where whole pulls lacked none. */
  readonly gone?: readonly GoneCompanies[]
  /** Checks that fail as they did before the load; absent where none does, and where none was asked for. */
  readonly failing?: readonly CheckResult[]
  /** Each pull or sync that did not get all records that the service counts or lists; absent if all came. */
  readonly missing?: readonly NotDelivered[]
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
  /** Bytes of the sources as they are stored. */
  /** How the lake would change, of a dry run: `snapshot` is `null` then. */
  readonly dryRun?: DryRun
  readonly sourceBytes: number
  /** Bytes of JSON Lines. */
  readonly decodedBytes: number
  readonly seconds: number
}

/** Drift of several partitions as one list, the most frequent first. */
export const mergeDrift = (partitions: readonly PartitionEntry[]): Drift[] => {
  const merged = new Map<string, Drift>()
  const all = partitions.flatMap(({ drift }) => drift)
  for (const one of all) {
    if (one.kind === 'more') continue
    const key = `${one.kind} ${one.name}`
    merged.set(key, { ...one, records: one.records + (merged.get(key)?.records ?? 0) })
  }
  const named = [...merged.values()].sort((a, b) => b.records - a.records || (a.name < b.name ? -1 : 1))
  const more = all.filter(({ kind }) => kind === 'more')
  if (more.length === 0) return named
  const records = sumOf(more, (one) => one.records)
  return [...named, moreDrift(sumOf(more, driftNames), records)]
}

export const driftNames = ({ names = 1 }: Drift): number => names

const rowsByTable = (partitions: readonly PartitionEntry[]): Record<string, number> => {
  const rows = new Map<string, number>()
  for (const [table, count] of partitions.flatMap(({ counts }) => Object.entries(counts.rows)))
    rows.set(table, (rows.get(table) ?? 0) + count)
  return Object.fromEntries([...rows].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The summary of a job that found nothing to load and began no run. */
export const NOTHING_LOADED: LoadSummary = {
  run: '',
  snapshot: undefined,
  partitions: [],
  skipped: [],
  excluded: [],
}

/** How a lake would change. */
export interface WouldChange {
  /** Number of the snapshot that would be made; `null` where none would. */
  readonly snapshot: number | null
  /** How it would differ from the newest one; absent of a new lake, and where no snapshot would be made. */
  readonly changes?: DiffSummary
  /** Companies that the lake shows and that came from no source, of the countries of those that came. */
  readonly more: number
}

/** A dry run. */
export interface DryRun extends WouldChange {
  /** Whether the lake is another one than what came: it would change, or has companies that did not come. */
  readonly differs: boolean
}

const dryRunOf = (
  would: WouldChange,
  partitions: LoadSummary['partitions'],
  gone: LoadSummary['gone'] = [],
): DryRun => {
  const { companies, relations, restatements } = would.changes ?? {}
  const counts = [companies, relations].flatMap((one) =>
    one === undefined ? [] : [one.new, one.changed, one.gone],
  )
  const all = [...counts, restatements?.companies ?? 0, would.more, gone.length]
  const isNew = would.snapshot !== null && would.changes === undefined
  const quarantined = sumOf(partitions, ({ counts: { quarantined } }) => quarantined)
  return { ...would, differs: isNew || quarantined > 0 || all.some((count) => count > 0) }
}

/** @param measured how long it took, and what was decoded meanwhile */
export const reportOf = (
  {
    run,
    snapshot,
    already,
    partitions,
    skipped,
    excluded,
    currencyChange,
    gone,
    failing,
    missing,
    noViews,
  }: LoadSummary,
  measured: { readonly seconds: number; readonly decodedBytes: number },
  would?: WouldChange,
): RunReport => {
  const sources = sourceSizes(partitions)
  return {
    run,
    snapshot: would ? null : (snapshot?.snapshot ?? null),
    ...(already && { already: true }),
    partitions: partitions.length,
    sources: sources.size,
    lines: sumOf(partitions, ({ counts }) => counts.lines),
    records: sumOf(partitions, ({ counts }) => counts.records),
    quarantined: sumOf(partitions, ({ counts }) => counts.quarantined),
    ...filteredOf(partitions.map(({ counts }) => counts)),
    rows: rowsByTable(partitions),
    drift: mergeDrift(partitions),
    differences: differencesOf(partitions),
    older: olderSources(partitions),
    skipped,
    excluded,
    ...(currencyChange && { currencyChange }),
    ...(gone && { gone }),
    ...(failing && { failing }),
    ...(missing && { missing }),
    ...(noViews !== undefined && !would && { noViews }),
    ...(would && { dryRun: dryRunOf(would, partitions, gone) }),
    sourceBytes: sumOf([...sources.values()], (bytes) => bytes),
    decodedBytes: measured.decodedBytes,
    seconds: Math.round(measured.seconds * 1000) / 1000,
  }
}
