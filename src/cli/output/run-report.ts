/** What a run did, as an object for programs and as text for people. */

import type { Drift, PartitionEntry } from '../../core/partition.ts'
import { moreDrift } from '../../core/unknown-names.ts'
import { type Difference, differencesOf } from '../../manifest/latest-pulls.ts'
import { sourceOf } from '../../manifest/loaded-sources.ts'
import type { LoadSummary } from '../../pipeline/run/commit-loaded.ts'
import { type CurrencyChange, currencyChangeText } from '../../pipeline/run/currency-change.ts'
import { formatBytes, formatCount, formatCounted, formatDuration, formatRate } from './format.ts'
import { note } from './print.ts'
import { textTable } from './text-table.ts'

export interface RunReport {
  readonly run: string
  /** Number of the snapshot that shows the run; `null` when there was nothing to load. */
  readonly snapshot: number | null
  readonly partitions: number
  readonly sources: number
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>
  readonly drift: readonly Drift[]
  /** Windows and batch files that gave another number of records than was announced. */
  readonly differences: readonly Difference[]
  readonly skipped: LoadSummary['skipped']
  /** Bad files, with --skip-bad-files. */
  readonly leftOut: LoadSummary['leftOut']
  /** Companies that have their figures in another currency now; absent where there are none. */
  readonly currencyChange?: CurrencyChange
  readonly sourceBytes: number
  readonly decodedBytes: number
  readonly seconds: number
}

/** Skipped sources and drifted names shown to people; programs get all. */
const MOST_SHOWN = 12

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0)

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
  return [...named, moreDrift(sumOf(more, namesOf), records)]
}

const namesOf = ({ names = 1 }: Drift): number => names

const rowsByTable = (partitions: readonly PartitionEntry[]): Record<string, number> => {
  const rows = new Map<string, number>()
  for (const [table, count] of partitions.flatMap(({ counts }) => Object.entries(counts.rows)))
    rows.set(table, (rows.get(table) ?? 0) + count)
  return Object.fromEntries([...rows].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const reportOf = (
  { run, snapshot, partitions, skipped, leftOut, currencyChange }: LoadSummary,
  measured: { readonly seconds: number; readonly decodedBytes: number },
): RunReport => {
  const sources = new Map(partitions.map((one) => [sourceOf(one), one.source.bytes]))
  return {
    run,
    snapshot: snapshot?.snapshot ?? null,
    partitions: partitions.length,
    sources: sources.size,
    lines: sumOf(partitions, ({ counts }) => counts.lines),
    records: sumOf(partitions, ({ counts }) => counts.records),
    quarantined: sumOf(partitions, ({ counts }) => counts.quarantined),
    rows: rowsByTable(partitions),
    drift: mergeDrift(partitions),
    differences: differencesOf(partitions),
    skipped,
    leftOut,
    ...(currencyChange && { currencyChange }),
    sourceBytes: sumOf([...sources.values()], (bytes) => bytes),
    decodedBytes: measured.decodedBytes,
    seconds: Math.round(measured.seconds * 1000) / 1000,
  }
}

const shown = <T>(items: readonly T[], text: (item: T) => string): string[] => [
  ...items.slice(0, MOST_SHOWN).map(text),
  ...(items.length > MOST_SHOWN ? [`  … and ${formatCount(items.length - MOST_SHOWN)} more`] : []),
]

const restLine = (drift: readonly Drift[]): string[] => {
  const rest = drift.filter(({ kind }, at) => at >= MOST_SHOWN || kind === 'more')
  return rest.length === 0 ? [] : [`  … and ${formatCount(sumOf(rest, namesOf))} more`]
}

export const driftLines = (drift: readonly Drift[]): string[] =>
  drift.length === 0
    ? []
    : [
        '',
        'Not in the contract, kept:',
        ...drift
          .slice(0, MOST_SHOWN)
          .filter(({ kind }) => kind !== 'more')
          .map(({ kind, name, records }) => `  ${kind} ${name}: ${formatCounted(records, 'record')}`),
        ...restLine(drift),
      ]

export const differenceLines = (differences: readonly Difference[]): string[] =>
  differences.length === 0
    ? []
    : [
        '',
        'Announced and received differ:',
        ...shown(
          differences,
          ({ kind, name, announced, received }) =>
            `  ${kind} ${name}: ${formatCount(announced)} announced, ${formatCount(received)} received`,
        ),
      ]

const skippedLines = (skipped: LoadSummary['skipped']): string[] =>
  skipped.length === 0
    ? []
    : ['', 'Skipped:', ...shown(skipped, ({ source, reason }) => `  ${source}: ${reason}`)]

/** Each one of them: what was skipped is to be fixed. */
const leftOutLines = (leftOut: RunReport['leftOut']): string[] =>
  leftOut.length === 0
    ? []
    : ['', 'Left out:', ...leftOut.map(({ source, code, reason }) => `  ${source}: ${code}: ${reason}`)]

export const reportLines = (report: RunReport): string[] => {
  const { run, snapshot, partitions, sources, lines, records, quarantined, rows, seconds } = report
  if (snapshot === null)
    return [
      report.leftOut.length > 0
        ? 'Nothing was loaded: the lake stays as it is.'
        : 'Nothing new to load: the lake stays as it is.',
      ...skippedLines(report.skipped),
      ...leftOutLines(report.leftOut),
    ]
  const table = textTable(
    [{ title: 'table' }, { title: 'rows', right: true }],
    Object.entries(rows).map(([name, count]) => [name, formatCount(count)]),
  )
  return [
    `Snapshot ${snapshot} by run ${run}`,
    `${formatCounted(lines, 'line')}: ${formatCounted(records, 'record')}, ${formatCount(quarantined)} quarantined; ` +
      `${formatCounted(sources, 'source')} (${formatBytes(report.sourceBytes)}) in ${formatCounted(partitions, 'partition')}`,
    `${formatDuration(seconds)}, ${formatBytes(report.decodedBytes)} decoded, ${formatRate(report.decodedBytes, seconds)}`,
    '',
    ...table,
    ...(report.currencyChange
      ? ['', `Replaced by figures in another currency: ${currencyChangeText(report.currencyChange)}`]
      : []),
    ...differenceLines(report.differences),
    ...driftLines(report.drift),
    ...skippedLines(report.skipped),
    ...leftOutLines(report.leftOut),
  ]
}

/** Warns on standard error of what a person must not overlook. */
export const warnOf = (
  { quarantined, lines, drift, differences, run, leftOut }: RunReport,
  lake: string,
): void => {
  if (quarantined > 0)
    note(
      `warning: ${formatCount(quarantined)} of ${formatCounted(lines, 'line')} went to the quarantine; ` +
        `see: firmlake quarantine list --lake ${lake} --run ${run}`,
    )
  if (leftOut.length > 0)
    note(
      `warning: ${formatCounted(leftOut.length, 'bad file')} skipped; the same command loads them once fixed`,
    )
  if (differences.length > 0)
    note(
      `warning: ${formatCounted(differences.length, 'source')} gave another number of records than was announced`,
    )
  if (drift.length > 0)
    note(
      `warning: ${formatCounted(sumOf(drift, namesOf), 'name')} that the contract does not know, kept as they came`,
    )
}
