/** `report`: one HTML file about a lake. */

import type { Command } from 'commander'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { REPORT } from '../../options/report.ts'
import { formatBytes } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { print, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

export const addReport = (program: Command): void => {
  addCommand(program, {
    name: 'report',
    summary: 'write an HTML page about a lake: what failed, loads, coverage, changes, drift, quality',
    description:
      'Writes one HTML file about a snapshot: first whether all is good or what failed, then charts, each with its SQL ' +
      'and its numbers. It loads nothing, holds no script, opens from a disk or a bucket, and prints on A4. ' +
      'A failed expectation is no error here: see "firmlake check".',
    options: REPORT,
    run: runReport,
    examples: [
      ['report --lake ./lake --to report.html', 'a page to open, to mail or to print'],
      ['report --lake ./lake --to report.html --max-age 26h --max-fall 10%', 'with what is expected of it'],
      ['report --lake ./lake --to report.html --line-item TotalAssets', 'which countries report it, by year'],
      [
        'report --lake ./lake --to report.html --title "Nordic companies" --language sv',
        'for readers in Sweden',
      ],
    ],
  })
}

const runReport = async (values: ValuesOf<typeof REPORT>): Promise<void> => {
  const { lake, json, unchecked } = values
  const { report } = await import('../../jobs/report.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const written = await interruptible(
    (signal) =>
      report({
        ...askedOf(REPORT, values),
        signal,
        check: unchecked ? 'never' : 'first-read',
        onProgress: ({ part, partsDone, parts }) =>
          line.show(() => part, { amount: { done: partsDone, total: parts, isUneven: true } }),
        aroundFetch: (fetch) => fetch({ signal, onProgress: showFetch(line) }),
      }),
    'no report is written',
  ).finally(() => line.clear())
  if (json) return print(`${JSON.stringify(written)}\n`)
  await printLines([
    `Wrote the report of snapshot ${written.snapshot} to ${written.path} (${formatBytes(written.bytes)}).`,
  ])
  await noteTaken(lake, values)
}
