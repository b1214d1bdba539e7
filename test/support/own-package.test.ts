import { expect, test } from 'vitest'
import { isInRange } from '../../src/support/own-package.ts'

test.for([
  ['3.1169.0', '^3.1169.0', true],
  ['3.1170.2', '^3.1169.0', true],
  ['3.1168.9', '^3.1169.0', false],
  ['4.0.0', '^3.1169.0', false],
  ['0.2.9', '^0.2.3', true],
  ['0.3.0', '^0.2.3', false],
  ['0.0.4', '^0.0.3', false],
  ['0.301.0', '>=0.200.0 <1', true],
  ['0.199.9', '>=0.200.0 <1', false],
  ['1.0.0', '>=0.200.0 <1', false],
  ['22.19.0', '>=22.19', true],
  ['22.18.9', '>=22.19', false],
  ['100.0.0', '>=22.19', true],
  ['22.23.4', '^22.23.4 || ^24.22.1 || >=26.12.1', true],
  ['22.23.3', '^22.23.4 || ^24.22.1 || >=26.12.1', false],
  ['23.11.1', '^22.23.4 || ^24.22.1 || >=26.12.1', false],
  ['27.0.0', '^22.23.4 || ^24.22.1 || >=26.12.1', true],
  ['8.23.2-beta.1', '^8.23.1', false],
  ['unknown', '^8.23.1', false],
] as const)('isInRange: %s in %s is %s', ([version, range, expected]) => {
  expect(isInRange(version, range)).toBe(expected)
})

test('isInRange refuses a range that it does not know', () => {
  expect(() => isInRange('1.0.0', '1.x || 2')).toThrow(RangeError)
})
