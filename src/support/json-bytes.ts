/**
 * JSON as bytes: the marks that it is built of, steps over its parts by brackets and quotes alone, and what is left of a value without
 * some of its parts. Knows no records. Whether JSON is sound is for others to judge: a step over any other bytes comes to an end too.
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

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, COMMA, COLON, BACKSLASH } = JSON_BYTES
const { OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

/** The result of a step where the bytes end too early, and of a search for what is not there. */
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

/** Position behind the value that begins at `from`; {@link NOT_WHOLE} where a text or bracket has no end. */
export const skipValue = (json: Buffer, from: number): number => {
  let at = from
  for (let depth = 0; at < json.length; ) {
    const byte = json[at] ?? 0
    if (byte === QUOTE) {
      at = skipText(json, at)
      if (at === NOT_WHOLE) return NOT_WHOLE
    } else {
      if (isOpening(byte)) depth++
      else if (isClosing(byte)) depth--
      // A number or a word ends before what follows it.
      else if (depth === 0) return skipWord(json, at)
      at++
    }
    if (depth <= 0) return at
  }
  return NOT_WHOLE
}

/** Position behind a number, `true`, `false` or `null`. */
const skipWord = (json: Buffer, from: number): number => {
  let at = from
  for (; at < json.length; at++) {
    const byte = json[at] ?? 0
    if (byte === COMMA || byte === COLON || isClosing(byte) || isSpace(byte)) break
  }
  return at
}

/** The text whose quotes stand at a place and before another; as it is written where one of its escapes is wrong. */
export const textBetween = (json: Buffer, from: number, to: number): string => {
  const inside = json.toString('utf8', from + 1, to - 1)
  if (!inside.includes('\\')) return inside
  try {
    return String(JSON.parse(`"${inside}"`))
  } catch {
    return inside
  }
}

/** A member of an object, from its name's quote to behind its value, or an element of a list, which has no name. */
export interface JsonPart {
  readonly json: Buffer
  readonly name: string
  readonly from: number
  readonly valueFrom: number
  readonly to: number
}

/** The name of a part that begins at a place, and where its value begins; `undefined` where no part begins. */
const partHead = (
  json: Buffer,
  at: number,
  isObject: boolean,
): Pick<JsonPart, 'name' | 'valueFrom'> | undefined => {
  if (at >= json.length || isClosing(json[at] ?? 0)) return undefined
  if (!isObject) return { name: '', valueFrom: at }
  const nameEnd = json[at] === QUOTE ? skipText(json, at) : NOT_WHOLE
  const colon = nameEnd === NOT_WHOLE ? json.length : skipSpace(json, nameEnd)
  if (json[colon] !== COLON) return undefined
  return { name: textBetween(json, at, nameEnd), valueFrom: skipSpace(json, colon + 1) }
}

/** Position of the next part, behind the comma after a value; the end of the bytes where no part follows. */
const behindComma = (json: Buffer, valueEnd: number): number => {
  const comma = valueEnd === NOT_WHOLE ? json.length : skipSpace(json, valueEnd)
  return json[comma] === COMMA ? skipSpace(json, comma + 1) : json.length
}

/** Parts of the object or list that begins at a place, in their order; none where there is another value. A last one may be cut off. */
export function* partsAt(json: Buffer, from: number): Generator<JsonPart, void> {
  const isObject = json[from] === OPEN_BRACE
  if (!isObject && json[from] !== OPEN_BRACKET) return
  for (let at = skipSpace(json, from + 1); ; ) {
    const head = partHead(json, at, isObject)
    if (head === undefined) return
    const end = skipValue(json, head.valueFrom)
    yield { json, ...head, from: at, to: end === NOT_WHOLE ? json.length : end }
    at = behindComma(json, end)
  }
}

/** The members of the object that begins at a place. */
export const membersAt = (json: Buffer, from: number): readonly JsonPart[] =>
  json[from] === OPEN_BRACE ? [...partsAt(json, from)] : []

/** Most characters of a number that are looked at: more digits are more than 64 bits. */
const LONGEST_WHOLE = 64

/** The whole number of 64 bits that begins at a place, with a fraction or an exponent too, in quotes or not; else `undefined`. */
export const wholeAt = (json: Buffer, at: number): bigint | undefined => {
  const text = json.toString('latin1', at, at + LONGEST_WHOLE)
  const [, written, digits, rest = ''] = /^"?((-?\d+)((?:\.\d+)?(?:[eE][-+]?\d+)?))/.exec(text) ?? []
  if (digits === undefined) return undefined
  if (rest === '' || /^\.0+$/.test(rest)) {
    const whole = BigInt(digits)
    return BigInt.asIntN(64, whole) === whole ? whole : undefined
  }
  const value = Number(written)
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

/** The whole number at the end of a path of members, the first of each name, from the value that begins at a place. */
export const wholeIn = (json: Buffer, from: number, path: readonly string[]): bigint | undefined => {
  let value = from
  for (const name of path) {
    if (json[value] !== OPEN_BRACE) return undefined
    let head = partHead(json, skipSpace(json, value + 1), true)
    while (head !== undefined && head.name !== name)
      head = partHead(json, behindComma(json, skipValue(json, head.valueFrom)), true)
    if (head === undefined) return undefined
    value = head.valueFrom
  }
  return wholeAt(json, value)
}

/**
 * The text of an object or list without some of its parts; the same, byte by byte, where nothing is gone.
 *
 * @param leftOf the rest of a part's value, or `undefined` where the part is gone
 */
export const leftOfParts = (
  json: Buffer,
  from: number,
  to: number,
  leftOf: (part: JsonPart) => string | undefined,
): string => {
  const whole = json.toString('utf8', from, to)
  const isObject = json[from] === OPEN_BRACE
  let isSame = true
  const strings: string[] = []
  for (const part of partsAt(json, from)) {
    const left = leftOf(part)
    const isKept = left === json.toString('utf8', part.valueFrom, part.to)
    isSame &&= isKept
    if (isKept) strings.push(json.toString('utf8', part.from, part.to))
    else if (left !== undefined) strings.push(isObject ? `${JSON.stringify(part.name)}:${left}` : left)
  }
  if (isSame) return whole
  return isObject ? `{${strings.join()}}` : `[${strings.join()}]`
}
