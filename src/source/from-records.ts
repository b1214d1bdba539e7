/** Records of a program as a source: each becomes a line of JSON Lines. What is wrong with one, the checker says. */

import { createHash } from 'node:crypto'
import { ToolkitError } from '../core/errors.ts'
import { AS_OF_BEGIN, type Fingerprint, type Source } from '../core/source.ts'
import { instantUntil } from '../support/instants.ts'

/** Objects as the interface spells them, one a record. */
export type Records = AsyncIterable<unknown> | Iterable<unknown>

/** Bytes handed on at once. */
const CHUNK_CHARACTERS = 1 << 18

/** Integers beyond 2^53 keep their digits. */
const exact = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value

const notJson = (name: string, number: number, cause?: unknown): ToolkitError =>
  new ToolkitError(
    'SOURCE_FORM',
    `Cannot read record ${number} of "${name}": it is no JSON value, expected an object without circles`,
    { source: name, record: number },
    cause,
  )

const lineOf = (record: unknown, name: string, number: number): string => {
  let text: string | undefined
  try {
    text = JSON.stringify(record, exact)
  } catch (error) {
    throw notJson(name, number, error)
  }
  if (text === undefined) throw notJson(name, number)
  return `${text}\n`
}

/** An error of the iterable is the program's own, and may quote data: it stays the cause. */
const unreadable = (name: string, number: number, cause: unknown): ToolkitError =>
  cause instanceof ToolkitError
    ? cause
    : new ToolkitError(
        'SOURCE_UNREADABLE',
        `Cannot read "${name}" beyond record ${number}: its iterable threw an error, which is the cause of this one`,
        { source: name, record: number },
        cause,
      )

async function* linesOf(name: string, records: Records, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let [text, number] = ['', 0]
  try {
    for await (const record of records) {
      signal?.throwIfAborted()
      number += 1
      text += lineOf(record, name, number)
      if (text.length < CHUNK_CHARACTERS) continue
      yield Buffer.from(text)
      text = ''
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw unreadable(name, number, error)
  }
  if (text !== '') yield Buffer.from(text)
}

/** Hands chunks on, and reports the hash of all of them at the end. */
async function* hashing(
  chunks: AsyncIterable<Buffer>,
  onEnd: (fingerprint: Fingerprint) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
    yield chunk
  }
  onEnd({ bytes, sha256: hash.digest('hex') })
}

const changed = (name: string): ToolkitError =>
  new ToolkitError(
    'SOURCE_CHANGED',
    `Cannot trust what was read of "${name}": its function gave other records the second time, expected the same`,
    { source: name },
  )

export interface GivenRecordsOptions {
  /** The instant at which the service said them: of one company the latest is current. @default the begin of the load */
  readonly asOf?: Date | string | undefined
}

/** @throws {RangeError} for what is no instant, or one of the future */
const instantGiven = (name: string, asOf: Date | string | undefined): string => {
  if (asOf === undefined) return AS_OF_BEGIN
  const instant = instantUntil(typeof asOf === 'string' ? asOf : asOf.toISOString(), Date.now())
  if (instant !== undefined) return instant
  throw new RangeError(
    `Cannot take the records of "${name}" as of ${String(asOf)}: expected a date or date-time until now, such as "2026-01-31T12:00:00Z"`,
  )
}

/**
 * A source of records that a program has: from a queue, another database, an interface of its own. They are checked,
 * quarantined and counted as lines of a file are; the manifest has their length and SHA-256 as JSON Lines, so that equal
 * records are not loaded twice.
 *
 * Shape: one object a record, as the interface spells it (`{ BasicDetails: { InternalId: 1, … }, … }`); all of one source
 * are companies, or all are relations. A bigint keeps its digits.
 *
 * Resuming: an iterable can be read once. An interrupted run over it cannot be resumed, neither by `resume` nor by the same
 * call, which starts again. A **function** that returns the same records each time is called twice, once to hash and once
 * to load; the same call then resumes at the last finished partition.
 *
 * @param name how the manifest and the quarantine call it
 * @param records what is iterated, or a function that returns a new iterable each time
 * @param options `asOf`: when the service said them. @default the begin of the load
 * @throws {ToolkitError} `SOURCE_FORM` while it is read, where a record is no JSON value; `SOURCE_CHANGED` where a
 *   function gives other records the second time; and whatever the iterable throws
 * @example
 * import { convert, fromRecords } from 'firmlake'
 *
 * async function* newCompanies() {
 *   yield { BasicDetails: { InternalId: 17, CompanyName: 'Seventeen AB', CountryCode: 'SE' } }
 * }
 * const { records, quarantined } = await convert({ from: fromRecords('crm', newCompanies()), lake: './lake' })
 * console.log(records, quarantined) // 1 0
 */
export const fromRecords = (
  name: string,
  records: Records | (() => Records),
  { asOf }: GivenRecordsOptions = {},
): Source => {
  // Whatever its name ends with, nothing of it is compressed.
  const common = { name, decodeName: 'records.jsonl', asOf: instantGiven(name, asOf) } as const
  if (typeof records !== 'function')
    return { ...common, kind: 'stdin', open: (signal) => linesOf(name, records, signal) }
  let first: Fingerprint | undefined
  return {
    ...common,
    kind: 'file',
    fingerprint: async (signal) => {
      let found: Fingerprint = { bytes: 0, sha256: '' }
      for await (const _ of hashing(linesOf(name, records(), signal), (all) => (found = all)));
      first = found
      return found
    },
    open: (signal) =>
      hashing(linesOf(name, records(), signal), ({ sha256 }) => {
        if (first !== undefined && first.sha256 !== sha256) throw changed(name)
      }),
  }
}
