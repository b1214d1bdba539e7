/** The answer of `check` in the forms that others read: JUnit for builds, Prometheus for monitoring. */

import type { CheckResult } from '../../jobs/check/check-loads.ts'

const xml = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`)

const found = ({ value, expected }: CheckResult): string =>
  `found ${value ?? 'nothing'}, expected ${expected}`

/** A test suite with one case for each check. */
export const junitText = (checks: readonly CheckResult[]): string => {
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
export const prometheusText = (lake: string, checks: readonly CheckResult[]): string => {
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
