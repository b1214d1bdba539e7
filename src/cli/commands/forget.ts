/** `forget`: erases companies and persons from a lake. */

import type { Command } from 'commander'
import { systemError, ToolkitError } from '../../core/errors.ts'
import { readStdinText, readUserText } from '../../core/user-text.ts'
import type { ForgetSummary } from '../../forget/forget-summary.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { FORGET, FORGET_COMMAND } from '../../options/forget.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { isAsked } from '../options/options.ts'
import { printJson, printLines } from '../output/print.ts'
import { warnOfNoViews } from '../output/run-report.ts'
import { laterText } from '../output/status-lines.ts'
import { textTable } from '../output/text-table.ts'

export const addForget = (program: Command): void => {
  addCommand(program, {
    name: 'forget',
    summary: 'erase companies and persons from a lake',
    description:
      'Erases companies and persons from every file of a lake: tables with their history, quarantine, publications, ' +
      'serving indexes, batch files. Older snapshots are gone afterwards. Killed at any moment, the same command ' +
      'completes it. What it cannot reach it names.',
    options: FORGET_COMMAND,
    run: runForget,
    examples: [
      ['forget --lake ./lake --person 4711 --dry-run', 'what would be done'],
      ['forget --lake ./lake --company 12 34', 'two companies'],
      [
        'forget --lake ./lake --national-ids ids.txt --country SE',
        'the companies and persons of these national ids',
      ],
    ],
  })
}

/** National ids, one a line; blank lines count for nothing. */
const readNationalIds = async (file: string | undefined): Promise<readonly string[]> => {
  if (file === undefined) return []
  const lines = await (file === '-' ? readStdinText() : readUserText(file)).catch((error: unknown) => {
    throw systemError(error) ?? error
  })
  return lines.split(/\r\n?|\n/).flatMap((line) => line.trim() || [])
}

const runForget = async (values: ValuesOf<typeof FORGET_COMMAND>): Promise<void> => {
  const { lake, country, allowLater, refuseLater, dryRun, json } = values
  if (allowLater && refuseLater)
    throw new ToolkitError('USAGE', 'Cannot use --allow-later with --refuse-later: expected one of them')
  if (country !== undefined && values.nationalIds === undefined)
    throw new ToolkitError(
      'USAGE',
      'Cannot use --country without --national-ids: ids are of one country already',
    )
  const nationalIds = await readNationalIds(values.nationalIds)
  const { forget } = await import('../../jobs/forget.ts')
  const run = (isPlan: boolean | undefined, meanwhile: string): Promise<ForgetSummary> =>
    interruptible(
      (signal) =>
        forget({
          ...askedOf(FORGET, values),
          ...{ nationalIds, dryRun: isPlan, signal, catalog: catalogFromEnvironment() },
        }),
      meanwhile,
    )
  if (!dryRun && isAsked(values) && !(await agreesToForget(await run(true, 'nothing is changed')))) return
  const summary = await run(dryRun, 'the same command completes it')
  await (json ? printJson({ lake, ...summary }) : printLines(summaryLines(summary)))
  warnOfNoViews(summary.noViews)
}

/** Shows what would be done, and asks. @returns whether to go on */
const agreesToForget = async (planned: ForgetSummary): Promise<boolean> => {
  if (planned.kind === 'nothing') return true
  await printLines([...summaryLines(planned), ''])
  const { agrees } = await import('../output/ask.ts')
  return agrees('Nothing brings them back, older snapshots neither. Forget them?')
}

const headOf = ({ kind, snapshot, companies, persons }: ForgetSummary): string => {
  const whom = `${formatCounted(companies, 'company', 'companies')} and ${formatCounted(persons, 'person')}`
  if (kind === 'nothing') return `Nothing to do: the lake holds nothing of ${whom}.`
  return kind === 'planned'
    ? `Would forget ${whom} in snapshot ${snapshot}.`
    : `Snapshot ${snapshot}: ${whom} forgotten.`
}

/** Ids of the records, never what stands in them. */
const recordLines = (records: ForgetSummary['records'] = []): string[] =>
  records.length === 0
    ? []
    : [
        'Records of others whose unknown fields mention them, and would be removed:',
        ...textTable(
          [{ title: 'record' }, { title: 'company', right: true }],
          records.map(({ content, id }) => [content, id]),
        ),
        '',
      ]

const summaryLines = (summary: ForgetSummary): string[] => {
  const {
    kind,
    files,
    recordsStripped,
    linesCleared,
    snapshots,
    runs,
    made,
    published,
    unknown,
    unresolved,
    later,
    held,
  } = summary
  const gone = kind === 'planned' ? 'would be removed' : 'removed'
  const lines = (count: number, text: string): string[] => (count === 0 ? [] : [text])
  return [
    ...summary.completed.map((done) => `Snapshot ${done}: an interrupted forget was completed.`),
    headOf(summary),
    ...recordLines(summary.records),
    ...lines(unknown, `${formatCounted(unknown, 'id')} not known to the lake.`),
    ...lines(unresolved, `${formatCounted(unresolved, 'national id')} not known to the lake.`),
    '',
    ...(files.length === 0
      ? ['No file holds anything of theirs.']
      : textTable(
          [
            { title: 'kind' },
            { title: kind === 'planned' ? 'files to rewrite' : 'files rewritten', right: true },
            { title: 'rows', right: true },
          ],
          files.map((one) => [one.kind, formatCount(one.files), formatCount(one.rows)]),
        )),
    '',
    ...lines(recordsStripped, `Records of others, unknown fields ${gone}: ${formatCount(recordsStripped)}`),
    ...lines(linesCleared, `Quarantined lines, text ${gone}: ${formatCount(linesCleared)}`),
    ...lines(snapshots.length, `Older snapshots ${gone}: ${snapshots.join(', ')}`),
    ...lines(
      Number(held === 'kept'),
      'The load that is held back has nothing of theirs now, and is held back still.',
    ),
    ...lines(runs.length, `Interrupted runs ${gone}: ${runs.join(', ')}; run their commands again`),
    ...lines(made.length, `Made from older snapshots, ${gone}: ${made.join(', ')}`),
    ...lines(published.length, `Published anew: ${published.join(', ')}`),
    `Afterwards ${laterText(later)}.`,
    '',
    'Not reached:',
    ...summary.notReached.map((one) => `  ${one}`),
  ]
}
