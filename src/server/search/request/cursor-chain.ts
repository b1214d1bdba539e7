/** A step of a cursor chain: what a request's Cursor means, and which page and token follow from it. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { FIRST_CURSOR } from '../../../contract/limits.ts'
import type { Content } from '../../../contract/objects.ts'
import type { ExactObject } from '../../../support/exact-json.ts'
import type { Caller } from '../../access/caller.ts'
import type { SearchParts } from '../shared/answer.ts'
import { areValues } from './read-filters.ts'

/** The binding of a cursor: used with another search, caller or snapshot, it does not verify. */
export const bindingOf = (
  content: Content,
  { index }: SearchParts,
  caller: Caller,
  parameters: Readonly<ExactObject>,
  options: readonly (string | number)[],
): string => {
  const folded = Object.entries(parameters)
    .filter(([, values]) => values !== null)
    // No cursor is made for values of another form, and nested thousands deep they could not be written.
    .map(([name, values]): readonly [string, unknown] => [
      name.toLowerCase(),
      areValues(values) ? values : null,
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const { snapshot, snapshotSha256 } = index.description
  return JSON.stringify([content, snapshot, snapshotSha256, caller.name, options, folded])
}

export type ChainStep =
  /** `after` is `null` for the first page. */
  | { readonly kind: 'go on'; readonly after: ChainPosition | null }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'cap reached' }

export const chainStep = (
  { cursorKey, cursorCap }: SearchParts,
  binding: string,
  cursor: string,
): ChainStep => {
  if (cursor === FIRST_CURSOR) return { kind: 'go on', after: null }
  const after = readCursor(cursorKey, binding, cursor)
  if (after === undefined) return { kind: 'invalid' }
  return after.delivered >= cursorCap ? { kind: 'cap reached' } : { kind: 'go on', after }
}

/** Records that the next page may hold: the page that would pass the cap ends at it. */
export const pageLimit = (
  { cursorCap }: SearchParts,
  pageSize: number,
  after: ChainPosition | null,
): number => Math.max(0, Math.min(pageSize, cursorCap - (after?.delivered ?? 0)))

/**
 * Divides the rows found, one more than the page may hold, into the page and the token for the next one: `null` where
 * this page is the last.
 */
export const cutPage = <T>(
  { cursorKey }: SearchParts,
  binding: string,
  after: ChainPosition | null,
  limit: number,
  rows: readonly T[],
  idOf: (row: T) => bigint,
): { readonly page: readonly T[]; readonly cursor: string | null } => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  if (rows.length <= limit || last === undefined) return { page, cursor: null }
  const delivered = (after?.delivered ?? 0) + page.length
  return { page, cursor: makeCursor(cursorKey, binding, { lastId: idOf(last), delivered }) }
}

// A cursor token says how far a chain has come, signed together with its search, caller and snapshot. The server keeps
// nothing; a changed token, or one used with another search, caller or snapshot, does not verify.

/** How far a chain has come. */
export interface ChainPosition {
  /** `InternalId` of the last record delivered. */
  readonly lastId: bigint
  /** Records delivered so far. */
  readonly delivered: number
}

/** Eight bytes of id, four of count, and the signature. */
const POSITION_BYTES = 12
const SIGNATURE_BYTES = 32
const TOKEN_BYTES = POSITION_BYTES + SIGNATURE_BYTES

const signature = (key: Buffer, position: Buffer, binding: string): Buffer =>
  createHmac('sha256', key).update('firmlake cursor 1\0').update(position).update(binding).digest()

/** A token in base64url. @param binding all that the token must be used with again */
export const makeCursor = (key: Buffer, binding: string, { lastId, delivered }: ChainPosition): string => {
  const position = Buffer.alloc(POSITION_BYTES)
  position.writeBigInt64BE(lastId)
  position.writeUInt32BE(delivered, 8)
  return Buffer.concat([position, signature(key, position, binding)]).toString('base64url')
}

/** The position in a token; `undefined` for a token that was not made with this key for this binding. */
export const readCursor = (key: Buffer, binding: string, token: string): ChainPosition | undefined => {
  const bytes = Buffer.from(token, 'base64url')
  // Node skips characters that are not base64url: written again, the token has to be the same.
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined
  const position = bytes.subarray(0, POSITION_BYTES)
  if (!timingSafeEqual(bytes.subarray(POSITION_BYTES), signature(key, position, binding))) return undefined
  return { lastId: position.readBigInt64BE(), delivered: position.readUInt32BE(8) }
}
