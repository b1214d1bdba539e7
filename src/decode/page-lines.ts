/** Page bodies to JSON Lines by a scan of bytes. Knows where a page keeps its records and their ids, no more of them. */

import { ToolkitError } from '../core/errors.ts'
import { JSON_BYTES, NOT_WHOLE, skipSpace, skipText } from '../support/json-bytes.ts'
import { type KeyWatch, skipValue } from './page-scan.ts'

const {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  NO_JSON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} = JSON_BYTES

const ID = Buffer.from('InternalId')
const MINIFIED = { list: Buffer.from('"Companies"'), owner: Buffer.from('MinifiedInfo') }
/** The list of each kind of page, the member of an element that holds its id, and whether ids increase. */
const KINDS = {
  companies: { list: Buffer.from('"Companies"'), owner: Buffer.from('BasicDetails'), ordered: true },
  minified: { ...MINIFIED, ordered: true },
  /** Minified, in an order that was asked for. */
  sorted: { ...MINIFIED, ordered: false },
  relations: { list: Buffer.from('"Relations"'), owner: null, ordered: true },
} as const
export type PageKind = keyof typeof KINDS

export interface PageLines {
  /** JSON Lines: each element of the page on its own line, which ends with `\n`. */
  readonly lines: Buffer
  readonly records: number
  /** `InternalId` of the elements that have one, strictly increasing but in a sorted page; at most `records`. */
  readonly ids: BigInt64Array
}

const half = (what: string, at: number): ToolkitError =>
  new ToolkitError(
    'ANSWER_INVALID',
    `Cannot read a page: it is no whole JSON document, ${what} at byte ${at + 1}`,
    {
      kind: 'half',
    },
  )
const formless = (list: Buffer, said: string): ToolkitError =>
  new ToolkitError(
    'ANSWER_INVALID',
    `Cannot read a page: ${said} list ${list.toString('latin1')} at its top`,
    {
      kind: 'form',
    },
  )

/** @returns `to` @throws {ToolkitError} where a step has come to no end */
const stepTo = (to: number, from: number): number => {
  if (to === NOT_WHOLE) throw half('a value without an end', from)
  return to
}

/** The id whose value begins at `at`: 64 bits, also in quotes or with a fraction of zero; else `null`. */
const idAt = (body: Buffer, at: number): bigint | null => {
  const written = /^"?(-?\d{1,19})"?\s*[,}]/.exec(body.toString('latin1', at, at + 40))?.[1]
  if (written !== undefined) {
    const id = BigInt(written)
    return BigInt.asIntN(64, id) === id ? id : null
  }
  const number = Number(
    /^-?[\d.]+(?:[eE][+-]?\d+)?/.exec(body.toString('latin1', at, at + 64))?.[0] ?? 'none',
  )
  return Number.isSafeInteger(number) ? BigInt(number) : null
}

/** Collects lines; the bytes of an element are copied once. */
class LineWriter {
  readonly #body: Buffer
  /** No line is longer than its element with the comma or bracket behind it. */
  readonly #out: Buffer
  #size = 0
  /** Next line end in the body, so that most elements need not be looked through. */
  #nextEnd = -2

  constructor(body: Buffer) {
    this.#body = body
    this.#out = Buffer.allocUnsafe(body.length)
  }

  add(from: number, to: number): void {
    const start = this.#size
    this.#size += this.#body.copy(this.#out, start, from, to)
    if (this.#hasLineEnd(from, to)) this.#flatten(start)
    this.#out[this.#size++] = LINE_FEED
  }

  #hasLineEnd(from: number, to: number): boolean {
    if (this.#nextEnd === -1) return false
    if (this.#nextEnd < from) {
      const [feed, carriage] = [
        this.#body.indexOf(LINE_FEED, from),
        this.#body.indexOf(CARRIAGE_RETURN, from),
      ]
      this.#nextEnd = feed === -1 || (carriage !== -1 && carriage < feed) ? carriage : feed
    }
    return this.#nextEnd !== -1 && this.#nextEnd < to
  }

  #flatten(start: number): void {
    let inText = false
    for (let at = start; at < this.#size; at++) {
      const byte = this.#out[at]
      if (byte === QUOTE) inText = !inText
      else if (byte === BACKSLASH && inText && this.#out[at + 1] !== LINE_FEED) at++
      else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) this.#out[at] = inText ? NO_JSON : SPACE
    }
  }

