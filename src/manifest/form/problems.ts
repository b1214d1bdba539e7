/** Problems that `verify` finds, and the sums that hold in every partition. Pure. */

import type { PartitionEntry } from '../../core/partition.ts'

/**
 * `counts`: what is counted differs from what the manifest says. `listing`: two places of the manifest say
 * different things.
 */
export type ProblemKind = 'missing' | 'cut' | 'changed' | 'unreadable' | 'counts' | 'listing'

/** A file that is not as it should be; `path` is below the lake's folder, with `/`. */
export interface Problem {
  readonly path: string
  readonly problem: ProblemKind
  readonly detail: string
}

/** The findings of a check, as they are collected. */
export class Findings {
  readonly problems: Problem[] = []
  readonly notes: string[] = []

  add(path: string, problem: ProblemKind, detail: string): void {
    this.problems.push({ path, problem, detail })
  }
}

const QUARANTINE = 'quarantine'

const sumByTable = (partition: Pick<PartitionEntry, 'files'>): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { table, rows } of partition.files) sums.set(table, (sums.get(table) ?? 0) + rows)
  return sums
}

/** Sums that do not hold: lines = records + quarantined + filtered; rows of a table = the sum over its files; both over its sources. */
export const arithmeticProblems = (
  partition: Pick<PartitionEntry, 'counts' | 'files' | 'sources'>,
): string[] => {
  const { lines, records, quarantined, filtered = 0, rows } = partition.counts
  const sums = sumByTable(partition)
  const problems: string[] = []
  if (lines !== records + quarantined + filtered)
    problems.push(
      `${lines} lines are not ${records} records, ${quarantined} quarantined and ${filtered} filtered`,
    )
  for (const [name, said] of Object.entries({ lines, records, quarantined, filtered })) {
    const ofSources = partition.sources?.reduce(
      (sum, { counts }) => sum + (Reflect.get(counts, name) ?? 0),
      0,
    )
    if (ofSources !== undefined && ofSources !== said)
      problems.push(`${said} ${name}, but ${ofSources} of its sources`)
  }
  const kept = sums.get(QUARANTINE) ?? 0
  if (kept !== quarantined) problems.push(`${quarantined} quarantined, but ${kept} rows in its files`)
  for (const table of new Set([...sums.keys(), ...Object.keys(rows)])) {
    const said = rows[table] ?? (table === QUARANTINE ? kept : 0)
    const summed = sums.get(table) ?? 0
    if (said !== summed) problems.push(`${said} rows of table "${table}", but ${summed} in its files`)
  }
  return problems
}
