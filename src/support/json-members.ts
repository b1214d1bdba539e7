/** Members of JSON objects that the checker has let pass, where they stand. */

import { JSON_BYTES, skipSpace, skipText } from './json-bytes.ts'

const { QUOTE, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

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
  let at = from
  let depth = 0
  do {
    const byte = json[at]
    if (byte === undefined) throw new RangeError('Cannot read JSON: it ends too early')
    if (byte === QUOTE) at = skipText(json, at)
    else {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
      at++
    }
  } while (depth > 0)
  return json[at - 1] === QUOTE || isMark(json[at - 1]) ? at : skipWord(json, at)
}

/** Whether an object or a list ends there. */
export const isMark = (byte: number | undefined): boolean => byte === CLOSE_BRACE || byte === CLOSE_BRACKET

/** Position behind a number, `true`, `false` or `null`. */
export const skipWord = (json: Buffer, from: number): number => {
  let at = from
  while (at < json.length && !isMark(json[at]) && json[at] !== COMMA && skipSpace(json, at) === at) at++
  return at
}

/** The text whose quotes stand at a place and before another. */
export const textBetween = (json: Buffer, from: number, to: number): string => {
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
    members.push({ json, name: textBetween(json, at, nameEnd), from: at, valueFrom, to })
    const next = skipSpace(json, to)
    at = json[next] === COMMA ? skipSpace(json, next + 1) : next
  }
  return members
}

/** Where the values of the list that begins at a place stand. */
export const elementsAt = (json: Buffer, from: number): readonly (readonly [from: number, to: number])[] => {
  const elements: (readonly [number, number])[] = []
  for (let at = skipSpace(json, from + 1); at < json.length && json[at] !== CLOSE_BRACKET; ) {
    const to = behindValue(json, at)
    elements.push([at, to])
    const next = skipSpace(json, to)
    at = json[next] === COMMA ? skipSpace(json, next + 1) : next
  }
  return elements
}
