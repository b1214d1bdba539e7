/** `report`: one HTML file about a lake. */

import type { Command } from 'commander'
import type { OptionType } from '../../core/check-options.ts'
import { ToolkitError } from '../../core/errors.ts'
import { BUCKET_FORM } from '../../core/lake-address.ts'
import { LANGUAGE, WEB_ADDRESS } from '../../jobs/report/report-look.ts'
import { formatBytes } from '../../support/format.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  addExpectationOptions,
  type ExpectationFlags,
  expectationsOf,
} from '../options/expectation-options.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  repeated,
  type SnapshotOption,
  snapshotOption,
  type UncheckedOption,
  uncheckedOption,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { print, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

interface Options extends LakeOption, SnapshotOption, JsonOption, UncheckedOption, ExpectationFlags {
  readonly to: string
  readonly lineItem?: readonly string[]
  readonly title?: string
  readonly logoText?: string
  readonly language?: string
  readonly explorer?: string
  readonly memory: number
  readonly threads: number
}

/** Reads a text of a form. @throws {ToolkitError} USAGE naming the option */
const textOf =
  (option: string, { expected, fits }: OptionType) =>
  (text: string): string => {
    if (fits(text)) return text
    throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected ${expected}`)
  }

export const addReport = (program: Command): void => {
  const command = program
    .command('report')
    .summary('write an HTML page about a lake: what failed, loads, coverage, changes, drift, quality')
    .description(
      'Writes one HTML file about a snapshot: first whether all is good or what failed, then charts, each with its SQL ' +
        'and its numbers. It loads nothing, holds no script, opens from a disk or a bucket, and prints on A4. ' +
        'A failed expectation is no error here: see "firmlake check".',
    )
    .addOption(lakeOption())
    .requiredOption(
      '--to <file>',
      `the HTML file, or ${BUCKET_FORM}/report.html; it ends in .html, and one that is there is replaced`,
    )
    .option(
      '--line-item <name>',
      'a line item with a heat map of its own (repeatable; default: NetSales, EBITDA)',
      repeated,
    )
    .option('--title <text>', 'the heading of the page (default: Company data)')
    .option('--logo-text <text>', 'the name at the top of the page (default: firmlake)')
    .option(
      '--language <tag>',
      'language of the numbers: en, sv, de-CH (default: en)',
      textOf('--language', LANGUAGE),
    )
    .option(
      '--explorer <url>',
      'address of an explorer that names of companies link to',
      textOf('--explorer', WEB_ADDRESS),
    )
  addExpectationOptions(command)
    .addOption(snapshotOption())
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(uncheckedOption())
    .addOption(jsonOption('the result as one line of JSON, errors too'))
    .action(runReport)
  withExamples(command, [
    ['report --lake ./lake --to report.html', 'a page to open, to mail or to print'],
    ['report --lake ./lake --to report.html --max-age 26h --max-fall 10%', 'with what is expected of it'],
    ['report --lake ./lake --to report.html --line-item TotalAssets', 'which countries report it, by year'],
    [
      'report --lake ./lake --to report.html --title "Nordic companies" --language sv',
      'for readers in Sweden',
    ],
  ])
}

const runReport = async (options: Options): Promise<void> => {
  const { lake, to, lineItem: lineItems, snapshot, memory: memoryBytes, threads, json, unchecked } = options
  const { title, logoText, language, explorer } = options
  const { report } = await import('../../jobs/report/report.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const written = await interruptible(
    (signal) =>
      report({
        lake,
        ...expectationsOf(options),
        ...{ to, lineItems, title, logoText, language, explorer, snapshot, memoryBytes, threads, signal },
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
  await noteTaken(lake, written.snapshot)
}
