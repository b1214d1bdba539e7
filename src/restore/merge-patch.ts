/**
 * Members of one JSON object set in another, as bytes: what a record has beyond the contract, and texts that the columns do not
 * restore. Members of the same name are merged where both are objects, otherwise replaced, and stand behind all others; what is null
 * is left out. Numbers and texts are written in one form, without needless digits and escapes. Source: RFC 7396.
 */

import type { ByteWriter } from '../support/buffers.ts'
import {
  isOpening,
  JSON_BYTES,
  type JsonPart,
  membersAt,
  partsAt,
  textBetween,
} from '../support/json-bytes.ts'
import { appendQuoted } from './column-texts.ts'
import { doubleText } from './number-text.ts'

const { QUOTE, COMMA, COLON, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, CLOSE_BRACKET } = JSON_BYTES
const NULL = 'null'

/** Sets members in the object that stands in a text from `start` to the end; where there is none it has no other members. */
export const setMembers = (writer: ByteWriter, start: number, patch: readonly JsonPart[]): void => {
  const members = membersAt(Buffer.from(writer.bytes.subarray(start, writer.length)), 0)
  writer.length = start
  appendPatched(writer, members, patch)
}

/** Appends an object: the members of one as they stand, with the patch set in them. */
export const appendPatched = (
  writer: ByteWriter,
  members: readonly JsonPart[],
  patch: readonly JsonPart[],
): void => {
  const names = new Set(patch.map(({ name }) => name))
  let separator: number = OPEN_BRACE
  for (const { json, name, from, to } of members) {
    if (names.has(name)) continue
    writer.byte(separator)
    separator = COMMA
    writer.append(json, from, to)
  }
  for (const part of patch) {
    const { json, name, valueFrom } = part
    if (json.toString('latin1', valueFrom, valueFrom + NULL.length) === NULL) continue
    writer.byte(separator)
    separator = COMMA
    appendName(writer, name)
    const before = members.find((member) => member.name === name)
    if (json[valueFrom] === OPEN_BRACE)
      appendPatched(
        writer,
        before ? membersAt(before.json, before.valueFrom) : [],
        membersAt(json, valueFrom),
      )
    else appendValue(writer, part)
  }
  if (separator === OPEN_BRACE) writer.byte(OPEN_BRACE)
  writer.byte(CLOSE_BRACE)
}

const appendText = (writer: ByteWriter, text: string): void => {
  const bytes = Buffer.from(text)
  appendQuoted(writer, bytes, 0, bytes.length)
}

const appendName = (writer: ByteWriter, name: string): void => {
  appendText(writer, name)
  writer.byte(COLON)
}

/** Appends a value that stands in an array, or is none of the merged objects: nulls stay. */
const appendValue = (writer: ByteWriter, { json, valueFrom, to }: JsonPart): void => {
  const byte = json[valueFrom] ?? 0
  if (isOpening(byte)) appendParts(writer, json, valueFrom)
  else if (byte !== QUOTE) writer.ascii(plainWord(json.toString('latin1', valueFrom, to)))
  else if (json.subarray(valueFrom, to).includes(BACKSLASH))
    appendText(writer, textBetween(json, valueFrom, to))
  else writer.append(json, valueFrom, to)
}

/** The parts of an array, or of an object within one. */
const appendParts = (writer: ByteWriter, json: Buffer, from: number): void => {
  const isObject = json[from] === OPEN_BRACE
  let separator = json[from] ?? 0
  for (const part of partsAt(json, from)) {
    writer.byte(separator)
    separator = COMMA
    if (isObject) appendName(writer, part.name)
    appendValue(writer, part)
  }
  if (separator !== COMMA) writer.byte(separator)
  writer.byte(isObject ? CLOSE_BRACE : CLOSE_BRACKET)
}

/** A number in one form; whole numbers, and those beyond a double, as they are. */
const plainWord = (word: string): string => {
  if (word === '-0') return '0'
  if (!/^-?\d.*[.eE]/.test(word)) return word
  const number = Number(word)
  return Number.isFinite(number) ? doubleText(number) : word
}
