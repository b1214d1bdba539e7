/** `check`: what is expected of a lake against what it holds: its loads by the manifest, and rules on the data. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { definitionNames } from '../../analysis/definitions.ts'
import type { CheckResult } from '../../core/checks.ts'
import { readReason, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import { readChosenRoot } from '../../manifest/snapshots/held.ts'
import type { SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { CHECK_LAKE } from '../../options/check.ts'
import type { Expectations, LakeCheckOptions } from '../../options/interfaces.ts'
import { job } from '../../options/job.ts'
import type { QueryRow } from '../common/read-rows.ts'
import { openRoot } from '../query/query.ts'
import { checkCompanies, checkLoads, loadFactsOf } from './check-loads.ts'

/** The result of `check`. */
export interface CheckReport {
  /** The newest snapshot. */
  readonly snapshot: number
  /** How many of the checks failed. */
  readonly failed: number
  readonly checks: readonly CheckResult[]
  /** The findings of the rules on the data, with `rule` and `severity`: at most 100 of each, errors first. */
  readonly findings: readonly QueryRow[]
}

const MOST_FINDINGS = 100
const PREFIX = 'quality_'

/** The rules of the analysis layer: every view `quality_<rule>`. */
const layerRules = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...definitionNames()].flatMap((name) =>
      name.startsWith(PREFIX) && name !== 'quality_findings'
        ? [[name.slice(PREFIX.length), `FROM ${name}`]]
        : [],
    ),
  )

interface Found {
  readonly check: CheckResult
  readonly findings: readonly QueryRow[]
}

/** @param sql rows that are findings; those whose `severity` is "note" fail nothing */
const checkRule = async (lake: LakeQuery, rule: string, sql: string): Promise<Found> => {
  const count = { error: 0, note: 0 }
  const found: Record<keyof typeof count, QueryRow[]> = { error: [], note: [] }
  for await (const { severity, ...row } of findingsOf(lake, rule, sql)) {
    count[severity]++
    if (count[severity] <= MOST_FINDINGS) found[severity].push({ rule, ...row, severity })
  }
  const findings = [...found.error, ...found.note].slice(0, MOST_FINDINGS)
  const status = count.error > 0 ? 'failed' : count.note > 0 ? 'note' : 'passed'
  const check: CheckResult = { name: rule, status, value: count.error || count.note, expected: 'no finding' }
  return { check, findings }
}

type Finding = QueryRow & { readonly severity: 'error' | 'note' }

/** All findings of a rule. @throws {ToolkitError} naming the rule */
export async function* findingsOf(lake: LakeQuery, rule: string, sql: string): AsyncGenerator<Finding> {
  try {
    const { columns, rows } = await lake.run(`FROM (\n${sql}\n) ORDER BY ALL`)
    const names = columns.map(({ name }) => name)
    for await (const chunk of rows)
      for (const row of chunk) {
        const values = Object.fromEntries(names.map((name, at) => [name, row[at]]))
        yield { ...values, severity: values.severity === 'note' ? 'note' : 'error' }
      }
  } catch (error) {
    if (!(error instanceof ToolkitError)) throw error
    const message = `Cannot check the rule "${rule}": ${error.message}`
    throw new ToolkitError(error.code, message, { ...error.context, rule }, error)
  }
}

type Rules = Readonly<Record<string, string>>

/** The rules on the data. Rules of the caller come last; one that has the name of ours takes its place. */
export const rulesOf = ({
  data,
  rules = {},
}: {
  readonly data: boolean
  readonly rules?: Rules | undefined
}): Rules => ({
  ...(data && layerRules()),
  ...rules,
})

/** The questions about a snapshot. */
export interface SnapshotQuestions extends Expectations {
  readonly lake: string
  readonly rules: Rules
  readonly memoryBytes?: number | undefined
  readonly threads?: number | undefined
  readonly now: Date
}

/** The results about a snapshot, also about one that is not shown. */
export const checkSnapshot = async (
  root: SnapshotRoot,
  { lake, rules, memoryBytes, threads, now, ...expected }: SnapshotQuestions,
): Promise<CheckReport> => {
  const facts = await loadFactsOf(lake, root)
  const opened = await openRoot(root, { lake, memoryBytes, threads })
  try {
    const loads = checkLoads(facts, expected, now)
    const counted = await checkCompanies(opened, expected)
    const found: Found[] = []
    for (const [rule, sql] of Object.entries(rules)) found.push(await checkRule(opened, rule, sql))
    const checks = [...loads, ...counted, ...found.map((one) => one.check)]
    return {
      snapshot: root.snapshot,
      failed: checks.filter(({ status }) => status === 'failed').length,
      checks,
      findings: found.flatMap(({ findings }) => findings),
    }
  } finally {
    opened.close()
  }
}

/**
 * Checks the newest snapshot of a lake, or the one that is held back: the expectations that are given, the rules on the data, and
 * rules of one's own.
 *
 * @returns every check with what was found; `failed` is 0 where all is as expected
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`; of a rule `QUERY_REFUSED`, `QUERY_FAILED`
 * @example
 * import { check, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { failed, checks } = await check({ lake: './lake', minCompanies: 3, maxAgeMs: 24 * 3600 * 1000 })
 * console.log(failed, checks[0]?.name, checks[0]?.status) // 0 age_seconds passed
 */
export const check: (options: LakeCheckOptions) => Promise<CheckReport> = job(
  'check',
  CHECK_LAKE,
  async ({ now = () => new Date(), held, ...options }) => {
    const root = await readChosenRoot(options.lake, { held })
    return checkSnapshot(root, { ...options, rules: rulesOf(options), now: now() })
  },
)

/** @param folder of `.sql` files @returns their statements by name @throws {ToolkitError} USAGE, TEXT_NOT_UTF8 */
export const readRules = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const rules: Record<string, string> = {}
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.sql')).sort()) {
      const text = await readUserText(join(folder, name))
      rules[name.slice(0, -'.sql'.length)] = text.trim().replace(/;$/, '')
    }
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    throw new ToolkitError('USAGE', `Cannot read the rules in "${folder}": ${readReason(error)}`)
  }
  return rules
}