  take(): Buffer {
    return this.#out.subarray(0, this.#size)
  }
}

/** Ids in the order of the page. */
class IdList {
  readonly #ordered: boolean
  #ids = new BigInt64Array(512)
  #count = 0

  constructor(ordered: boolean) {
    this.#ordered = ordered
  }

  /** @throws {ToolkitError} ANSWER_DISORDERED */
  add(id: bigint): void {
    const last = this.#count === 0 ? undefined : this.#ids[this.#count - 1]
    if (this.#ordered && last !== undefined && id <= last) {
      throw new ToolkitError(
        'ANSWER_DISORDERED',
        `Cannot read a page: InternalId ${id} comes after ${last}, expected a greater one`,
      )
    }
    if (this.#count === this.#ids.length) {
      const wider = new BigInt64Array(this.#count * 2)
      wider.set(this.#ids)
      this.#ids = wider
    }
    this.#ids[this.#count++] = id
  }

  take(): BigInt64Array {
    return this.#ids.slice(0, this.#count)
  }
}

/** Takes the elements of the list that begins at `from`; returns the position behind it. */
const takeList = (
  body: Buffer,
  from: number,
  owner: Buffer | null,
  take: (from: number, to: number, idAt: number) => void,
): number => {
  let at = skipSpace(body, from + 1)
  if (body[at] === CLOSE_BRACKET) return at + 1
  for (;;) {
    const watch: KeyWatch = { owner, key: ID, foundAt: NOT_WHOLE }
    const isObject = body[at] === OPEN_BRACE
    const end = stepTo(skipValue(body, at, isObject ? watch : undefined), at)
    take(at, end, watch.foundAt)
    at = skipSpace(body, end)
    if (body[at] === CLOSE_BRACKET) return at + 1
    if (body[at] !== COMMA) throw half('no comma between two records', at)
    at = skipSpace(body, at + 1)
  }
}

/**
 * Takes a page's body apart. Raw line ends in an element become spaces.
 *
 * An element without an id is a line all the same. A key with an escape in it (`Internal\u0049d`) is not found.
 *
 * @throws {ToolkitError} ANSWER_INVALID with `context.kind` `'half'` where the body is not one whole JSON
 *   document (ask again), or `'form'` where it has no such list; ANSWER_DISORDERED where ids do not increase
 */
export const pageLines = (body: Buffer, kind: PageKind): PageLines => {
  const { list, owner, ordered } = KINDS[kind]
  const lines = new LineWriter(body)
  const ids = new IdList(ordered)
  let records = 0
  let found = false
  const take = (from: number, to: number, foundAt: number): void => {
    lines.add(from, to)
    records += 1
    const id = foundAt === NOT_WHOLE ? null : idAt(body, foundAt)
    if (id !== null) ids.add(id)
  }

  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  let at = skipSpace(body, hasMark ? 3 : 0)
  if (body[at] === OPEN_BRACKET && skipSpace(body, stepTo(skipValue(body, at), at)) === body.length)
    throw formless(list, 'it is a list itself, expected an object with the')
  if (body[at] !== OPEN_BRACE) throw half('no object', at)
  at = skipSpace(body, at + 1)
  while (body[at] !== CLOSE_BRACE) {
    if (body[at] !== QUOTE) throw half('no key', at)
    const keyEnd = stepTo(skipText(body, at), at)
    const isList = body.subarray(at, keyEnd).equals(list)
    at = skipSpace(body, keyEnd)
    if (body[at] !== COLON) throw half('no colon', at)
    at = skipSpace(body, at + 1)
    if (isList && body[at] === OPEN_BRACKET) {
      if (found) throw formless(list, 'it has more than one')
      found = true
      at = takeList(body, at, owner, take)
    } else at = stepTo(skipValue(body, at), at)
    at = skipSpace(body, at)
    if (body[at] === CLOSE_BRACE) break
    if (body[at] !== COMMA) throw half('no comma', at)
    at = skipSpace(body, at + 1)
    if (body[at] === CLOSE_BRACE) throw half('no key', at)
  }
  at = skipSpace(body, at + 1)
  if (at < body.length) throw half('something behind its end', at)
  if (!found) throw formless(list, 'it has no')
  return { lines: lines.take(), records, ids: ids.take() }
}
