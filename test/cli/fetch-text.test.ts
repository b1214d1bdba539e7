import { expect, test } from 'vitest'
import { longCheckText } from '../../src/cli/output/show-fetch.ts'

test('longCheckText names --unchecked before a first read of more than 10 GB, and only then', () => {
  const begin = { phase: 'checking', files: 0, filesTotal: 40, bytes: 0, bytesTotal: 12e9 } as const
  expect(longCheckText(begin)).toBe(
    'Comparing 12.0 GB that this machine has not read before with their hashes; --unchecked compares lengths only',
  )
  expect(longCheckText({ ...begin, bytesTotal: 9e9 })).toBeUndefined()
  expect(longCheckText({ ...begin, bytes: 1 })).toBeUndefined()
  expect(longCheckText({ ...begin, phase: 'fetching' })).toBeUndefined()
})
