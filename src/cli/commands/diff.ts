/** `diff`: what changed between two snapshots, and which figures of past years were restated. */

import type { Command } from 'commander'
import type { DiffProgress } from '../../lake/diff/compare-snapshots.ts'
import type { DiffRows, LakeDiff } from '../../lake/diff/open-comparison.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { DIFF } from '../../options/read-jobs.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { diffSummaryLines } from '../output/diff-lines.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { print, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'
import type { Amount } from '../output/time-left.ts'

type Values = ValuesOf<typeof DIFF>

export const addDiff = (program: Command): void => {
  addCommand(program, {
    name: 'diff',
    summary: 'what changed between two snapshots, and which figures were restated',
    description:
      'Compares the current versions of two snapshots: companies and relations new, changed and gone, and ' +
      'restatements: figures of years that a company had reported before whose value or currency changed, that ' +
      'were withdrawn, or added afterwards; with names, old and new values, and percent. Versions that hold the same ' +
      'values are equal. Counts come first, then ' +
      'rows; CSV has the rows only.',
    options: DIFF,
    run: runDiff,
    examples: [
      ['diff --lake ./lake', 'what the last run changed'],
      ['diff --lake ./lake --since 24h', 'what the last day changed'],
      ['diff --lake ./lake --from 3 --to 12 --only restatements', 'restated figures between two snapshots'],
      ['diff --lake ./lake --format csv > changes.csv', 'every change, for a spreadsheet'],
    ],
  })
}

const runDiff = async (values: Values): Promise<void> => {
  const { lake, to, held, format, json, unchecked } = values
  const { openDiff } = await import('../../jobs/diff.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const onProgress = (progress: DiffProgress): void =>
    line.show(() => progressText(progress), { amount: amountOf(progress) })
  await interruptible(async (signal) => {
    const diff = await openDiff({
      ...askedOf(DIFF, values),
      ...{ signal, onProgress },
      onFetch: showFetch(line),
      check: unchecked ? 'never' : 'first-read',
    }).finally(() => line.clear())
    try {
      if (format === 'table') await printTables(diff, values)
      else await printRows(diff, format, values)
    } finally {
      diff.close()
    }
  }, 'nothing is left')
  await noteTaken(lake, { snapshot: to, held })
}

const progressText = ({ table, tablesDone, tables, part, parts }: DiffProgress): string =>
  `Comparing ${table}  ${formatCount(tablesDone)}/${formatCounted(tables, 'table')}` +
  (parts > 1 ? `  part ${formatCount(part + 1)} of ${formatCount(parts)}` : '')

const amountOf = ({ tablesDone, tables, part, parts }: DiffProgress): Amount => ({
  done: tablesDone + part / Math.max(1, parts),
  total: tables,
})

const printTables = async (diff: LakeDiff, { only, limit }: Values): Promise<void> => {
  const { printResult } = await import('../output/print-result.ts')
  const { companies, relations, restatements } = diff.summary
  await printLines(diffSummaryLines(diff.summary))
  const changes = [companies, relations].some((one) => one.new + one.changed + one.gone > 0)
  if (only !== 'restatements' && changes) {
    await print('\n')
    await printResult(await diff.rows('records'), 'table', { limit })
    if (companies.changed + relations.changed > 0) {
      await print('\n')
      await printResult(await diff.rows('columns'), 'table', { limit })
    }
  }
  if (only !== 'companies' && restatements.companies > 0) {
    await print('\n')
    await printResult(await diff.rows('restatements'), 'table', { limit })
  }
}

const ROWS: Readonly<Record<NonNullable<Values['only']>, DiffRows>> = {
  companies: 'all-records',
  restatements: 'all-restatements',
}

/** CSV has the rows only; JSON is one document with the counts before them. */
const printRows = async (diff: LakeDiff, format: 'csv' | 'json', { only, limit }: Values): Promise<void> => {
  const { printResult } = await import('../output/print-result.ts')
  if (format === 'json') await print(`{"summary":${JSON.stringify(diff.summary)},\n"rows":`)
  await printResult(await diff.rows(only === undefined ? 'all' : ROWS[only]), format, { limit })
  if (format === 'json') await print('}\n')
}
