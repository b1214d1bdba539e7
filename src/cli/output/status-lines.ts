/** The status of a lake as text for people. */

import { failedText } from '../../core/checks.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { DateRange } from '../../core/partition.ts'
import type { LakeStatus, PartitionStatus } from '../../jobs/lake-status.ts'
import type { ForgetReceipt } from '../../manifest/form/forgotten.ts'
import type { RunSummary } from '../../manifest/runs/runs.ts'
import type { LatestPull, SnapshotSummary } from '../../manifest/snapshots/summarise-snapshot.ts'
import { formatBytes, formatCount, formatCounted, formatInstant } from '../../support/format.ts'
import { computedLines, takenLines } from './lake-notes.ts'
import { differenceLines, driftLines } from './run-report.ts'
import { printable, textTable } from './text-table.ts'

const right = (title: string): { title: string; right: true } => ({ title, right: true })

const requestedText = (requested: DateRange['requested']): string =>
  requested === null ? '–' : `${requested.from ?? '…'} to ${requested.to ?? '…'}`

const observedText = (observed: DateRange['observed']): string =>
  observed === null ? '–' : `${observed.least.slice(0, 10)} to ${observed.greatest.slice(0, 10)}`

const contentTable = ({ contents }: SnapshotSummary, current: LakeStatus['current']): string[] => {
  const hasFiltered = contents.some(({ filtered = 0 }) => filtered > 0)
  return textTable(
    [
      { title: 'content' },
      ...['current', 'partitions', 'sources', 'source size', 'lines', 'versions', 'quarantined'].map(right),
      ...(hasFiltered ? [right('filtered')] : []),
      { title: 'requested' },
      { title: 'updated' },
    ],
    contents.map((one) => [
      one.content,
      formatCount(current[one.content] ?? 0),
      formatCount(one.partitions),
      formatCount(one.sources),
      formatBytes(one.sourceBytes),
      formatCount(one.lines),
      formatCount(one.records),
      formatCount(one.quarantined),
      ...(hasFiltered ? [formatCount(one.filtered ?? 0)] : []),
      requestedText(one.requested),
      observedText(one.observed),
    ]),
  )
}

const tableTable = ({ tables }: SnapshotSummary): string[] =>
  textTable(
    [{ title: 'table' }, right('files'), right('rows in all versions'), right('size')],
    tables.map(({ table, files, rows, bytes }) => [
      table,
      formatCount(files),
      formatCount(rows),
      formatBytes(bytes),
    ]),
  )

/** Whether a later load may bring forgotten ids back. */
export const laterText = (later: ForgetReceipt['later']): string =>
  later === 'refused' ? 'loads leave the same ids out' : 'loads may bring the same ids back'

const forgottenLines = (receipts: readonly ForgetReceipt[]): string[] =>
  receipts.map(
    ({ snapshot, time, companies, persons, later }) =>
      `Snapshot ${snapshot} of ${formatInstant(time)} has forgotten ${formatCounted(companies, 'company', 'companies')} and ` +
      `${formatCounted(persons, 'person')}; afterwards ${laterText(later)}`,
  )

const partitionTable = (partitions: readonly PartitionStatus[]): string[] =>
  textTable(
    [
      { title: 'partition' },
      { title: 'content' },
      ...['lines', 'records', 'quarantined', 'size'].map(right),
      { title: 'updated' },
      { title: 'as of' },
      { title: 'source' },
    ],
    partitions.map((one) => [
      one.id,
      one.content,
      formatCount(one.lines),
      formatCount(one.records),
      formatCount(one.quarantined),
      formatBytes(one.bytes),
      observedText(one.observed),
      one.asOf.slice(0, 16).replace('T', ' '),
      one.merged ? `${one.source} (merged)` : one.source,
    ]),
  )

const LONGEST_SEARCH = 60

const askedText = ({ search, currency }: LatestPull): string => {
  const text = JSON.stringify(search)
  const short = text.length > LONGEST_SEARCH ? `${text.slice(0, LONGEST_SEARCH - 1)}…` : text
  return currency === undefined ? short : `${short} ${currency}`
}

const pullTable = (pulls: readonly LatestPull[]): string[] =>
  textTable(
    [
      { title: 'pulled' },
      { title: 'search' },
      { title: 'dates' },
      ...['announced', 'received', 'pulls'].map(right),
      { title: 'last' },
    ],
    pulls.map((one) => [
      one.content,
      askedText(one),
      requestedText(one.from === undefined && one.to === undefined ? null : one),
      formatCount(one.announced),
      formatCount(one.received),
      formatCount(one.pulls),
      formatInstant(one.asOf),
    ]),
  )

