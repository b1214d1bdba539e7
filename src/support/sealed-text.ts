/** JSON objects as text with their own hash as the last member: every changed byte is found when they are read. */

import { sha256Of } from './hash.ts'

const SEAL_START = ',"seal":"'
const sealOf = (body: string): string => `${SEAL_START}${sha256Of(body)}"}`
const SEAL_LENGTH = sealOf('').length

/** What stands where a seal would, whichever one byte of it was changed. */
const SEAL_LIKE = /"seal"|"[^"]{4}":"[^"]{64}"\}$/

/** Seals the text of an object that has a member at least. A line end may follow it. */
export const seal = (objectText: string): string => {
  const body = objectText.trimEnd().replace(/\s*\}$/, '')
  return body + sealOf(body)
}

export type Unsealed =
  | { readonly kind: 'sealed' | 'unsealed'; readonly value: object }
  | { readonly kind: 'damaged' }

const parse = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Reads what `seal` made, without the seal, or an object that never had one. */
export const unseal = (bytes: Buffer): Unsealed => {
  const text = bytes.toString('utf8').replace(/\n$/, '')
  const body = text.slice(0, -SEAL_LENGTH)
  const isSealed = text.slice(body.length) === sealOf(body)
  // Bytes that are no UTF-8 would be read as another text than the one that stands there.
  const isText = Buffer.from(text).equals(bytes.subarray(0, Buffer.byteLength(text)))
  const value = isText ? parse(isSealed ? `${body}}` : text) : null
  if (value === null || (!isSealed && SEAL_LIKE.test(text.slice(-SEAL_LENGTH)))) return { kind: 'damaged' }
  return { kind: isSealed ? 'sealed' : 'unsealed', value }
}
