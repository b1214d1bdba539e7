/**
 * Members of one JSON object set in another, as bytes: what a record has beyond the contract, and texts that the columns do not give
 * back. Members of the same name are merged where both are objects, otherwise replaced, and stand behind all others; what is null
 * is left out. Numbers and texts are written in one form, without needless digits and escapes. Source: RFC 7396.
 */

import type { ByteWriter } from '../../support/byte-writer.ts'
import { JSON_BYTES, skipSpace, skipText } from '../../support/json-bytes.ts'
import { appendQuoted } from './column-texts.ts'
import { doubleText } from './number-text.ts'

const { QUOTE, COMMA, COLON, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES
const NULL = 'null'

/** A member of an object in sound JSON, from its name's quote to behind its value. */
export interface JsonMember {
  readonly json: Buffer
  readonly name: string
  readonly from: number
  readonly valueFrom: number
  readonly to: number
}

/** Position behind the value that begins at a place. */
export const behindValue = (json: Buffer, from: number): number => {
  let [at, depth] = [from, 0]
  do {
    const byte = json[at]
    if (byte === undefined) throw new RangeError('Cannot merge JSON: it ends too early')
    if (byte === QUOTE) at = skipText(json, at)
    else {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
      at++
    }
  } while (depth > 0)
  return json[at - 1] === QUOTE || isMark(json[at - 1]) ? at : skipWord(json, at)
}

const isMark = (byte: number | undefined): boolean => byte === CLOSE_BRACE || byte === CLOSE_BRACKET

/** Position behind a number, `true`, `false` or `null`. */
const skipWord = (json: Buffer, from: number): number => {
  let at = from
  while (at < json.length && !isMark(json[at]) && json[at] !== COMMA && skipSpace(json, at) === at) at++
  return at
}

const textAt = (json: Buffer, from: number, to: number): string => {
  const inside = json.toString('utf8', from + 1, to - 1)
  return inside.includes('\\') ? String(JSON.parse(`"${inside}"`)) : inside
}

/** Members of the object that begins at a place, in their order; none where there is another value. */
export const membersAt = (json: Buffer, from: number): readonly JsonMember[] => {
  const members: JsonMember[] = []
  if (json[from] !== OPEN_BRACE) return members
  for (let at = skipSpace(json, from + 1); json[at] === QUOTE; ) {
    const nameEnd = skipText(json, at)
    const valueFrom = skipSpace(json, skipSpace(json, nameEnd) + 1)
    const to = behindValue(json, valueFrom)
    members.push({ json, name: textAt(json, at, nameEnd), from: at, valueFrom, to })
    const next = skipSpace(json, to)
    at = json[next] === COMMA ? skipSpace(json, next + 1) : next
  }
  return members
}

/** Appends an object: the members of one as they stand, with the patch set in them. */
export const appendPatched = (
  writer: ByteWriter,
  members: readonly JsonMember[],
  patch: readonly JsonMember[],
): void => {
  const names = new Set(patch.map(({ name }) => name))
  let separator: number = OPEN_BRACE
  for (const { json, name, from, to } of members) {
    if (names.has(name)) continue
    writer.byte(separator)
    separator = COMMA
    writer.append(json, from, to)
  }
  for (const { json, name, valueFrom } of patch) {
    if (isNull(json, valueFrom)) continue
    writer.byte(separator)
    separator = COMMA
    appendText(writer, name)
    writer.byte(COLON)
    const before = members.find((member) => member.name === name)
    if (json[valueFrom] === OPEN_BRACE)
      appendPatched(
        writer,
        before ? membersAt(before.json, before.valueFrom) : [],
        membersAt(json, valueFrom),
      )
    else appendValue(writer, json, valueFrom)
  }
  if (separator === OPEN_BRACE) writer.byte(OPEN_BRACE)
  writer.byte(CLOSE_BRACE)
}

const isNull = (json: Buffer, at: number): boolean => json.toString('latin1', at, at + NULL.length) === NULL

const appendText = (writer: ByteWriter, text: string): void => {
  const bytes = Buffer.from(text)
  appendQuoted(writer, bytes, 0, bytes.length)
}

/** Appends a value that stands in an array, or is none of the merged objects: nulls stay. @returns the place behind it */
const appendValue = (writer: ByteWriter, json: Buffer, from: number): number => {
  const byte = json[from]
  if (byte === QUOTE) {
    const end = skipText(json, from)
    if (json.subarray(from, end).includes(BACKSLASH)) appendText(writer, textAt(json, from, end))
    else writer.append(json, from, end)
    return end
  }
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return appendParts(writer, json, from)
  const end = skipWord(json, from)
  writer.ascii(plainWord(json.toString('latin1', from, end)))
  return end
}

/** The parts of an array, or of an object within one. */
const appendParts = (writer: ByteWriter, json: Buffer, from: number): number => {
  writer.byte(json[from] ?? 0)
  let at = skipSpace(json, from + 1)
  for (;;) {
    const byte = json[at]
    if (byte === undefined) throw new RangeError('Cannot merge JSON: it ends too early')
    if (byte === COMMA || byte === COLON || isMark(byte)) {
      writer.byte(byte)
      at++
      if (isMark(byte)) return at
    } else at = appendValue(writer, json, at)
    at = skipSpace(json, at)
  }
}

/** A number in one form; whole numbers, and those beyond a double, as they are. */
const plainWord = (word: string): string => {
  if (word === '-0') return '0'
  if (!/^-?\d.*[.eE]/.test(word)) return word
  const number = Number(word)
  return Number.isFinite(number) ? doubleText(number) : word
}
