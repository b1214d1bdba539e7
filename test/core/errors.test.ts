import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { errorText } from '../../src/cli/output/report-error.ts'
import {
  failureOf,
  isFinal,
  openFilesError,
  systemError,
  ToolkitError,
  writeError,
} from '../../src/core/errors.ts'

/** An error as Node's file system gives it. */
const failed = (code: string, syscall: string, path = '/lake/x'): Error =>
  Object.assign(new Error(`${code}: as the system says, ${syscall} '${path}'`), { code, syscall, path })

test.each([
  ['ENOSPC', 'DISK_FULL', 'the disk is full'],
  ['EDQUOT', 'DISK_FULL', 'the quota of the disk is used up'],
  ['EIO', 'WRITE_FAILED', 'the disk failed (EIO)'],
  ['EROFS', 'WRITE_FAILED', 'the file system is read-only'],
  ['EACCES', 'WRITE_FAILED', 'permission is denied'],
  ['EPERM', 'WRITE_FAILED', 'permission is denied'],
  ['ENOENT', 'WRITE_FAILED', 'its folder does not exist'],
  ['EMFILE', 'OPEN_FILES_LIMIT', 'the process has too many files open (EMFILE)'],
  ['ENFILE', 'OPEN_FILES_LIMIT', 'the system has too many files open (ENFILE)'],
  ['EBUSY', 'WRITE_FAILED', 'EBUSY: as the system says'],
] as const)('writeError of %s is %s and says it in words', (system, code, words) => {
  const error = writeError('Cannot write "x"', failed(system, 'write'))
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(`Cannot write "x": ${words}`)])
})

test.each([
  ['IO Error: Could not write file "x": No space left on device', 'DISK_FULL', 'the disk is full'],
  ['IO Error: Could not write file "x": Input/output error', 'WRITE_FAILED', 'the disk failed (EIO)'],
  ['IO Error: Cannot open file "x": Too many open files', 'OPEN_FILES_LIMIT', '(EMFILE), raise its limit'],
  [
    'IO Error: Cannot open file "x": Too many open files in system',
    'OPEN_FILES_LIMIT',
    '(ENFILE), end other',
  ],
  ['IO Error: Cannot open file "x": Read-only file system', 'WRITE_FAILED', 'the file system is read-only'],
  ['IO Error: Cannot open file "y": No such file or directory', 'WRITE_FAILED', 'Cannot open file "y"'],
  ['IO Error: Cannot open file "y": Permission denied', 'WRITE_FAILED', 'Cannot open file "y"'],
] as const)('writeError reads the text of DuckDB: %s', (text, code, words) => {
  const error = writeError('Cannot write "x"', new Error(text))
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(words)])
})

test.each([
  ['EIO', 'read', 'SOURCE_UNREADABLE'],
  ['ENOENT', 'open', 'SOURCE_UNREADABLE'],
  ['EACCES', 'scandir', 'SOURCE_UNREADABLE'],
  ['EROFS', 'open', 'WRITE_FAILED'],
  ['EMFILE', 'open', 'OPEN_FILES_LIMIT'],
  ['ENFILE', 'scandir', 'OPEN_FILES_LIMIT'],
  ['EMFILE', 'copyfile', 'OPEN_FILES_LIMIT'],
  ['ENOSPC', 'write', 'DISK_FULL'],
  ['EIO', 'fsync', 'WRITE_FAILED'],
  ['ENOENT', 'mkdir', 'WRITE_FAILED'],
])('%s of %s that nobody has put into words is %s, never UNEXPECTED', (system, call, code) => {
  const text = errorText(failed(system, call))
  expect(text).toContain(`error ${code}: `)
  expect(text).toContain('"/lake/x"')
})

test('openFilesError knows one of ours, of the system and of DuckDB, and takes nothing else for one', () => {
  const own = new ToolkitError('OPEN_FILES_LIMIT', 'Cannot read "x"')
  expect(openFilesError('Cannot go on', own)).toBe(own)
  for (const error of [
    failed('EMFILE', 'open'),
    new Error('IO Error: Cannot open file "x": Too many open files'),
  ])
    expect(openFilesError('Cannot go on', error)).toMatchObject({
      code: 'OPEN_FILES_LIMIT',
      message: expect.stringMatching(/^Cannot go on: .*ulimit -n/),
      cause: error,
    })
  for (const other of [
    failed('ENOENT', 'open', '/too many open files'),
    new ToolkitError('USAGE', 'x'),
    'EMFILE',
  ])
    expect(openFilesError('Cannot go on', other)).toBeUndefined()
})

test('a run that stopped because no file could be opened says so, and may be resumed', () => {
  const failure = failureOf(failed('EMFILE', 'open'))
  expect([failure?.code, failure && isFinal(failure)]).toEqual(['OPEN_FILES_LIMIT', false])
})

test('systemError takes the real errors of the file system, and leaves others alone', async () => {
  const absent = await readFile('/no/such/file').catch((error: unknown) => error)
  expect(systemError(absent)).toMatchObject({ code: 'SOURCE_UNREADABLE' })
  expect(systemError(new TypeError('a fault'))).toBeUndefined()
  expect(systemError(new ToolkitError('USAGE', 'x'))).toBeUndefined()
})

test('isFinal tells what comes again however often a source is read from what may pass', () => {
  for (const code of ['DECODE_DAMAGED', 'SOURCE_FORM', 'DOCUMENT_DAMAGED', 'CONTENT_UNKNOWN'])
    expect([code, isFinal({ code })]).toEqual([code, true])
  for (const code of ['SERVICE_BUSY', 'DISK_FULL', 'COMMIT_CONFLICT', 'NO_CODE_OF_OURS'])
    expect([code, isFinal({ code })]).toEqual([code, false])
})
