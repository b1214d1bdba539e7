/** `check`: what is expected of a lake, for a schedule or a build that has to stop. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { EXIT } from '../../core/exit-codes.ts'
import type { CheckReport } from '../../jobs/check.ts'
import { type LakeOption, lakeOption, wholeNumber, withExamples } from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { print, printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'

const FORMATS = ['table', 'json', 'junit', 'prometheus'] as const

interface Options extends LakeOption {
  readonly maxAge?: number
  readonly minCompanies?: number
  readonly maxFall?: number
  readonly maxQuarantined?: number
  readonly maxGap?: number
  readonly newDrift: boolean
  readonly data: boolean
  readonly rules?: string
  readonly format: (typeof FORMATS)[number]
  readonly json?: true
  readonly memory: number
  readonly threads: number
}

const wrong = (text: string): ToolkitError => new ToolkitError('USAGE', text)

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const span = (text: string): number => {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (unit === 'm' || unit === 'h' || unit === 'd') return Number(count) * UNITS_MS[unit]
  throw wrong(`Cannot take "${text}" for --max-age: expected a span such as 90m, 26h or 7d`)
}

const share =
  (flag: string) =>
  (text: string): number => {
    const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
    if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100
    throw wrong(`Cannot take "${text}" for ${flag}: expected a percentage such as 5%`)
  }

export const addCheck = (program: Command): void => {
  const command = program
    .command('check')
    .summary('check what is expected of a lake: age, numbers, drift, rules on the data')
    .description(
      'Checks the newest snapshot: the expectations that are given, the rules of the view "quality_findings", and ' +
        'rules of your own. Ends with 5 when one fails; notes fail nothing. Changes nothing.',
    )
    .addOption(lakeOption())
    .option('--max-age <span>', 'longest time since the newest load began: 90m, 26h, 7d', span)
    .option('--min-companies <n>', 'least number of current companies', wholeNumber('--min-companies'))
    .option(
      '--max-fall <percent>',
      'how much fewer records than the load before the newest has',
      share('--max-fall'),
    )
    .option(
      '--max-quarantined <percent>',
      'largest share of bad lines in the newest load',
      share('--max-quarantined'),
    )
    .option('--max-gap <n>', 'most records that the newest pull of a search missed', wholeNumber('--max-gap'))
    .option('--no-new-drift', 'fail on names that are unknown and that no earlier load had')
    .option('--no-data', 'leave out the rules on the data')
    .option(
      '--rules <folder>',
      'rules of your own: each .sql file a SELECT whose rows are findings; one with the name of ours takes its place',
    )
    .addOption(new Option('--format <format>', 'how the answer is printed').choices(FORMATS).default('table'))
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(
      new Option('--json', 'the same as --format json; errors as one line of JSON').implies({
        format: 'json',
      }),
    )
    .action(runCheck)
  withExamples(command, [
    [
      'check --lake ./lake --max-age 26h --max-fall 10%',
      'is the nightly load there, and about as large as usual?',
    ],
    ['check --lake ./lake --rules ./rules --format junit > check.xml', 'rules of your own, for a build'],
    ['check --lake ./lake --format prometheus > /var/lib/node_exporter/firmlake.prom', 'for monitoring'],
  ])
}

const readRules = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const rules: Record<string, string> = {}
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.sql')).sort()) {
      const text = await readFile(join(folder, name), 'utf8')
      rules[name.slice(0, -'.sql'.length)] = text.trim().replace(/;$/, '')
    }
  } catch (error) {
    throw wrong(
      `Cannot read the rules in "${folder}": ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return rules
}

const runCheck = async (options: Options): Promise<void> => {
  const { lake, maxAge, newDrift, rules, format, memory: memoryBytes, ...expected } = options
  const { check } = await import('../../jobs/check.ts')
  const report = await check(lake, {
    ...{ ...expected, memoryBytes, maxAgeMs: maxAge, noNewDrift: !newDrift },
    rules: rules === undefined ? {} : await readRules(rules),
  })
  // Set before anything is printed: a reader that goes away must not turn a failure into a success.
  if (report.failed > 0) process.exitCode = EXIT.checkFailed
  await printReport(lake, report, format)
}

const printReport = async (lake: string, report: CheckReport, format: Options['format']): Promise<void> => {
  const { checks, failed } = report
  if (format === 'json') return printJson({ lake, ...report })
  const { junitText, prometheusText } = await import('../output/check-report.ts')
  if (format === 'junit') return print(junitText(checks))
  if (format === 'prometheus') return print(prometheusText(lake, checks))
  await printLines([
    ...textTable(
      [{ title: 'check' }, { title: 'status' }, { title: 'found', right: true }, { title: 'expected' }],
      checks.map(({ name, status, value, expected }) => [name, status, String(value ?? ''), expected]),
    ),
    failed === 0 ? 'All is as expected.' : `${failed} of ${checks.length} checks failed.`,
    ...(report.findings.length === 0
      ? []
      : ['What was found, row by row: --json, or "FROM quality_findings".']),
  ])
}