const HELD_FATE = 'held back: "firmlake release" shows it, "firmlake discard" gives it up'

const fateOf = ({ run, state, process, committed, failure, shared }: RunSummary): string => {
  if (shared && committed === null) return `many machines may work on it: "firmlake run status ${run}"`
  if (state === 'live') return `running: process ${process?.pid ?? '?'}`
  if (state === 'unknown') return `possibly running on ${process?.host ?? 'another host'}`
  if (failure?.final) return `failed with ${failure.code}, "firmlake gc" removes it`
  if (failure) return `failed with ${failure.code}: "firmlake resume" resumes it, "firmlake gc" removes it`
  return committed === null
    ? 'interrupted: "firmlake resume" resumes it, "firmlake gc" removes it'
    : `committed as snapshot ${committed}: "firmlake gc" removes its folder`
}

const doneOf = ({ partitions, unitsDone }: RunSummary): string =>
  unitsDone === undefined ? formatCounted(partitions, 'partition') : formatCounted(unitsDone, 'unit')

const unfinishedTable = (runs: readonly RunSummary[], held: string | undefined): string[] =>
  textTable(
    [{ title: 'unfinished run' }, { title: 'state' }, right('done'), { title: 'what next' }],
    runs.map((one) => [one.run, one.state, doneOf(one), one.run === held ? HELD_FATE : fateOf(one)]),
  )

/** The action for a run that would fail again; by code if an option is the answer. */
const NEXT_ACTIONS: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['QUARANTINE_LIMIT', '"firmlake resume" with a higher --max-quarantined loads the lines that are good.'],
  ['CURRENCY_CHANGED', '"firmlake resume --change-currency" replaces the figures.'],
  ['RUN_NOT_RESUMABLE', '"firmlake gc" removes it; then its command starts over.'],
])
const MEND = 'When the cause is fixed, run its command again, or "firmlake resume" with its id.'

/** Why runs failed, and what to do where resuming alone does not help. */
export const failureLines = (runs: readonly RunSummary[]): string[] =>
  runs.flatMap(({ run, failure }) =>
    failure === undefined
      ? []
      : [
          `Run ${run} failed with ${failure.code}: ${printable(failure.message)}`,
          ...(failure.final ? [`  It would fail again. ${NEXT_ACTIONS.get(failure.code) ?? MEND}`] : []),
        ],
  )

const mergedText = ({ merged }: SnapshotSummary): string =>
  merged === 0 ? '' : ` (${formatCount(merged)} more merged by compact)`

/** The snapshot that is held back, and what was discarded. */
const heldLines = ({ held, discarded = [] }: LakeStatus): string[] => [
  ...(held === undefined
    ? []
    : [
        '',
        `Snapshot ${held.snapshot} is held back since ${formatInstant(held.at)}: ${printable(failedText(held.checks))}`,
        '  Look at it: query --held, diff --held, report --held, check --held',
      ]),
  ...(discarded.length === 0
    ? []
    : [
        '',
        'Discarded, loaded again by --again alone:',
        ...discarded.map(({ source, at }) => `  ${printable(source)}, ${formatInstant(at)}`),
      ]),
]

/** Lines of the status; `withPartitions` adds one for each partition. */
export const statusLines = (status: LakeStatus, withPartitions: boolean): string[] => {
  const { lake, summary, made, drift, forgotten = [], unfinished, partitions } = status
  const head = summary
    ? [
        `Lake ${lake}, snapshot ${summary.snapshot} of ${formatInstant(summary.time)}`,
        `run ${summary.run} (${made?.pipeline}, ${made?.tool}); in all ${formatCounted(summary.runs, 'run')}, ` +
          `${formatCounted(summary.partitions, 'partition')}${mergedText(summary)}, ${formatBytes(summary.bytes)}`,
        ...(status.id === null ? [] : [`id ${status.id}`]),
        '',
        ...contentTable(summary, status.current),
        '',
        ...tableTable(summary),
        ...(summary.pulls.length > 0 ? ['', ...pullTable(summary.pulls)] : []),
        ...(status.taken.length > 0 ? ['', ...takenLines(status), ...computedLines(status)] : []),
        ...differenceLines(summary.differences),
        ...driftLines(drift),
        ...forgottenLines(forgotten),
      ]
    : [`Lake ${lake} has no snapshot yet`]
  return [
    ...head,
    ...(withPartitions ? ['', ...partitionTable(partitions)] : []),
    ...heldLines(status),
    ...(unfinished.length > 0
      ? [
          '',
          ...unfinishedTable(unfinished, status.held?.run),
          ...failureLines(unfinished.filter(({ run }) => run !== status.held?.run)),
        ]
      : []),
  ]
}
