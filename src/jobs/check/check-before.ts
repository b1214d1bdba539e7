/** A load that is checked before it is shown: it is held back by what it makes worse, not by what was so before. */

import type { SnapshotAudit } from '../../commit/check-before.ts'
import type { CheckResult } from '../../core/checks.ts'
import type { LoadCheck } from '../../options/interfaces.ts'
import { newErrors } from './check-since.ts'
import { checkRules, checkSnapshot, type SnapshotQuestions } from './check-snapshot.ts'

/** Names that the contract does not know are new in each load that they are found in. */
const ALWAYS_NEW = 'new_drift'

const isWorse = (now: CheckResult, then: CheckResult | undefined): boolean => {
  if (now.name === ALWAYS_NEW || then === undefined) return true
  if (now.value === null || then.value === null) return now.value !== then.value
  return now.name === 'companies' ? now.value < then.value : now.value > then.value
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
    const { checks } = await checkSnapshot(next, questions)
    const failed = checks.filter(({ status }) => status === 'failed')
    if (before === null || failed.length === 0) return { worse: failed, asBefore: [], results: checks }
    const then = await checkSnapshot(before, { ...questions, rules: {} })
    const worse: CheckResult[] = []
    for (const one of failed) {
      const sql = rules[one.name]
      if (sql === undefined) {
        if (
          isWorse(
            one,
            then.checks.find(({ name }) => name === one.name),
          )
        )
          worse.push(one)
        continue
      }
      const value = await newErrors(next, before, [one.name, sql], questions)
      if (value > 0)
        worse.push({ ...one, value, expected: `no finding that snapshot ${before.snapshot} lacks` })
    }
    const names = new Set(worse.map(({ name }) => name))
    return { worse, asBefore: failed.filter(({ name }) => !names.has(name)), results: checks }
  }
