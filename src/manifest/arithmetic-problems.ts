/** The sums that hold in every partition. Pure. */

import type { PartitionEntry } from '../core/partition.ts'

const QUARANTINE = 'quarantine'

const sumByTable = (partition: Pick<PartitionEntry, 'files'>): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { table, rows } of partition.files) sums.set(table, (sums.get(table) ?? 0) + rows)
  return sums
}

/** What does not add up: lines = records + quarantined; rows of a table = the sum over its files. */
export const arithmeticProblems = (partition: Pick<PartitionEntry, 'counts' | 'files'>): string[] => {
  const { lines, records, quarantined, rows } = partition.counts
  const sums = sumByTable(partition)
  const problems: string[] = []
  if (lines !== records + quarantined)
    problems.push(`${lines} lines are not ${records} records and ${quarantined} quarantined`)
  const kept = sums.get(QUARANTINE) ?? 0
  if (kept !== quarantined) problems.push(`${quarantined} quarantined, but ${kept} rows in its files`)
  for (const table of new Set([...sums.keys(), ...Object.keys(rows)])) {
    const said = rows[table] ?? (table === QUARANTINE ? kept : 0)
    const summed = sums.get(table) ?? 0
    if (said !== summed) problems.push(`${said} rows of table "${table}", but ${summed} in its files`)
  }
  return problems
}
