/** Checks one snapshot, also one that is not shown: its loads by the manifest, and rules on its data. */

import { definitionNames } from '../analysis/definitions.ts'
import type { CheckResult } from '../core/checks.ts'
import { ToolkitError } from '../core/errors.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import type { QueryRow } from '../lake/query/read-rows.ts'
import { openRoot } from '../manifest/snapshots/open-root.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { Expectations, LakeCheckOptions } from '../options/interfaces.ts'
import { formatCounted } from '../support/format.ts'
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
const checkRule = async (lake: LakeQuery, rule: string, sql: string, limit = 0): Promise<Found> => {
  const count = { error: 0, note: 0 }
  const found: Record<keyof typeof count, QueryRow[]> = { error: [], note: [] }
  for await (const { severity, ...row } of findingsOf(lake, rule, sql)) {
    count[severity]++
    if (count[severity] <= MOST_FINDINGS) found[severity].push({ rule, ...row, severity })
  }
  const findings = [...found.error, ...found.note].slice(0, MOST_FINDINGS)
  const status = count.error > limit ? 'failed' : count.note > 0 ? 'note' : 'passed'
  const expected = limit === 0 ? 'no finding' : `at most ${formatCounted(limit, 'finding')}`
  const value = count.error || count.note
  const check = { name: rule, status, value, ...(limit > 0 && { limit }), expected } satisfies CheckResult
  return { check, findings }
}

type Finding = QueryRow & { readonly severity: 'error' | 'note' }

/** The findings of a rule. @throws {ToolkitError} naming the rule */
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

type ChosenRules = Pick<LakeCheckOptions, 'rules' | 'only' | 'skip'> & { readonly data: boolean }

/**
 * The rules on the data. Rules of the caller come last; one that has the name of ours takes its place.
 *
 * @throws {ToolkitError} USAGE for the name of none
 */
export const checkRules = ({ data, rules = {}, only, skip = [] }: ChosenRules): Rules => {
  const all: Rules = { ...(data && layerRules()), ...rules }
  const known = { ...layerRules(), ...rules }
  const unknown = [...(only ?? []), ...skip].find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot check rule "${unknown}": there is none, expected some of ${Object.keys(known).join(', ')}`,
    )
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name]) => (only === undefined || only.includes(name)) && !skip.includes(name),
    ),
  )
}

/** The questions about a snapshot. */
export interface SnapshotQuestions extends Expectations {
  readonly lake: string
  readonly rules: Rules
  /** How many findings of a rule pass. @default none */
  readonly limits?: Readonly<Record<string, number>> | undefined
  readonly memoryBytes?: number | undefined
  readonly threads?: number | undefined
  readonly now: Date
}

/** The results about a snapshot, also about one that is not shown. */
export const checkSnapshot = async (
  root: SnapshotRoot,
  { lake, rules, limits = {}, memoryBytes, threads, now, ...expected }: SnapshotQuestions,
): Promise<CheckReport> => {
  const facts = await loadFactsOf(lake, root)
  const opened = await openRoot(root, { lake, memoryBytes, threads })
  try {
    const loads = checkLoads(facts, expected, now)
    const counted = await checkCompanies(opened, expected)
    const found: Found[] = []
    for (const [rule, sql] of Object.entries(rules))
      found.push(await checkRule(opened, rule, sql, limits[rule]))
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
