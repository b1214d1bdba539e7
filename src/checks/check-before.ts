/** A load that is checked before it is shown: it is held back by what it makes worse, not by what was so before. */

import type { SnapshotAudit } from '../commit/check-before.ts'
import type { CheckResult, KeptResult } from '../core/checks.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { LoadCheck } from '../options/interfaces.ts'
import { loadFactsOf } from './check-loads.ts'
import { newErrors } from './check-since.ts'
import { type CheckReport, checkRules, checkSnapshot, type SnapshotQuestions } from './check-snapshot.ts'

/** The contents that a load brings, where it brings some. */
const broughtBy = async (lake: string, next: SnapshotRoot): Promise<ReadonlySet<string>> => {
  const { sources, pulls } = await loadFactsOf(lake, next)
  const own = [...sources, ...pulls].filter(({ run }) => run === next.run)
  return new Set(own.map(({ content }) => String(content)))
}

/** Whether a value is of the newest load alone: what an earlier load had says nothing of it then. */
const isOfLoad = (name: string, brought: ReadonlySet<string>): boolean | undefined => {
  if (name === 'new_drift' || name === 'quarantined_share') return brought.size > 0
  if (name === 'restated_share') return brought.has('companies')
  return name.startsWith('fall_') ? brought.has(name.slice('fall_'.length)) : undefined
}

const isWorse = (now: CheckResult, then: CheckResult | undefined, brought: ReadonlySet<string>): boolean => {
  const ofLoad = isOfLoad(now.name, brought)
  if (ofLoad !== undefined) return ofLoad
  if (then === undefined) return true
  if (now.value === null || then.value === null) return now.value !== then.value
  return now.name === 'companies' ? now.value < then.value : now.value > then.value
}

/** Columns whose value says which company or entity a finding is about. */
const KEY_COLUMNS = ['internal_id', 'company_id', 'entity_id'] as const

/** The ids in the findings of a rule that are errors. */
const keysOf = (findings: CheckReport['findings'], rule: string): readonly string[] => {
  const ids = findings
    .filter((one) => one.rule === rule && one.severity === 'error')
    .map((one) => String(KEY_COLUMNS.map((name) => one[name] ?? null).find((id) => id !== null) ?? ''))
  return [...new Set(ids)].filter((id) => /^-?\d+$/.test(id))
}

type Machine = Pick<SnapshotQuestions, 'lake' | 'memoryBytes' | 'threads'>

/** Checks of the snapshot that would be, of which those count that fail worse than in the one before. */
export const checkBefore =
  (
    machine: Machine,
    { data = true, rules: own, only, skip, held: _, ...expected }: LoadCheck,
  ): SnapshotAudit =>
  async (next, before) => {
    const rules = checkRules({ data, rules: own, only, skip })
    const { lake, memoryBytes, threads } = machine
    const questions = { ...expected, lake, memoryBytes, threads, rules, now: new Date() }
    const { checks, findings } = await checkSnapshot(next, questions)
    const results = checks.map((check): KeptResult => {
      const keys = own?.[check.name] === undefined ? [] : keysOf(findings, check.name)
      return { ...check, ...(keys.length > 0 && { keys }) }
    })
    const failed = checks.filter(({ status }) => status === 'failed')
    if (before === null || failed.length === 0) return { worse: failed, asBefore: [], results }
    const then = await checkSnapshot(before, { ...questions, rules: {} })
    const brought = await broughtBy(lake, next)
    const worse: CheckResult[] = []
    for (const one of failed) {
      const sql = rules[one.name]
      if (sql === undefined) {
        const before = then.checks.find(({ name }) => name === one.name)
        if (isWorse(one, before, brought)) worse.push(one)
        continue
      }
      const value = await newErrors(next, before, [one.name, sql], questions)
      if (value > 0)
        worse.push({ ...one, value, expected: `no finding that snapshot ${before.snapshot} lacks` })
    }
    const names = new Set(worse.map(({ name }) => name))
    return { worse, asBefore: failed.filter(({ name }) => !names.has(name)), results }
  }
