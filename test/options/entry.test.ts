import { expect, test } from 'vitest'
import { optionOf } from '../../src/cli/add-command.ts'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { convertTo } from '../../src/jobs/convert-to.ts'
import { gc } from '../../src/jobs/gc.ts'
import { query } from '../../src/jobs/query.ts'
import { askedOf, type Entry, fileKeyOf, flagOf, readCall } from '../../src/options/entry.ts'
import { EXPECTATIONS } from '../../src/options/expectations.ts'
import { FORGET } from '../../src/options/forget.ts'
import { GC } from '../../src/options/gc.ts'
import { LOAD } from '../../src/options/lake-jobs.ts'
import { DIFF } from '../../src/options/read-jobs.ts'
import { ids, listOfIds, readLimit, seconds } from '../../src/options/value-types.ts'
import { checkTargets, updateTargets } from '../../src/targets/update-targets.ts'

test('an option has three spellings that follow from its name, but where its entry says otherwise', () => {
  expect(flagOf('maxQuarantined', LOAD.maxQuarantined)).toBe('--max-quarantined')
  expect(fileKeyOf('maxQuarantined', LOAD.maxQuarantined)).toBe('max_quarantined')
  expect(flagOf('memoryBytes', LOAD.memoryBytes)).toBe('--memory')
  expect(fileKeyOf('maxAgeMs', EXPECTATIONS.maxAgeMs)).toBe('max_age')
  expect(flagOf('lake', LOAD.lake)).toBe('--lake')
})

const call = (job: (options: never) => Promise<unknown>, options: unknown): Promise<unknown> =>
  job(options as never)

test.each([
  [gc, undefined, 'Cannot call gc: it was given nothing, expected one object with its options'],
  [gc, {}, 'Cannot call gc: "lake" is missing, expected a folder or s3://bucket/prefix'],
  [gc, { lake: 5 }, 'Cannot call gc: "lake" is 5, expected a folder or s3://bucket/prefix'],
  [gc, { lake: 'x', keep: 1.5 }, 'Cannot call gc: "keep" is 1.5, expected a whole number'],
  [gc, { lake: 'x', now: 5 }, 'Cannot call gc: "now" is 5, expected a function'],
  [gc, { lake: 'x', json: true }, 'Cannot call gc: it has no option "json", expected some of lake, keep'],
  [compact, { lake: 'x', dry_run: true }, 'Cannot call compact: it has no option "dry_run"'],
  [
    compact,
    { lake: 'x', publish: ['avro'] },
    '"publish" is a list, expected a list, each one of delta, iceberg',
  ],
  [convert, { lake: 'x' }, 'Cannot call convert: "from" is missing, expected paths and sources'],
  [
    convert,
    { lake: 'x', from: 'y', maxQuarantined: -1 },
    '"maxQuarantined" is -1, expected a count such as 25',
  ],
  [convert, { lake: 'x', from: 'y', maxQuarantined: 1.5 }, 'or a share such as 0.05 or "5%"'],
  [convert, { lake: 'x', from: 'y', signal: {} }, '"signal" is an object, expected an AbortSignal'],
  [
    convertTo,
    { to: 'x', from: [null] },
    'Cannot call convertTo: "from" is a list, expected paths and sources',
  ],
  [query, { lake: 'x' }, 'Cannot call query: "sql" is missing, expected one SELECT'],
] as const)('%o refuses %o', async (job, options, message) => {
  await expect(call(job, options)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(message),
  })
})

test('readCall fills defaults, and reads a limit as a count or as a share', () => {
  const read = (maxQuarantined?: unknown): unknown =>
    readCall('convert', LOAD, { lake: 'x', maxQuarantined }).maxQuarantined
  expect(read()).toEqual({ kind: 'share', share: 0.01 })
  expect(read(0.05)).toEqual({ kind: 'share', share: 0.05 })
  expect(read('5%')).toEqual({ kind: 'share', share: 0.05 })
  expect(read(25)).toEqual({ kind: 'count', lines: 25 })
  expect(read(0)).toEqual({ kind: 'count', lines: 0 })
  expect([1.5, -1, '101%', 'some', Number.NaN].map(readLimit)).toEqual(Array(5).fill(undefined))
})

test('askedOf leaves out what only the command line has', () => {
  expect(askedOf(GC, { lake: 'x', keep: 2, json: true, yes: true })).toEqual({ lake: 'x', keep: 2 })
})

test('seconds of the command line are milliseconds of a call, and ids keep all of their 64 bits', () => {
  expect(seconds.parse('30')).toBe(30_000)
  expect(seconds.parse('0')).toBeUndefined()
  expect(seconds.fits(250)).toBe(true)
  expect(ids.parse('9223372036854775807')).toEqual([9_223_372_036_854_775_807n])
  expect(ids.parse('9223372036854775808')).toBeUndefined()
  expect(listOfIds.parse('7, 9007199254740993')).toEqual([7n, 9_007_199_254_740_993n])
  expect(listOfIds.parse('7,x')).toBeUndefined()
})

test('updateTargets and checkTargets refuse an option that they do not have, before anything is asked', async () => {
  const wrong = { lake: './none', sink: ['csv:out'] }
  for (const call of [updateTargets, checkTargets])
    await expect(call(wrong)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('it has no option "sink"'),
    })
})

test('a wrong id of a person stands in no message, a wrong number of a snapshot does', () => {
  const refused = (name: string, entry: Entry): (() => unknown) => {
    const { parseArg } = optionOf(name, entry)
    return () => parseArg?.('19121212-1212', undefined)
  }
  expect(refused('persons', FORGET.persons)).toThrow(
    /^Cannot read --person: expected the InternalId, a whole number$/,
  )
  expect(refused('from', DIFF.from)).toThrow(
    'Cannot read --from "19121212-1212": expected a whole number from 1',
  )
})
