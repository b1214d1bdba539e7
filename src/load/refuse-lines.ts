/**
 * Takes what a lake was told to forget out of the lines of a block, before anything looks at them: nothing of it is to get
 * into tables, drift or quarantine. Lines keep their places and their number. A refused company's line becomes one that
 * has its id and nothing else, for a filter to leave out and to count.
 */

import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/block.ts'
import type { RefusedIds } from '../core/refused-ids.ts'
import { JSON_BYTES, skipSpace } from '../support/json-bytes.ts'
import { ownerOf, parsedRecord } from './record-owner.ts'
import { idAt, withoutEntities } from './without-entities.ts'

const { LINE_FEED, SPACE, COLON, QUOTE, MINUS, ZERO, NINE } = JSON_BYTES

const NAME = Buffer.from('"InternalId"')

/** Stands for a line that nobody can read: it is quarantined, and tells nothing. */
const NOT_READ = '"forgotten"'

const MINIMAL: Readonly<Record<Content, (id: bigint) => string>> = {
  companies: (id) => `{"BasicDetails":{"InternalId":${id}}}`,
  relations: (id) => `{"InternalId":${id}}`,
}

/** What stands in place of a line that names a refused id; `undefined`: it stays as it is. */
const restOf = (line: string, content: Content, { isCompany, isEntity }: RefusedIds): string | undefined => {
  const record = parsedRecord(line)
  const owner = ownerOf(content, record)
  if (record === undefined || owner === undefined) return NOT_READ
  if (isCompany(owner)) return MINIMAL[content](owner)
  if (content !== 'relations') return undefined
  try {
    return withoutEntities(line, isEntity)
  } catch {
    // It is nested deeper than any record.
    return NOT_READ
  }
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= ZERO && byte <= NINE) || byte === MINUS)

/** The id behind a member's name. */
const idBehind = (bytes: Buffer, nameEnd: number): bigint | undefined => {
  let at = skipSpace(bytes, nameEnd)
  if (bytes[at] !== COLON) return undefined
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === QUOTE) at++
  let end = at
  while (isDigit(bytes[end])) end++
  return end === at ? undefined : idAt(bytes, at, end)
}

const MOST_REMEMBERED = 100_000

/** Ids come again and again, and each costs a hash. */
const remembering = (isRefused: (id: bigint) => boolean): ((id: bigint) => boolean) => {
  const known = new Map<bigint, boolean>()
  return (id) => {
    const before = known.get(id)
    if (before !== undefined) return before
    if (known.size >= MOST_REMEMBERED) known.clear()
    const refused = isRefused(id)
    known.set(id, refused)
    return refused
  }
}

const holdsRefused = (
  bytes: Buffer,
  from: number,
  to: number,
  isRefused: (id: bigint) => boolean,
): number => {
  for (let at = bytes.indexOf(NAME, from); at >= 0 && at < to; at = bytes.indexOf(NAME, at + NAME.length)) {
    const id = idBehind(bytes, at + NAME.length)
    if (id !== undefined && isRefused(id)) return at
  }
  return -1
}

/** @returns what takes refused ids out of blocks: it changes their bytes, and gives the block to go on with */
export const refuseLines = (given: RefusedIds): ((block: Block, content: Content) => Block) => {
  const refused = { isCompany: remembering(given.isCompany), isEntity: remembering(given.isEntity) }
  return (block, content) => {
    const { bytes } = block
    for (let from = 0; from < bytes.length; ) {
      const at = holdsRefused(bytes, from, bytes.length, refused.isEntity)
      if (at < 0) break
      const start = bytes.lastIndexOf(LINE_FEED, at) + 1
      const newline = bytes.indexOf(LINE_FEED, at)
      const end = newline < 0 ? bytes.length : newline
      const rest = restOf(bytes.toString('utf8', start, end), content, refused)
      if (rest !== undefined) {
        const text = Buffer.from(Buffer.byteLength(rest) <= end - start ? rest : NOT_READ)
        bytes.fill(SPACE, start, end)
        text.copy(bytes, start, 0, end - start)
      }
      from = end + 1
    }
    const overlong = block.overlong.map((line) =>
      holdsRefused(line.head, 0, line.head.length, refused.isEntity) < 0
        ? line
        : { ...line, head: Buffer.alloc(0) },
    )
    return { ...block, overlong }
  }
}
