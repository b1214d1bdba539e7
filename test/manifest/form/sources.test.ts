import { expect, test } from 'vitest'
import type { PartitionEntry } from '../../../src/core/partition.ts'
import {
  loadedSources,
  namesPersons,
  recordedSearch,
  sourceKey,
  splitLoaded,
} from '../../../src/manifest/form/sources.ts'

const partition = (sha256: string, block: number, last: boolean, run = 'r1'): PartitionEntry => ({
  id: `${run}-${sha256}-${block}`,
  run,
  content: 'companies',
  source: { kind: 'file', name: 'a', bytes: 1, sha256, block, firstLine: block + 1, offset: block, last },
  range: { field: 'ContentUpdatedAt', requested: null, observed: null },
  counts: { lines: 0, records: 0, quarantined: 0, rows: {} },
  files: [],
  drift: [],
})

const idsOf = (partitions: readonly PartitionEntry[]): string[] => partitions.map(({ id }) => id)

test('loadedSources names a source with all its blocks', () => {
  const loaded = loadedSources({ partitions: [partition('a', 1, true), partition('a', 0, false)] })
  expect([...loaded]).toEqual([sourceKey('companies', 'a')])
})

test.each([
  ['its last block', [partition('a', 0, false)]],
  ['a block before the last', [partition('a', 1, true)]],
  ['a block that only another run has', [partition('a', 0, false, 'r1'), partition('a', 1, true, 'r2')]],
])('loadedSources leaves out a source without %s', (_, partitions) => {
  expect(loadedSources({ partitions }).size).toBe(0)
})

test('splitLoaded drops what the snapshot holds, of the same content only', () => {
  const snapshot = { partitions: [partition('a', 0, true)] }
  const own = [partition('a', 0, true, 'r2'), partition('b', 0, true, 'r2')]
  expect(idsOf(splitLoaded(snapshot, own).kept)).toEqual(['r2-b-0'])
  expect(idsOf(splitLoaded(snapshot, own).dropped)).toEqual(['r2-a-0'])
  const relations = [{ ...partition('a', 0, true, 'r2'), content: 'relations' as const }]
  expect(splitLoaded(snapshot, relations).kept).toHaveLength(1)
})

test('splitLoaded drops a second copy of a file within one run', () => {
  const copy = { ...partition('a', 0, true), id: 'copy' }
  expect(idsOf(splitLoaded(null, [partition('a', 0, true), copy]).dropped)).toEqual(['copy'])
})

const NUMBER = '19500101-1234'

test('recordedSearch keeps of numbers of persons how many there are, and all else as it is', () => {
  const search = { nationalIdentificationNumber: [NUMBER, 77], CountryCode: ['SE'], NetSales: [5] }
  expect(recordedSearch(search)).toEqual({
    nationalIdentificationNumber: ['2 values'],
    CountryCode: ['SE'],
    NetSales: [5],
  })
})

test('namesPersons knows the parameter in any letter case', () => {
  expect(namesPersons({ nationalidentificationnumber: [NUMBER] })).toBe(true)
  expect(namesPersons({ CountryCode: ['SE'] })).toBe(false)
})
