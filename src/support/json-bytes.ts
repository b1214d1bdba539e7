/**
 * JSON as bytes: the marks that it is built of, steps over its smallest parts, and where the members of sound objects and
 * lists are. Makes no objects, knows no records.
 */

/**
 * The bytes by their names. Take them out once, `const { QUOTE } = JSON_BYTES`: a constant of its own module becomes part
 * of a compiled loop, an imported one is read each time, and loops over figures take a fifth longer.
 */
export const JSON_BYTES = {
  TAB: 0x09,
  LINE_FEED: 0x0a,
  CARRIAGE_RETURN: 0x0d,
  /** Before each text of a JSON text sequence (RFC 7464). */
  RECORD_SEPARATOR: 0x1e,
  SPACE: 0x20,
  QUOTE: 0x22,
  PLUS: 0x2b,
  COMMA: 0x2c,
  MINUS: 0x2d,
  POINT: 0x2e,
  ZERO: 0x30,
  NINE: 0x39,
  COLON: 0x3a,
  LARGE_E: 0x45,
  OPEN_BRACKET: 0x5b,
  BACKSLASH: 0x5c,
  CLOSE_BRACKET: 0x5d,
  SMALL_E: 0x65,
  OPEN_BRACE: 0x7b,
  CLOSE_BRACE: 0x7d,
  /** Valid nowhere in JSON: what was a line end in a text must not become sound by becoming a space. */
  NO_JSON: 0x01,
} as const

const {
  TAB,
  LINE_FEED,
  CARRIAGE_RETURN,
  SPACE,
  QUOTE,
  COMMA,
  OPEN_BRACKET,
  BACKSLASH,
  CLOSE_BRACKET,
  OPEN_BRACE,
  CLOSE_BRACE,
} = JSON_BYTES

/** The result of a step where the bytes end too early or brackets do not match. */
export const NOT_WHOLE = -1

// Most bytes of JSON are above, and need one comparison.
export const isSpace = (byte: number): boolean =>
  byte <= SPACE && (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB)
export const isOpening = (byte: number): boolean => byte === OPEN_BRACE || byte === OPEN_BRACKET
export const isClosing = (byte: number): boolean => byte === CLOSE_BRACE || byte === CLOSE_BRACKET

/** Position of the next byte that is no white space, at most `json.length`. */
export const skipSpace = (json: Buffer, from: number): number => {
  let at = from
  while (at < json.length && isSpace(json[at] ?? 0)) at++
  return at
}

/** Position behind the closing quote of the text that begins at `from`; {@link NOT_WHOLE} where there is none. */
export const skipText = (json: Buffer, from: number): number => {
  const end = json.length
  for (let at = from + 1; at < end; at++) {
    const byte = json[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  return NOT_WHOLE
}

/** A member of an object in sound JSON, from its name's quote to behind its value. */
export interface JsonMember {
  readonly json: Buffer
  readonly name: string
  readonly from: number
  readonly valueFrom: number
  readonly to: number
}

/** Position behind the value that begins at a place. */
const behindValue = (json: Buffer, from: number): number => {
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
