/**
 * `check`: what is expected of a lake, for a schedule or a build that has to stop; as text, JUnit for builds, Prometheus for
 * monitoring.
 */

import type { Command } from 'commander'
import type { CheckReport } from '../../checks/check-snapshot.ts'
import { type CheckResult, foundText } from '../../core/checks.ts'
import { EXIT } from '../../core/exit-codes.ts'
import { CHECK_LAKE } from '../../options/check.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { addCommand } from '../add-command.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { print, printJson, printLines } from '../output/print.ts'
import { colourOfStatus, textTable } from '../output/text-table.ts'

export const addCheck = (program: Command): void => {
  addCommand(program, {
    name: 'check',
    summary: 'check what is expected of a lake: age, numbers, drift, rules on the data',
    description:
      'Checks the newest snapshot: the expectations that are given, the rules of the view "quality_findings", and ' +
      'rules of your own. Ends with 5 when one fails; notes fail nothing. Changes nothing.',
    options: CHECK_LAKE,
    run: runCheck,
    examples: [
      [
        'check --lake ./lake --max-age 26h --max-fall 10%',
        'is the nightly load there, and about as large as usual?',
      ],
      ['check --lake ./lake --rules ./rules --format junit > check.xml', 'rules of your own, for a build'],
      ['check --lake ./lake --format prometheus > /var/lib/node_exporter/firmlake.prom', 'for monitoring'],
    ],
  })
}

const runCheck = async (values: ValuesOf<typeof CHECK_LAKE>): Promise<void> => {
  const { lake, rules, format } = values
  const { check } = await import('../../jobs/check.ts')
  const { readRules } = await import('../../checks/read-rules.ts')
  const report = await check({
    ...askedOf(CHECK_LAKE, values),
    rules: rules === undefined ? undefined : await readRules(rules),
    limits: loadedConfig().file?.settings.check?.limits,
  })
  // Set before anything is printed: a reader that goes away must not turn a failure into a success.
  if (report.failed > 0) process.exitCode = EXIT.checkFailed
  await printReport(lake, report, format)
}

const printReport = async (
  lake: string,
  report: CheckReport,
  format: ValuesOf<typeof CHECK_LAKE>['format'],
): Promise<void> => {
  const { checks } = report
  if (format === 'json') return printJson({ lake, ...report })
  if (format === 'junit') return print(junitText(checks))
  if (format === 'prometheus') return print(prometheusText(lake, checks))
  await printLines([
    ...textTable(
      [
        { title: 'check' },
        { title: 'status', colour: colourOfStatus },
        { title: 'found', right: true },
        { title: 'expected' },
      ],
      checks.map((one) => [one.name, one.status, foundText(one), one.expected]),
    ),
    outcomeOf(report),
    ...(report.findings.length === 0
      ? []
      : ['What was found, row by row: --json, or "FROM quality_findings".']),
  ])
}

const outcomeOf = ({ checks, failed }: CheckReport): string => {
  if (checks.length === 0)
    return 'Nothing was checked: no expectation is given, and the rules on the data are left out.'
  return failed === 0 ? 'All is as expected.' : `${failed} of ${checks.length} checks failed.`
}

const xml = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`)

const found = (one: CheckResult): string => `found ${foundText(one)}, expected ${one.expected}`

/** A test suite with one case for each check. */
const junitText = (checks: readonly CheckResult[]): string => {
  const cases = checks.map((one) => {
    const open = `  <testcase classname="firmlake.check" name="${xml(one.name)}"`
    if (one.status === 'failed') return `${open}><failure message="${xml(found(one))}"/></testcase>`
    return one.status === 'note'
      ? `${open}><system-out>${xml(found(one))}</system-out></testcase>`
      : `${open}/>`
  })
  const failures = checks.filter(({ status }) => status === 'failed').length
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="firmlake check" tests="${checks.length}" failures="${failures}">
${cases.join('\n')}
</testsuite>
`
}

/** Metrics in Prometheus' text format: what was found, and whether it failed. */
const prometheusText = (lake: string, checks: readonly CheckResult[]): string => {
  const label = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`
  const lines = (name: string, read: (one: CheckResult) => number | null): string[] =>
    checks.flatMap((one) => {
      const value = read(one)
      return value === null ? [] : [`${name}{lake=${label(lake)},check=${label(one.name)}} ${value}`]
    })
  return [
    '# HELP firmlake_check_failed Whether a check failed.',
    '# TYPE firmlake_check_failed gauge',
    ...lines('firmlake_check_failed', ({ status }) => (status === 'failed' ? 1 : 0)),
    '# HELP firmlake_check_value What a check found.',
    '# TYPE firmlake_check_value gauge',
    ...lines('firmlake_check_value', ({ value }) => value),
    '',
  ].join('\n')
}
