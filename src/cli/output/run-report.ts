/** The report of a run as text for people. */

import { currencyChangeText } from '../../commit/currency-change.ts'
import { failedText } from '../../core/checks.ts'
import type { Drift } from '../../core/partition.ts'
import { sumOf } from '../../manifest/form/totals.ts'
import type { Difference } from '../../manifest/snapshots/summarise-snapshot.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { type DryRun, driftNames, type RunReport } from '../../run/run-report.ts'
import { formatBytes, formatCount, formatCounted, formatDuration, formatRate } from '../../support/format.ts'
import { diffSummaryLines } from './diff-lines.ts'
import { note } from './print.ts'
import { textTable } from './text-table.ts'

/** Skipped sources and drifted names shown to people; programs get all. */
const MOST_SHOWN = 12

const shown = <T>(items: readonly T[], text: (item: T) => string): string[] => [
  ...items.slice(0, MOST_SHOWN).map(text),
  ...(items.length > MOST_SHOWN ? [`  … and ${formatCount(items.length - MOST_SHOWN)} more`] : []),
]

export const driftLines = (drift: readonly Drift[]): string[] => {
  if (drift.length === 0) return []
  const named = drift.filter(({ kind }) => kind !== 'more').slice(0, MOST_SHOWN)
  const rest = sumOf(drift, driftNames) - sumOf(named, driftNames)
  return [
    '',
    'Not in the contract, kept:',
    ...named.map(({ kind, name, records }) => `  ${kind} ${name}: ${formatCounted(records, 'record')}`),
    ...(rest > 0
      ? [named.length > 0 ? `  … and ${formatCount(rest)} more` : `  ${formatCounted(rest, 'name')}`]
      : []),
  ]
}

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

/** `firms-2026-1-9.jsonl is of 9 Jan 2026: 912 of its 1,000 companies have newer data …` */
const olderLines = (older: RunReport['older']): string[] =>
  older.length === 0
    ? []
    : [
        '',
        'Older than the data of the lake, kept as history:',
        ...shown(
          older,
          ({ source, asOf, content, records, older: count }) =>
            `  ${source} is of ${asOf.slice(0, 10)}: ${formatCount(count)} of its ${formatCount(records)} ${content} have newer data`,
        ),
      ]

const skippedLines = (skipped: LoadSummary['skipped']): string[] =>
  skipped.length === 0
    ? []
    : ['', 'Skipped:', ...shown(skipped, ({ source, reason }) => `  ${source}: ${reason}`)]

/** Each one of them: what was skipped is to be fixed. */
const leftOutLines = (excluded: RunReport['excluded']): string[] =>
  excluded.length === 0
    ? []
    : ['', 'Left out:', ...excluded.map(({ source, code, reason }) => `  ${source}: ${code}: ${reason}`)]

const goneLines = ({ gone = [] }: Pick<RunReport, 'gone'>): string[] => {
  const marked = sumOf(gone, (one) => one.marked)
  return marked === 0
    ? []
    : [
        '',
        `No longer listed by the service: ${formatCounted(marked, 'company', 'companies')}, kept in companies_all and not shown`,
      ]
}

/** The amount that was read, and how fast. */
export const countLines = (report: Omit<RunReport, 'run' | 'snapshot'>): string[] => {
  const { partitions, sources, lines, records, quarantined, filtered = 0, seconds } = report
  return [
    `${formatCounted(lines, 'line')}: ${formatCounted(records, 'record')}, ${formatCount(quarantined)} quarantined${filtered > 0 ? `, ${formatCount(filtered)} filtered` : ''}; ` +
      `${formatCounted(sources, 'source')} (${formatBytes(report.sourceBytes)}) in ${formatCounted(partitions, 'partition')}`,
    // A commit of what others have worked on decodes nothing.
    report.decodedBytes === 0
      ? formatDuration(seconds)
      : `${formatDuration(seconds)}, ${formatBytes(report.decodedBytes)} decoded, ${formatRate(report.decodedBytes, seconds)}`,
  ]
}

