/** `compact`: rewrites a lake to files of one size. */

import type { Command } from 'commander'
import type {
  CompactEvent,
  CompactedTable,
  CompactProgress,
  CompactSummary,
} from '../../compact/compact-work.ts'
import { COMPACT } from '../../options/compact.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatInstant,
} from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { printJson, printLines } from '../output/print.ts'
import type { ProgressLine } from '../output/progress-line.ts'
import { warnOfNoViews } from '../output/run-report.ts'
import { textTable } from '../output/text-table.ts'
import type { Amount } from '../output/time-left.ts'
import { runJob } from '../run-job.ts'

export const addCompact = (program: Command): void => {
  addCommand(program, {
    name: 'compact',
    summary: 'rewrite a lake to few files: current rows, and past ones once each',
    description:
      'Merges all partitions into one snapshot, in files of one size and in the order of country and company: of each ' +
      'company its newest version, and beside them each row that was replaced, once, so that the history stays. Old snapshots stay readable until "firmlake gc --keep" removes ' +
      'them. Loads may run meanwhile.',
    options: COMPACT,
    run: runCompact,
    examples: [
      ['compact --lake ./lake', 'after a hundred nightly loads'],
      ['compact --lake ./lake --dry-run', 'what it would give'],
      ['gc --lake ./lake --keep 1', 'then free the space of the old versions'],
    ],
  })
}

const runCompact = async (values: ValuesOf<typeof COMPACT>): Promise<void> => {
  const { lake, json } = values
  const { compact } = await import('../../jobs/compact.ts')
  const startMs = performance.now()
  await runJob<CompactSummary>(
    values,
    (given, line) =>
      compact({ ...askedOf(COMPACT, values), ...given, onEvent: (event) => show(line, event) }),
    async (summary) => {
      const seconds = (performance.now() - startMs) / 1000
      if (json) await printJson({ lake, ...summary, seconds: Math.round(seconds * 1000) / 1000 })
      else await printLines(summaryLines(values, summary, seconds))
      warnOfNoViews(summary.noViews)
    },
    'the lake stays as it was',
  )
}

const show = (line: ProgressLine, event: CompactEvent): void => {
  if (event.kind === 'progress') line.show(() => progressText(event), { amount: amountOf(event) })
  else if (event.kind === 'started') line.log(`Run ${event.run} begins`)
  else line.log(`Committing ${formatCounted(event.partitions, 'partition')}`)
}

const PHASES: Readonly<Record<CompactProgress['phase'], string>> = {
  checking: 'Checking files',
  finding: 'Finding what is superseded in',
  cutting: 'Cutting into ranges',
  sorting: 'Sorting',
  writing: 'Writing',
}

/** A table is worked on several times, and sorted in leaps: how long it takes is not known. */
const amountOf = (progress: CompactProgress): Amount =>
  progress.phase === 'checking'
    ? { done: progress.bytes, total: progress.of, part: progress.phase }
    : { done: progress.rows, total: progress.of, isUneven: true }

const progressText = (progress: CompactProgress): string => {
  if (progress.phase === 'checking') return `${PHASES.checking}  ${formatBytes(progress.bytes)}`
  const { phase, table, rows, of } = progress
  return `${PHASES[phase]} ${table}  ${formatCount(rows)}/${formatCounted(of, 'row')}`
}

const tableLines = (tables: readonly CompactedTable[], estimated: boolean): string[] => {
  const about = estimated ? 'about ' : ''
  return textTable(
    [
      { title: 'table' },
      ...['files', 'rows', 'size', `${about}files after`, 'rows after', `${about}size after`].map(
        (title) => ({
          title,
          right: true as const,
        }),
      ),
    ],
    tables.map(({ table, before, after }) => [
      table,
      formatCount(before.files),
      formatCount(before.rows),
      formatBytes(before.bytes),
      formatCount(after.files),
      formatCount(after.rows),
      formatBytes(after.bytes),
    ]),
  )
}

const summaryLines = (
  { lake, auto }: Pick<ValuesOf<typeof COMPACT>, 'lake' | 'auto'>,
  summary: CompactSummary,
  seconds: number,
): string[] => {
  if (summary.kind === 'nothing')
    return [
      auto ? 'Nothing to merge: no table has too many partitions.' : 'Nothing to do: the lake is compact.',
    ]
  const { kind, snapshot, partitions, tables, pastSince } = summary
  const what = formatCounted(partitions, 'partition')
  const head =
    kind === 'planned'
      ? `Would merge ${what} of snapshot ${snapshot}.`
      : `Snapshot ${snapshot}: ${what} merged in ${formatDuration(seconds)}.`
  const tail =
    kind === 'planned'
      ? [
          ...(tables.some(({ table }) => table.endsWith('_past'))
            ? ['Past rows are at most so many: equal neighbours become one.']
            : []),
        ]
      : [
          ...(pastSince === undefined
            ? []
            : [
                `The history is whole since ${formatInstant(pastSince)}: past rows from before were dropped.`,
              ]),
          `Older snapshots stay readable until "firmlake gc --lake ${lake} --keep 1".`,
        ]
  return [head, '', ...tableLines(tables, kind === 'planned'), ...tail]
}
