/**
 * Members of one JSON object set in another, as bytes: what a record has beyond the contract, and texts that the columns do not
 * restore. Members of the same name are merged where both are objects, otherwise replaced, and stand behind all others; what is null
 * is left out. Numbers and texts are written in one form, without needless digits and escapes. Source: RFC 7396.
 */

import type { ByteWriter } from '../support/buffers.ts'
import {
  isMark,
  JSON_BYTES,
  type JsonMember,
  membersAt,
  skipSpace,
  skipText,
  skipWord,
  textBetween,
} from '../support/json-bytes.ts'
import { appendQuoted } from './column-texts.ts'
import { doubleText } from './number-text.ts'

const { QUOTE, COMMA, COLON, BACKSLASH, OPEN_BRACKET, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES
const NULL = 'null'

/** Sets members in the object that stands in a text from `start` to the end; where there is none it has no other members. */
export const setMembers = (writer: ByteWriter, start: number, patch: readonly JsonMember[]): void => {
  const members = membersAt(Buffer.from(writer.bytes.subarray(start, writer.length)), 0)
  writer.length = start
  appendPatched(writer, members, patch)
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
    if (json.subarray(from, end).includes(BACKSLASH)) appendText(writer, textBetween(json, from, end))
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
