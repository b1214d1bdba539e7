import { expect, test } from 'vitest'
import { errorText } from '../../../src/cli/output/report-error.ts'
import { ToolkitError } from '../../../src/core/errors.ts'
import { EXIT, exitCodeOf } from '../../../src/core/exit-codes.ts'

test('errorText names the code, the message and what to do, and no stack', () => {
  expect(errorText(new ToolkitError('LAKE_NOT_FOUND', 'Cannot open lake "x": no folder "_manifest"'))).toBe(
    'error LAKE_NOT_FOUND: Cannot open lake "x": no folder "_manifest"\n' +
      '  the folder holds no lake; check --lake, or make one with "firmlake convert"\n',
  )
})

test.each([
  ['names the option of the remedy itself', 'CONTENT_UNKNOWN', 'Cannot tell, give --content', ''],
  [
    'names its command with options',
    'QUARANTINE_LIMIT',
    'Cannot commit: more than --max-quarantined allows; see "firmlake quarantine list --lake x"',
    '',
  ],
  ['is what the remedy points to', 'PACKAGE_MISSING', 'Cannot pull: run "npm install x"', ''],
  [
    'says the meaning alone',
    'TOKEN_REFUSED',
    'Cannot pull: the service does not accept the token (401)',
    '  get a new token\n',
  ],
  [
    'says the meaning by its option',
    'SERVICE_BUSY',
    'Cannot pull: Retry-After: 3600 exceeds --max-wait',
    '  run the same command again later\n',
  ],
] as const)('errorText repeats nothing of a message that %s', (_what, code, message, more) => {
  expect(errorText(new ToolkitError(code, message))).toBe(`error ${code}: ${message}\n${more}`)
})

test('errorText for programs is one line of JSON with code, message and context', () => {
  const text = errorText(new ToolkitError('RUN_LIVE', 'Cannot\ntake over', { run: 'r1' }), { json: true })
  expect(text.trimEnd()).not.toContain('\n')
  expect(JSON.parse(text)).toEqual({
    error: { code: 'RUN_LIVE', message: 'Cannot\ntake over', context: { run: 'r1' } },
  })
})

test("errorText keeps DuckDB's words to itself, because they quote data", () => {
  const error = new Error('Conversion Error: Could not convert string "Ada Secret" to INT64')
  expect(errorText(error)).toContain('error ENGINE_FAILED: DuckDB gave up with "Conversion Error"')
  expect(errorText(error)).not.toContain('Ada')
  expect(errorText(error, { debug: true })).toContain('Ada')
})

test('errorText says how much memory was used up, and what gives more', () => {
  const error = new Error(
    'Out of Memory Error: failed to pin block of size 256.0 KiB (199.8 MiB/200.0 MiB used)\n\nPossible solutions:\n* …',
  )
  expect(errorText(error)).toBe(
    'error MEMORY_FULL: Cannot go on: DuckDB ran out of memory (199.8 MiB/200.0 MiB used)\n' +
      '  DuckDB needs more memory than it was given; raise --memory, or give fewer --threads\n',
  )
})

test('errorText shows control characters instead of obeying them', () => {
  expect(errorText(new Error('a\u001b[2Jb'))).toContain('error UNEXPECTED: a\\u001b[2Jb\n')
})

test('errorText keeps the lines of a message, which point into a statement', () => {
  const error = new ToolkitError('QUERY_FAILED', 'Parser Error\n\nLINE 1: SELEC 1\n        ^')
  expect(errorText(error)).toContain('error QUERY_FAILED: Parser Error\n  \n  LINE 1: SELEC 1\n          ^\n')
})

test('exitCodeOf follows the code', () => {
  const codes = (['USAGE', 'QUARANTINE_LIMIT', 'INTERRUPTED', 'QUERY_REFUSED'] as const).map((code) =>
    exitCodeOf(new ToolkitError(code, 'x')),
  )
  expect(codes).toEqual([EXIT.usage, EXIT.quarantine, EXIT.interrupted, EXIT.failed])
  expect(exitCodeOf(new ToolkitError('INTERRUPTED', 'x'), 'SIGTERM')).toBe(EXIT.terminated)
  expect(exitCodeOf(new Error('x'))).toBe(EXIT.failed)
})
