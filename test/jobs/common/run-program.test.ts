import { afterEach, expect, test, vi } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { runProgram } from '../../../src/jobs/run-program.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

/** What a program prints, and the exit code that it sets. */
const ran = async (...work: Parameters<typeof runProgram>): Promise<unknown> => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  await runProgram(...work)
  return { code: process.exitCode, lines: lines.map((line) => JSON.parse(line)) }
}

test('runProgram prints what was reported and returned as one line', async () => {
  const program = ran(async ({ report }) => {
    report({ first: 1 })
    return { second: 2 }
  })
  expect(await program).toEqual({
    code: undefined,
    lines: [{ outcome: 'done', first: 1, second: 2, seconds: expect.any(Number) }],
  })
})

test.each([
  ['later', 75, new ToolkitError('SERVICE_BUSY', 'Cannot go on')],
  ['failed', 2, new ToolkitError('TOKEN_MISSING', 'Cannot call the service')],
  ['failed', 3, new ToolkitError('QUARANTINE_LIMIT', 'Cannot commit')],
  ['failed', 1, new ToolkitError('DISK_FULL', 'Cannot write')],
])('runProgram ends as %s with %i, and prints what was finished before', async (outcome, code, error) => {
  const program = ran(async ({ report }) => {
    report({ first: 1 })
    throw error
  })
  const { code: name, message } = error
  expect(await program).toMatchObject({
    code,
    lines: [{ outcome, first: 1, error: { code: name, message } }],
  })
})

test('runProgram keeps the words of other errors to itself', async () => {
  const program = ran(async () => {
    throw new Error('row of Anna Andersson')
  })
  expect(await program).toMatchObject({
    code: 1,
    lines: [{ outcome: 'failed', error: { code: 'UNEXPECTED' } }],
  })
  expect(JSON.stringify(await program)).not.toContain('Andersson')
})

test('runProgram is stopped by SIGTERM with 143, and listens to no signal afterwards', async () => {
  const before = process.listenerCount('SIGTERM')
  const program = ran(async ({ signal }) => {
    process.emit('SIGTERM', 'SIGTERM')
    expect(signal.aborted).toBe(true)
    throw new ToolkitError('INTERRUPTED', 'The run was stopped')
  })
  expect(await program).toMatchObject({ code: 143, lines: [{ outcome: 'stopped' }] })
  expect(process.listenerCount('SIGTERM')).toBe(before)
})
