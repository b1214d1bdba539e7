/** Finds personal data that came masked: the text that stands for it, alone or anywhere in a list. */

import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'

const { QUOTE, BACKSLASH } = JSON_BYTES
const MASK = JSON.stringify(PROTECTED_IDENTITY)
const MASK_BYTES = Buffer.from(MASK)
/** As it usually comes, in the form that DuckDB writes it in. */
const USUAL: ReadonlySet<string> = new Set([MASK, `[${MASK}]`])

/** The JSON that stands from `from` to `to` where it holds the text that stands for personal data. */
export const maskedJson = (block: Buffer, from: number, to: number): string | undefined => {
  if (!mayBeMasked(block, from, to)) return undefined
  const json = block.toString('utf8', from, to)
  const unescaped = json.includes('\\') ? JSON.stringify(JSON.parse(json)) : json
  return unescaped.includes(MASK) ? json : undefined
}

/** Whether masked JSON is in another form than DuckDB's. */
export const isOddJson = (json: string): boolean => !USUAL.has(json)

/** Whether the text stands there, or something written with escapes. */
const mayBeMasked = (block: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const byte = block[at]
    if (byte === BACKSLASH || (byte === QUOTE && isMaskAt(block, at))) return true
  }
  return false
}

const isMaskAt = (block: Buffer, at: number): boolean => {
  for (let byte = 1; byte < MASK_BYTES.length; byte++) if (block[at + byte] !== MASK_BYTES[byte]) return false
  return true
}
