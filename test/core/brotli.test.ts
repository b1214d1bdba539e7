import { expect, test } from 'vitest'
import { type BrotliOrigin, brotliDecoders, FIXED_NODE, mayDecodeBrotli } from '../../src/core/brotli.ts'

const UNSAFE = { FIRMLAKE_UNSAFE_NODE: '1' }

/** The releases of 21 October 2026 that mend CVE-2026-111497, and their neighbours. */
test.for([
  ['22.19.0', false],
  ['22.23.3', false],
  ['22.23.4', true],
  ['22.24.0', true],
  ['23.11.1', false],
  ['24.21.0', false],
  ['24.22.0', false],
  ['24.22.1', true],
  ['25.9.0', false],
  ['26.0.0', false],
  ['26.12.0', false],
  ['26.12.1', true],
  ['27.0.0', true],
  // A build of one's own shows nothing.
  ['26.12.1-pre', false],
] as const)('Brotli in Node %s: %s', ([node, isSafe]) => {
  for (const origin of ['file', 'service'] satisfies BrotliOrigin[]) {
    expect(mayDecodeBrotli(origin, { node, env: {} })).toBe(isSafe)
    expect(mayDecodeBrotli(origin, { node, env: UNSAFE })).toBe(isSafe || origin === 'file')
  }
})

test('a vulnerable Node is refused in one line that names the fixed releases, and a way for files of one alone', () => {
  const message =
    'Cannot decode "x.br": Brotli data can overwrite the memory of Node 24.21.0 (CVE-2026-111497), ' +
    'expected Node 22.23.4, 24.22.1, 26.12.1 or a later release of these'
  const refused = (origin: BrotliOrigin) => () =>
    brotliDecoders('Cannot decode "x.br"', origin, { node: '24.21.0', env: {} })
  expect(refused('service')).toThrow(
    expect.objectContaining({ code: 'NODE_VULNERABLE', message, context: { node: '24.21.0' } }),
  )
  expect(refused('file')).toThrow(`${message}; FIRMLAKE_UNSAFE_NODE=1 allows it for files of your own`)
  expect(FIXED_NODE).toBe('Node 22.23.4, 24.22.1, 26.12.1 or a later release of these')
})
