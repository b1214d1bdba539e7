/** Wrong calls of the library: refused before any work, with what was expected. */

import { expect, test } from 'vitest'
import * as library from '../../../src/index.ts'

type Call = (options: unknown) => unknown

const LAKE = { lake: './nowhere' }
const SERVICE = { url: 'http://127.0.0.1:1' }

/** Each with the least that it takes. */
const CALLS: Readonly<Record<string, object>> = {
  check: LAKE,
  compact: LAKE,
  convert: { ...LAKE, from: 'nothing.jsonl' },
  convertTo: { from: 'nothing.jsonl', to: 'out.csv' },
  copy: { ...LAKE, to: './other' },
  createService: { ...SERVICE, token: 't' },
  deliver: { ...LAKE, sinks: [] },
  diff: LAKE,
  doctor: {},
  exportTables: { ...LAKE, to: 'out.csv' },
  forget: { ...LAKE, companies: [1] },
  gc: LAKE,
  nightly: { env: {}, signal: AbortSignal.timeout(1), report: () => undefined },
  openDiff: LAKE,
  openQuery: LAKE,
  planRun: { ...LAKE, load: 'convert', from: 'nothing.jsonl' },
  publish: { ...LAKE, formats: ['delta'] },
  pull: { ...LAKE, from: SERVICE, content: 'companies', search: {} },
  pullBatchFiles: { ...LAKE, from: { kind: 'batch-files', service: SERVICE } },
  query: { ...LAKE, sql: 'SELECT 1' },
  records: LAKE,
  replay: LAKE,
  report: { ...LAKE, to: 'report.html' },
  resume: LAKE,
  serve: LAKE,
  sync: { ...LAKE, from: SERVICE, search: {} },
  verify: LAKE,
  workRun: { ...LAKE, run: 'a-run', units: [0] },
  commitRun: { ...LAKE, run: 'a-run' },
  runStatus: { ...LAKE, run: 'a-run' },
  cancelRun: { ...LAKE, run: 'a-run' },
}

const callOf = (name: string): Call => {
  const found: unknown = Object.entries(library).find(([exported]) => exported === name)?.[1]
  if (typeof found !== 'function') throw new Error(`The library has no function "${name}"`)
  return (options) => Reflect.apply(found, undefined, [options])
}

/** Whatever way a call fails: at once, as a promise, or at the first item. */
const errorOf = async (name: string, options: unknown): Promise<unknown> => {
  try {
    const made = callOf(name)(options)
    if (typeof made === 'object' && made !== null && Symbol.asyncIterator in made)
      for await (const _ of made as AsyncIterable<unknown>) break
    await made
  } catch (error) {
    return error
  }
  return undefined
}

const usage = (message: RegExp) => ({ code: 'USAGE', message: expect.stringMatching(message) })

test.each(Object.entries(CALLS))('%s refuses a text in place of its options', async (name) => {
  expect(await errorOf(name, './lake')).toMatchObject(usage(/it was given a string, expected one object/))
})

test.each(Object.entries(CALLS))('%s refuses an option that it does not have', async (name, options) => {
  expect(await errorOf(name, { ...options, lakes: './lake' })).toMatchObject(
    usage(/it has no option "lakes", expected some of .+/),
  )
})

test.each(
  Object.entries(CALLS).flatMap(([name, options]) => {
    const [first] = Object.keys(options)
    return first === undefined ? [] : [{ name, first, options }]
  }),
)('$name refuses a missing and a wrong "$first"', async ({ name, first, options }) => {
  const missing = await errorOf(name, { ...options, [first]: undefined })
  expect(missing).toMatchObject(usage(new RegExp(`"${first}" is missing, expected .+`)))
  const wrong = await errorOf(name, { ...options, [first]: 7n })
  expect(wrong).toMatchObject(usage(new RegExp(`"${first}" is a bigint, expected .+`)))
})

test('a refusal quotes no value', async () => {
  const error = await errorOf('createService', { url: 7, token: 'secret-token' })
  expect(String(error)).not.toContain('secret')
})
