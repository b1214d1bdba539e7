/** `check`: what is expected of a lake against what it holds: its loads by the manifest, and rules on the data. */

import { definitionNames } from '../analysis/definitions.ts'
import type { LakeQuery } from '../lake/lake/lake-query.ts'
import { readFactsOf } from '../manifest/lake-facts.ts'
import { readRoot } from '../manifest/snapshots.ts'
import { type CheckResult, checkLoads, type Expectations } from './check-loads.ts'
import { openQuery } from './query.ts'
import { type QueryRow, readRows } from './read-rows.ts'

/** Options of `check`. */
export interface LakeCheckOptions extends Expectations {
  /** Companies that are current, at least. */
  readonly minCompanies?: number | undefined
  /** Whether the rules on the data are checked, too. @default true */
  readonly data?: boolean | undefined
  /** Further rules by name: each a SELECT, every row of which is a finding. @default none */
  readonly rules?: Readonly<Record<string, string>> | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  /** @default the clock */
  readonly now?: (() => Date) | undefined
}

/** What was checked. */
export interface CheckReport {
  /** The newest snapshot. */
  readonly snapshot: number
  /** How many of the checks failed. */
  readonly failed: number
  readonly checks: readonly CheckResult[]
  /** What the rules on the data found, with `rule` first: at most 100 of each. */
  readonly findings: readonly QueryRow[]
}

const MOST_FINDINGS = 100
const PREFIX = 'quality_'

/** The rules of the analysis layer: every view `quality_<rule>`. */
const dataRules = (): readonly string[] =>
  [...definitionNames()].flatMap((name) =>
    name.startsWith(PREFIX) && name !== 'quality_findings' ? [name.slice(PREFIX.length)] : [],
  )

interface Found {
  readonly check: CheckResult
  readonly findings: readonly QueryRow[]
}

/** @param sql rows that are findings @param isNote whether they fail nothing */
const checkRule = async (lake: LakeQuery, rule: string, sql: string, isNote: boolean): Promise<Found> => {
  const [counted] = await readRows(await lake.run(`SELECT count(*) AS findings FROM (\n${sql}\n)`))
  const value = Number(counted?.findings)
  const rows = value === 0 ? [] : await readRows(await lake.run(`FROM (\n${sql}\n) LIMIT ${MOST_FINDINGS}`))
  const bad = isNote ? 'note' : 'failed'
  return {
    check: { name: rule, status: value === 0 ? 'passed' : bad, value, expected: 'no finding' },
    findings: rows.map((row) => ({ rule, severity: isNote ? 'note' : 'error', ...row })),
  }
}

const checkData = async (
  lake: LakeQuery,
  { data = true, rules = {} }: LakeCheckOptions,
): Promise<readonly Found[]> => {
  const found: Found[] = []
  for (const rule of data ? dataRules() : []) {
    const own = `SELECT * EXCLUDE (rule, severity) FROM quality_findings WHERE rule = '${rule}'`
    found.push(await checkRule(lake, rule, own, NOTES.has(rule)))
  }
  for (const [rule, sql] of Object.entries(rules)) found.push(await checkRule(lake, rule, sql, false))
  return found
}

/** Rules that real filings break more often than in one of 200 places: `quality_findings` says the same. */
const NOTES: ReadonlySet<string> = new Set(['balance', 'currency', 'gaps'])

const companies = async (lake: LakeQuery, least: number): Promise<CheckResult> => {
  const [row] = await readRows(await lake.run('SELECT count(*) AS companies FROM companies'))
  const value = Number(row?.companies)
  return {
    name: 'companies',
    value,
    status: value >= least ? 'passed' : 'failed',
    expected: `at least ${least}`,
  }
}

/**
 * Checks the newest snapshot of a lake: the expectations that are given, the rules on the data, and rules of one's own.
 *
 * @param lake a folder, or `s3://bucket/prefix`
 * @returns every check with what was found; `failed` is 0 where all is as expected
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`; of a rule `QUERY_REFUSED`, `QUERY_FAILED`
 * @example
 * import { check, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { failed, checks } = await check('./lake', { minCompanies: 3, maxAgeMs: 24 * 3600 * 1000 })
 * console.log(failed, checks[0]?.name, checks[0]?.status) // 0 age_seconds passed
 */
export const check = async (lake: string, options: LakeCheckOptions = {}): Promise<CheckReport> => {
  const { minCompanies, memoryBytes, threads, now = () => new Date() } = options
  const root = await readRoot(lake)
  const read = readFactsOf(lake, root)
  const facts = { sources: await read('sources'), pulls: await read('pulls'), drift: await read('drift') }
  const opened = await openQuery(lake, { snapshot: root.snapshot, memoryBytes, threads })
  try {
    const loads = checkLoads(facts, options, now())
    const counted = minCompanies === undefined ? [] : [await companies(opened, minCompanies)]
    const found = await checkData(opened, options)
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
