import { expect, test } from 'vitest'
import { fetchText, longCheckText } from '../../src/cli/output/show-fetch.ts'

test('fetchText tells files and bytes of those that are fetched, and 100 % only when all are here', () => {
  expect(
    fetchText({ phase: 'fetching', files: 3, filesTotal: 10, bytes: 1_500_000, bytesTotal: 6_000_000 }),
  ).toBe('Fetching 3/10 files  25 %  1.50 MB')
  expect(fetchText({ phase: 'fetching', files: 0, filesTotal: 1, bytes: 9999, bytesTotal: 10_000 })).toBe(
    'Fetching 0/1 file  99 %  10.0 kB',
  )
})

test('longCheckText names --unchecked before a first read of more than 10 GB, and only then', () => {
  const begin = { phase: 'checking', files: 0, filesTotal: 40, bytes: 0, bytesTotal: 12e9 } as const
  expect(longCheckText(begin)).toBe(
    'Comparing 12.0 GB that this machine has not read before with their hashes; --unchecked compares lengths only',
  )
  expect(longCheckText({ ...begin, bytesTotal: 9e9 })).toBeUndefined()
  expect(longCheckText({ ...begin, bytes: 1 })).toBeUndefined()
  expect(longCheckText({ ...begin, phase: 'fetching' })).toBeUndefined()
})
