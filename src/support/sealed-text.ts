/** JSON objects as text with their own hash as the last member: every changed byte is found when they are read. */

import { sha256Of } from './hash.ts'

const SEAL_START = ',"seal":"'
const sealOf = (body: string): string => `${SEAL_START}${sha256Of(body)}"}`
const SEAL_LENGTH = sealOf('').length

/** Seals the text of an object that has a member at least. A line end may follow it. */
export const seal = (objectText: string): string => {
  const body = objectText.trimEnd().replace(/\s*\}$/, '')
  return body + sealOf(body)
}

export type Unsealed = { readonly kind: 'sealed'; readonly value: object } | { readonly kind: 'damaged' }

const parse = (text: string): object | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Reads what `seal` made, without the seal. */
export const unseal = (bytes: Buffer): Unsealed => {
  const text = bytes.toString('utf8').replace(/\n$/, '')
  const body = text.slice(0, -SEAL_LENGTH)
  // Bytes that are no UTF-8 would be read as another text than the one that stands there.
  const isText = Buffer.from(text).equals(bytes.subarray(0, Buffer.byteLength(text)))
  const value = isText && text.slice(body.length) === sealOf(body) ? parse(`${body}}`) : null
  return value === null ? { kind: 'damaged' } : { kind: 'sealed', value }
}
