/** Findings that a snapshot has and an earlier one had not. */

import { openRoot } from '../manifest/snapshots/open-root.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { type CheckReport, findingsOf, type SnapshotQuestions } from './check-snapshot.ts'

/** Errors that a rule finds in a snapshot, as texts. */
async function* errorsIn(
  root: SnapshotRoot,
  [rule, sql]: readonly [rule: string, sql: string],
  { lake, memoryBytes, threads }: SnapshotQuestions,
): AsyncGenerator<string> {
  const opened = await openRoot(root, { lake, memoryBytes, threads })
  try {
    for await (const finding of findingsOf(opened, rule, sql))
      if (finding.severity === 'error') yield JSON.stringify(finding)
  } finally {
    opened.close()
  }
}

/** How many errors a rule finds in a snapshot that it did not find in the one before. */
export const newErrors = async (
  next: SnapshotRoot,
  before: SnapshotRoot,
  rule: readonly [rule: string, sql: string],
  questions: SnapshotQuestions,
): Promise<number> => {
  // A rule may find the same twice: once more of it is new.
  const known = new Map<string, number>()
  for await (const text of errorsIn(before, rule, questions)) known.set(text, (known.get(text) ?? 0) + 1)
  let count = 0
  for await (const text of errorsIn(next, rule, questions)) {
    const left = known.get(text) ?? 0
    if (left === 0) count += 1
    else known.set(text, left - 1)
  }
  return count
}

/** The report with the new findings of its rules alone. */
export const onlyNew = async (
  report: CheckReport,
  root: SnapshotRoot,
  before: SnapshotRoot,
  questions: SnapshotQuestions,
): Promise<CheckReport> => {
  const checks = []
  for (const one of report.checks) {
    const sql = questions.rules[one.name]
    if (sql === undefined || one.status === 'passed') {
      checks.push(one)
      continue
    }
    const value = await newErrors(root, before, [one.name, sql], questions)
    const limit = questions.limits?.[one.name] ?? 0
    const expected = `no finding that snapshot ${before.snapshot} lacks`
    checks.push({
      ...one,
      value,
      expected,
      status: value > limit ? ('failed' as const) : ('passed' as const),
    })
  }
  const failed = checks.filter(({ status }) => status === 'failed')
  const names = new Set(failed.map(({ name }) => name))
  return {
    ...report,
    checks,
    failed: failed.length,
    findings: report.findings.filter(({ rule }) => names.has(String(rule))),
  }
}
