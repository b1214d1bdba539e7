import { expect, test } from 'vitest'
import type { Counts, FileEntry, PartitionEntry } from '../../../src/core/partition.ts'
import { arithmeticProblems } from '../../../src/manifest/form/problems.ts'

const file = (table: string, rows: number): FileEntry => ({ table, path: '', rows, bytes: 0, sha256: '' })

const problemsOf = (counts: Counts, files: readonly FileEntry[]): string[] => {
  const partition: Pick<PartitionEntry, 'counts' | 'files'> = { counts, files }
  return arithmeticProblems(partition)
}

test('arithmeticProblems finds none where all adds up', () => {
  const counts = { lines: 5, records: 4, quarantined: 1, rows: { companies: 4, financials: 0 } }
  expect(problemsOf(counts, [file('companies', 3), file('companies', 1), file('quarantine', 1)])).toEqual([])
})

test('arithmeticProblems counts what a load has left out', () => {
  const counts = { lines: 5, records: 3, quarantined: 1, filtered: 1, rows: { companies: 3 } }
  expect(problemsOf(counts, [file('companies', 3), file('quarantine', 1)])).toEqual([])
  expect(problemsOf({ ...counts, filtered: 2 }, [file('companies', 3), file('quarantine', 1)])).toEqual([
    '5 lines are not 3 records, 1 quarantined and 2 filtered',
  ])
})

test.each([
  ['lines', { lines: 5, records: 4, quarantined: 0, rows: {} }, []],
  ['quarantined lines', { lines: 1, records: 0, quarantined: 1, rows: {} }, []],
  ['rows', { lines: 4, records: 4, quarantined: 0, rows: { companies: 4 } }, [file('companies', 3)]],
  ['rows of no file', { lines: 4, records: 4, quarantined: 0, rows: { companies: 4 } }, []],
  ['rows of no count', { lines: 4, records: 4, quarantined: 0, rows: {} }, [file('companies', 4)]],
])('arithmeticProblems finds %s that do not add up', (_, counts, files) => {
  expect(problemsOf(counts, files)).toHaveLength(1)
})
