/**
 * Steps over JSON by its brackets and strings alone, to find where values end and what stands under one key.
 * Checks no commas or words within a value: whether a record is sound JSON is the loader's matter.
 */

import { JSON_BYTES, NOT_WHOLE, skipSpace, skipText } from '../support/json-bytes.ts'

const { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } = JSON_BYTES

/** Where to look for one member of a value, and where its own value begins once it is found. */
export interface KeyWatch {
  /** Name of the member of the outermost object that holds it; `null` where it stands there itself. */
  readonly owner: Buffer | null
  readonly key: Buffer
  /** Position of its value; {@link NOT_WHOLE} as long as it is not found. The first one counts. */
  foundAt: number
}

const isName = (body: Buffer, from: number, to: number, name: Buffer): boolean => {
  if (to - from !== name.length) return false
  for (let i = 0; i < name.length; i++) if (body[from + i] !== name[i]) return false
  return true
}

/** Position of the value where the text before `behind` is a key; else {@link NOT_WHOLE}. */
const valueAfterKey = (body: Buffer, behind: number): number => {
  const colon = skipSpace(body, behind)
  return body[colon] === COLON ? skipSpace(body, colon + 1) : NOT_WHOLE
}

/** Opening brackets by depth. Grows with the depth; one for all pages. */
let stack = new Uint8Array(1024)
const push = (depth: number, byte: number): void => {
  if (depth >= stack.length) {
    const wider = new Uint8Array(stack.length * 2)
    wider.set(stack)
    stack = wider
  }
  stack[depth] = byte
}

/** Position behind the object or list that begins at `from`. */
export const skipNested = (body: Buffer, from: number, watch?: KeyWatch): number => {
  const end = body.length
  let depth = 0
  // Depth of the keys to look at: 1, within the owner 2, and 0 once the key is found.
  let watched = watch ? 1 : 0
  for (let at = from; at < end; at++) {
    const byte = body[at] ?? 0
    // Digits and signs, which are most of what stands outside of texts, are through after one comparison.
    if (byte < OPEN_BRACKET) {
      if (byte !== QUOTE) continue
      const start = at + 1
      for (at = start; at < end; at++) {
        const inner = body[at]
        if (inner === QUOTE) break
        if (inner === BACKSLASH) at++
      }
      if (depth !== watched || !watch || at >= end) continue
      const name = watched === 1 ? (watch.owner ?? watch.key) : watch.key
      const value = isName(body, start, at, name) ? valueAfterKey(body, at + 1) : NOT_WHOLE
      if (value === NOT_WHOLE) continue
      if (name === watch.key) {
        watch.foundAt = value
        watched = 0
      } else if (body[value] === OPEN_BRACE) watched = 2
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++
      push(depth, byte)
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (stack[depth] !== byte - 2) return NOT_WHOLE
      depth--
      if (depth === 0) return at + 1
      if (depth === 1 && watched === 2) watched = 1
    }
  }
  return NOT_WHOLE
}

const WORD = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** Position behind the number or word that begins at `from`. */
const skipWord = (body: Buffer, from: number): number => {
  let at = from
  while (at < body.length && /[\w.+-]/.test(String.fromCharCode(body[at] ?? 0))) at++
  return WORD.test(body.toString('latin1', from, at)) ? at : NOT_WHOLE
}

/** Position behind any value that begins at `from`. */
export const skipValue = (body: Buffer, from: number, watch?: KeyWatch): number => {
  const byte = body[from]
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipNested(body, from, watch)
  return byte === QUOTE ? skipText(body, from) : skipWord(body, from)
}