/** Remarks that a person should look at. */
export const remarkLines = (report: Omit<RunReport, 'run' | 'snapshot'>): string[] => [
  ...(report.currencyChange
    ? ['', `Replaced by figures in another currency: ${currencyChangeText(report.currencyChange)}`]
    : []),
  ...goneLines(report),
  ...olderLines(report.older),
  ...differenceLines(report.differences),
  ...driftLines(report.drift),
  ...skippedLines(report.skipped),
  ...leftOutLines(report.excluded),
]

/** How the lake would change. */
const dryRunLines = ({ snapshot, changes, more, differs }: DryRun): string[] => [
  !differs
    ? 'Dry run: the data of the lake would stay as it is.'
    : `Dry run: snapshot ${snapshot} would be made.`,
  ...(changes ? diffSummaryLines(changes) : []),
  ...(more > 0
    ? [`${formatCounted(more, 'company', 'companies')} of these countries in the lake did not come`]
    : []),
]

export const reportLines = (report: RunReport): string[] => {
  const { run, snapshot, rows, dryRun } = report
  if (dryRun) return [...dryRunLines(dryRun), ...countLines(report), ...remarkLines(report)]
  if (snapshot === null)
    return [
      report.excluded.length > 0
        ? 'Nothing was loaded: the lake stays as it is.'
        : 'Nothing new to load: the lake stays as it is.',
      ...skippedLines(report.skipped),
      ...leftOutLines(report.excluded),
    ]
  const table = textTable(
    [{ title: 'table' }, { title: 'rows', right: true }],
    Object.entries(rows).map(([name, count]) => [name, formatCount(count)]),
  )
  const begin = report.already
    ? [
        `Run ${run} was committed before, by a call that was interrupted then: snapshot ${snapshot} shows it.`,
        'Nothing was loaded again; the same command once more loads what has come since.',
      ]
    : [`Snapshot ${snapshot} by run ${run}`]
  return [...begin, ...countLines(report), '', ...table, ...remarkLines(report)]
}

/** The commit stands; whoever opens the lake's views must know that they are not those of the newest snapshot. */
export const warnOfNoViews = (reason: string | undefined): void => {
  if (reason !== undefined) note(`warning: ${reason}`)
}

/** Warns on standard error of what a person must not overlook. */
export const warnOf = (report: RunReport, lake: string): void => {
  const { quarantined, lines, run } = report
  warnOfNoViews(report.noViews)
  if (quarantined > 0)
    note(
      `warning: ${formatCount(quarantined)} of ${formatCounted(lines, 'line')} went to the quarantine; ` +
        `see: firmlake quarantine list --lake ${lake} --run ${run}`,
    )
  warnOfSources(report)
  for (const { source, asOf, content, older, than } of report.older.filter(({ isLive }) => isLive))
    note(
      `warning: the clock of the service said ${asOf} for ${source}, and the lake has data of ${formatCount(older)} of its ${content} ` +
        `as of ${than}: the clocks by which they came differ by ${formatDuration((Date.parse(than) - Date.parse(asOf)) / 1000)} or more`,
    )
  if (report.failing) note(`warning: checks fail as they did before the load: ${failedText(report.failing)}`)
  for (const { search, reason } of report.gone ?? [])
    if (reason !== undefined)
      note(`warning: companies that left the service are not marked for search ${search}: ${reason}`)
}

/** The same of what was read, whatever became of it. */
export const warnOfSources = ({
  excluded,
  differences,
  drift,
}: Pick<RunReport, 'excluded' | 'differences' | 'drift'>): void => {
  if (excluded.length > 0)
    note(
      `warning: ${formatCounted(excluded.length, 'bad file')} skipped; the same command loads ${excluded.length === 1 ? 'it' : 'them'} once fixed`,
    )
  if (differences.length > 0)
    note(
      `warning: ${formatCounted(differences.length, 'source')} gave another number of records than was announced`,
    )
  const names = sumOf(drift, driftNames)
  if (names > 0)
    note(
      `warning: ${formatCounted(names, 'name')} that the contract does not know, kept as ${names === 1 ? 'it' : 'they'} came`,
    )
}
