/**
 * Takes forgotten companies and entities out of the lines of a block, before anything reads them: nothing of it is to get
 * into tables, drift or quarantine. Lines keep their places and their number. A refused company's line becomes one that
 * has its id and nothing else, for a filter to leave out and to count.
 */

import type { Content } from '../../contract/objects.ts'
import type { Block, RefusedIds } from '../../core/lines.ts'
import {
  isOpening,
  JSON_BYTES,
  leftOfParts,
  membersAt,
  skipSpace,
  wholeAt,
  wholeIn,
} from '../../support/json-bytes.ts'

const { LINE_FEED, SPACE, COLON } = JSON_BYTES

export type IsForgotten = (id: bigint) => boolean

const ID_MEMBER = 'InternalId'

/** Whether the value at a place is an object with a forgotten id. */
export const isForgottenAt = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  membersAt(json, from).some(({ name, valueFrom }) => {
    const id = name === ID_MEMBER ? wholeAt(json, valueFrom) : undefined
    return id !== undefined && isForgotten(id)
  })

/** A value without objects that have a forgotten id, at any depth. */
const withoutEntities = (json: Buffer, from: number, to: number, isForgotten: IsForgotten): string =>
  leftOfParts(json, from, to, ({ valueFrom, to: end }) => {
    if (isForgottenAt(json, valueFrom, isForgotten)) return undefined
    return isOpening(json[valueFrom] ?? 0)
      ? withoutEntities(json, valueFrom, end, isForgotten)
      : json.toString('utf8', valueFrom, end)
  })

/** JSON that may be none: `undefined` then. */
export const parsedRecord = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Paths of a record's own id. */
const ID_PATHS: Readonly<Record<Content, readonly (readonly string[])[]>> = {
  companies: [
    ['BasicDetails', ID_MEMBER],
    ['MinifiedInfo', ID_MEMBER],
  ],
  relations: [[ID_MEMBER]],
}

/** The InternalId of a line's company, where the line says so as it should. Read from its bytes: a number of JavaScript rounds. @param text sound JSON */
export const ownerOf = (content: Content, text: string): bigint | undefined => {
  const json = Buffer.from(text)
  const from = skipSpace(json, 0)
  for (const path of ID_PATHS[content]) {
    const id = wholeIn(json, from, path)
    if (id !== undefined) return id
  }
  return undefined
}

const NAME = Buffer.from(`"${ID_MEMBER}"`)
/** How escapes of letters begin: no writer of JSON makes them. */
const LETTER_ESCAPES = ['\\u004', '\\u005', '\\u006', '\\u007']
/** Names of as many letters, some of them as escapes: `"Internal\u0049d"`. */
const ESCAPED_NAME = new RegExp(`"(?:[a-z]|\\\\u00[\\da-f]{2}){${ID_MEMBER.length}}"`, 'gi')

/** Places behind all names of members that have ids. */
function* idNamesIn(bytes: Buffer): Generator<number, void> {
  for (let at = bytes.indexOf(NAME); at >= 0; at = bytes.indexOf(NAME, at + 1)) yield at + NAME.length
  if (!LETTER_ESCAPES.some((begun) => bytes.includes(begun))) return
  for (const { 0: name, index } of bytes.toString('latin1').matchAll(ESCAPED_NAME))
    if (parsedRecord(name) === ID_MEMBER) yield index + name.length
}

/** Whether a refused id stands behind a member's name. */
const isRefusedBehind = (bytes: Buffer, nameEnd: number, isRefused: IsForgotten): boolean => {
  const colon = skipSpace(bytes, nameEnd)
  const id = bytes[colon] === COLON ? wholeAt(bytes, skipSpace(bytes, colon + 1)) : undefined
  return id !== undefined && isRefused(id)
}

/** Stands for a line that nobody can read: it is quarantined, and tells nothing. */
const NOT_READ = '"forgotten"'

const MINIMAL: Readonly<Record<Content, (id: bigint) => string>> = {
  companies: (id) => `{"BasicDetails":{"InternalId":${id}}}`,
  relations: (id) => `{"InternalId":${id}}`,
}

/** The replacement of a line that names a refused id. */
const restOf = (line: string, content: Content, { isCompany, isEntity }: RefusedIds): string => {
  const owner = parsedRecord(line) === undefined ? undefined : ownerOf(content, line)
  if (owner === undefined) return NOT_READ
  if (isCompany(owner)) return MINIMAL[content](owner)
  const json = Buffer.from(line)
  try {
    return withoutEntities(json, skipSpace(json, 0), json.length, isEntity)
  } catch {
    // The line is nested deeper than any record.
    return NOT_READ
  }
}

const MOST_REMEMBERED = 100_000

/** Ids come again and again, and each costs a hash. */
const remembering = (isRefused: IsForgotten): IsForgotten => {
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

/** @returns what takes refused ids out of blocks: it changes their bytes, and gives the block to go on with */
export const refuseLines = (given: RefusedIds): ((block: Block, content: Content) => Block) => {
  const refused = { isCompany: remembering(given.isCompany), isEntity: remembering(given.isEntity) }
  return (block, content) => {
    const { bytes } = block
    for (const nameEnd of idNamesIn(bytes)) {
      if (!isRefusedBehind(bytes, nameEnd, refused.isEntity)) continue
      const start = bytes.lastIndexOf(LINE_FEED, nameEnd) + 1
      const newline = bytes.indexOf(LINE_FEED, nameEnd)
      const end = newline < 0 ? bytes.length : newline
      const rest = restOf(bytes.toString('utf8', start, end), content, refused)
      const text = Buffer.from(Buffer.byteLength(rest) <= end - start ? rest : NOT_READ)
      bytes.fill(SPACE, start, end)
      text.copy(bytes, start, 0, end - start)
    }
    const overlong = block.overlong.map((line) =>
      [...idNamesIn(line.head)].some((nameEnd) => isRefusedBehind(line.head, nameEnd, refused.isEntity))
        ? { ...line, head: Buffer.alloc(0) }
        : line,
    )
    return { ...block, overlong }
  }
}
