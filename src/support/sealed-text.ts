/** JSON objects as text with their own hash as the last member: every changed byte is found when they are read. */

import { isUtf8 } from 'node:buffer'
import { sha256Of } from './hash.ts'
import { JSON_BYTES } from './json-bytes.ts'

const SEAL_START = ',"seal":"'
const sealOf = (body: string | Buffer): string => `${SEAL_START}${sha256Of(body)}"}`
const SEAL_LENGTH = sealOf('').length

/** Seals the text of an object that has a member at least. A line end may follow it. */
export const seal = (objectText: string): string => {
  const body = objectText.trimEnd().replace(/\s*\}$/, '')
  return body + sealOf(body)
}

export type Unsealed = { readonly kind: 'sealed'; readonly value: object } | { readonly kind: 'damaged' }

const parse = (text: string): { readonly seal?: unknown } | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Reads what `seal` made, without the seal. */
export const unseal = (bytes: Buffer): Unsealed => {
  const end = bytes.length - (bytes.at(-1) === JSON_BYTES.LINE_FEED ? 1 : 0)
  const body = bytes.subarray(0, Math.max(end - SEAL_LENGTH, 0))
  // Bytes that are no UTF-8 would be read as another text than the one that stands there.
  const isWhole = isUtf8(bytes) && bytes.toString('latin1', body.length, end) === sealOf(body)
  const sealed = isWhole ? parse(bytes.toString('utf8', 0, end)) : null
  if (sealed === null) return { kind: 'damaged' }
  const { seal: _, ...value } = sealed
  return { kind: 'sealed', value }
}
