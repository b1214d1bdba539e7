import { expect, test } from 'vitest'
import { fetchText } from '../../src/cli/fetch-text.ts'

test('fetchText tells files and bytes of those that are fetched, and 100 % only when all are here', () => {
  expect(
    fetchText({ phase: 'fetching', files: 3, filesTotal: 10, bytes: 1_500_000, bytesTotal: 6_000_000 }),
  ).toBe('Fetching 3/10 files  25 %  1.50 MB')
  expect(fetchText({ phase: 'fetching', files: 0, filesTotal: 1, bytes: 9999, bytesTotal: 10_000 })).toBe(
    'Fetching 0/1 file  99 %  10.0 kB',
  )
})
