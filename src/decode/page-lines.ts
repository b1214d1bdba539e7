/** Page bodies to JSON Lines. Knows where a page keeps its records and their ids, no more of them. */

import { ToolkitError } from '../core/errors.ts'
import { isOpening, JSON_BYTES, wholeIn } from '../support/json-bytes.ts'
import { type Damage, RecordSplitter } from './split-records.ts'

const { LINE_FEED, QUOTE } = JSON_BYTES

const MINIFIED = { list: 'Companies', id: ['MinifiedInfo', 'InternalId'] } as const
/** The list of each kind of page, the path of an element's id, and whether ids increase. */
const KINDS = {
  companies: { list: 'Companies', id: ['BasicDetails', 'InternalId'], ordered: true },
  minified: { ...MINIFIED, ordered: true },
  /** Minified, in an order that was asked for. */
  sorted: { ...MINIFIED, ordered: false },
  relations: { list: 'Relations', id: ['InternalId'], ordered: true },
} as const
export type PageKind = keyof typeof KINDS

export interface PageLines {
  /** JSON Lines: each element of the page on its own line, which ends with `\n`. */
  readonly lines: Buffer
  readonly records: number
  /** `InternalId` of the elements that have one, strictly increasing but in a sorted page; at most `records`. */
  readonly ids: BigInt64Array
}

const refused = ({
  kind,
  found,
  expected,
  offset,
}: Pick<Damage, 'kind' | 'found' | 'expected' | 'offset'>): ToolkitError =>
  new ToolkitError(
    'ANSWER_INVALID',
    `Cannot read a page: at byte ${offset + 1} ${found}, expected ${expected}`,
    { kind },
  )

/** A number, `true`, `false` or `null` that stands from a place to another. */
const isWord = (body: Buffer, from: number, to: number): boolean =>
  /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(body.toString('latin1', from, to))

/**
 * Takes a page's body apart: its own bytes become the lines. Raw line ends in an element become spaces. An element without an id is
 * a line all the same.
 *
 * @throws {ToolkitError} ANSWER_INVALID with `context.kind` `'half'` where the body is not one whole JSON
 *   document (ask again), or `'form'` where it has no such list; ANSWER_DISORDERED where ids do not increase
 */
export const pageLines = (body: Buffer, kind: PageKind): PageLines => {
  const { list, id: path, ordered } = KINDS[kind]
  const ids: bigint[] = []
  let [records, size] = [0, 0]
  const take = (from: number, to: number, isRecord: boolean): void => {
    const first = body[from] ?? 0
    if (first !== QUOTE && !isOpening(first) && !isWord(body, from, to))
      throw refused({ kind: 'half', found: 'it has something else', expected: 'a value', offset: from })
    if (!isRecord) return
    const id = wholeIn(body, from, path)
    if (id !== undefined) addId(ids, id, ordered)
    body.copyWithin(size, from, to)
    size += to - from
    body[size++] = LINE_FEED
    records++
  }
  const splitter = new RecordSplitter({ form: 'answer', lists: [list], refuse: refused, take })
  splitter.push(body)
  splitter.end()
  return { lines: body.subarray(0, size), records, ids: BigInt64Array.from(ids) }
}

/** @throws {ToolkitError} ANSWER_DISORDERED */
const addId = (ids: bigint[], id: bigint, ordered: boolean): void => {
  const last = ids.at(-1)
  if (ordered && last !== undefined && id <= last)
    throw new ToolkitError(
      'ANSWER_DISORDERED',
      `Cannot read a page: InternalId ${id} comes after ${last}, expected a greater one`,
    )
  ids.push(id)
}
