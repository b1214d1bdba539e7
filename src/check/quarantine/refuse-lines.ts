/**
 * Takes forgotten companies and entities out of the lines of a block, before anything reads them: nothing of it is to get
 * into tables, drift or quarantine. Lines keep their places and their number. A refused company's line becomes one that
 * has its id and nothing else, for a filter to leave out and to count.
 */

import type { Content } from '../../contract/objects.ts'
import type { Block, RefusedIds } from '../../core/lines.ts'
import { elementsAt, JSON_BYTES, type JsonMember, membersAt, skipSpace } from '../../support/json-bytes.ts'

const { OPEN_BRACKET, OPEN_BRACE } = JSON_BYTES
const { LINE_FEED, SPACE, COLON, QUOTE, MINUS, PLUS, POINT, ZERO, NINE, SMALL_E, LARGE_E } = JSON_BYTES

export type IsForgotten = (id: bigint) => boolean

/** An id as JSON has it, in quotes or not; `undefined` for what is none. */
export const idAt = (json: Buffer, from: number, to: number): bigint | undefined => {
  const text = json.toString('latin1', from, to)
  const [, digits] = /^"?(-?\d+)(?:\.0+)?"?$/.exec(text) ?? []
  if (digits !== undefined) return BigInt(digits)
  const value = /^-?\d+(?:\.\d+)?[eE][-+]?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

const isForgottenAt = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  membersAt(json, from).some(({ name, valueFrom, to }) => {
    const id = name === 'InternalId' ? idAt(json, valueFrom, to) : undefined
    return id !== undefined && isForgotten(id)
  })

/** Whether a member or element is an object of theirs. */
const isTheirs = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  json[from] === OPEN_BRACE && isForgottenAt(json, from, isForgotten)

const listText = (json: Buffer, from: number, isForgotten: IsForgotten): string =>
  `[${elementsAt(json, from)
    .filter(([at]) => !isTheirs(json, at, isForgotten))
    .map(([at, to]) => valueText(json, at, to, isForgotten))
    .join()}]`

const objectText = (json: Buffer, from: number, isForgotten: IsForgotten): string =>
  `{${membersAt(json, from)
    .filter(({ valueFrom }) => !isTheirs(json, valueFrom, isForgotten))
    .map(({ name, from: at, valueFrom, to }) =>
      json[valueFrom] === OPEN_BRACE || json[valueFrom] === OPEN_BRACKET
        ? `${JSON.stringify(name)}:${valueText(json, valueFrom, to, isForgotten)}`
        : json.toString('utf8', at, to),
    )
    .join()}}`

const valueText = (json: Buffer, from: number, to: number, isForgotten: IsForgotten): string =>
  json[from] === OPEN_BRACE
    ? objectText(json, from, isForgotten)
    : json[from] === OPEN_BRACKET
      ? listText(json, from, isForgotten)
      : json.toString('utf8', from, to)

/**
 * @param text a record of others, in sound JSON
 * @returns the record without objects that have the InternalId of some ids, at any depth: entities of relations, those of
 *   histories, and such as stand in fields that the contract does not know
 */
export const withoutEntities = (text: string, isForgotten: IsForgotten): string => {
  const json = Buffer.from(text)
  const from = skipSpace(json, 0)
  return json[from] === OPEN_BRACE ? objectText(json, from, isForgotten) : text
}

/** JSON that may be none: `undefined` then. */
export const parsedRecord = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const idIn = (members: readonly JsonMember[]): bigint | undefined => {
  const member = members.findLast(({ name }) => name === 'InternalId')
  return member && idAt(member.json, member.valueFrom, member.to)
}

/** The InternalId of a line's company, where the line says so as it should. Read from its bytes: a number of JavaScript rounds. @param text sound JSON */
export const ownerOf = (content: Content, text: string): bigint | undefined => {
  const json = Buffer.from(text)
  const members = membersAt(json, skipSpace(json, 0))
  if (content === 'relations') return idIn(members)
  const within = (object: string): bigint | undefined => {
    const member = members.findLast(({ name }) => name === object)
    return member && idIn(membersAt(json, member.valueFrom))
  }
  return within('BasicDetails') ?? within('MinifiedInfo')
}

const ID_MEMBER = 'InternalId'
const NAME = Buffer.from(`"${ID_MEMBER}"`)
const ESCAPE = Buffer.from('\\u00')
/** Each of its characters as an escape, and the quotes. */
const LONGEST_NAME = 6 * ID_MEMBER.length + 2

/** Stands for a line that nobody can read: it is quarantined, and tells nothing. */
const NOT_READ = '"forgotten"'

const MINIMAL: Readonly<Record<Content, (id: bigint) => string>> = {
  companies: (id) => `{"BasicDetails":{"InternalId":${id}}}`,
  relations: (id) => `{"InternalId":${id}}`,
}

/** The replacement of a line that names a refused id; `undefined` where the line stays as it is. */
const restOf = (line: string, content: Content, { isCompany, isEntity }: RefusedIds): string | undefined => {
  const owner = parsedRecord(line) === undefined ? undefined : ownerOf(content, line)
  if (owner === undefined) return NOT_READ
  if (isCompany(owner)) return MINIMAL[content](owner)
  try {
    return withoutEntities(line, isEntity)
  } catch {
    // It is nested deeper than any record.
    return NOT_READ
  }
}

const NUMBER_MARKS: readonly number[] = [MINUS, PLUS, POINT, SMALL_E, LARGE_E]
const isOfNumber = (byte: number | undefined): boolean =>
  byte !== undefined && ((byte >= ZERO && byte <= NINE) || NUMBER_MARKS.includes(byte))

/** The id behind a member's name. */
const idBehind = (bytes: Buffer, nameEnd: number): bigint | undefined => {
  let at = skipSpace(bytes, nameEnd)
  if (bytes[at] !== COLON) return undefined
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === QUOTE) at++
  let end = at
  while (isOfNumber(bytes[end])) end++
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

/** Finds the next name of a member that has ids: where it begins, and where it ends. */
type FindName = (bytes: Buffer, from: number) => readonly [at: number, end: number] | undefined

const findPlain: FindName = (bytes, from) => {
  const at = bytes.indexOf(NAME, from)
  return at < 0 ? undefined : [at, at + NAME.length]
}

/** The same name with characters as escapes: `"Internal\u0049d"`. */
const findEscaped: FindName = (bytes, from) => {
  for (let at = bytes.indexOf(ESCAPE, from); at >= 0; at = bytes.indexOf(ESCAPE, at + 1)) {
    const hex = bytes.toString('latin1', at + ESCAPE.length, at + ESCAPE.length + 2)
    if (!NAME.includes(Number.parseInt(hex, 16))) continue
    const before = bytes.subarray(Math.max(from, at - LONGEST_NAME), at)
    const start = at - before.length + before.lastIndexOf(QUOTE)
    const end = bytes.indexOf(QUOTE, at) + 1
    if (end - start > LONGEST_NAME || parsedRecord(bytes.toString('latin1', start, end)) !== ID_MEMBER)
      continue
    return [start, end]
  }
  return undefined
}

const NAMES: readonly FindName[] = [findPlain, findEscaped]

/** Where the first refused id stands in some bytes; -1: nowhere. */
const refusedAt = (
  bytes: Buffer,
  from: number,
  find: FindName,
  isRefused: (id: bigint) => boolean,
): number => {
  for (let found = find(bytes, from); found; found = find(bytes, found[1])) {
    const id = idBehind(bytes, found[1])
    if (id !== undefined && isRefused(id)) return found[0]
  }
  return -1
}

/** @returns what takes refused ids out of blocks: it changes their bytes, and gives the block to go on with */
export const refuseLines = (given: RefusedIds): ((block: Block, content: Content) => Block) => {
  const refused = { isCompany: remembering(given.isCompany), isEntity: remembering(given.isEntity) }
  const takeOut = (bytes: Buffer, content: Content, find: FindName): void => {
    for (let from = 0; from < bytes.length; ) {
      const at = refusedAt(bytes, from, find, refused.isEntity)
      if (at < 0) return
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
  }
  return (block, content) => {
    for (const find of NAMES) takeOut(block.bytes, content, find)
    const overlong = block.overlong.map((line) =>
      NAMES.every((find) => refusedAt(line.head, 0, find, refused.isEntity) < 0)
        ? line
        : { ...line, head: Buffer.alloc(0) },
    )
    return { ...block, overlong }
  }
}
