/**
 * Cursor tokens: how far a chain has come, signed together with what it belongs to. Nothing is kept on the server;
 * a token that was changed, or is used with another search, caller or snapshot, does not verify.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'

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

/** What a token says; `undefined` for a token that was not made with this key for this binding. */
export const readCursor = (key: Buffer, binding: string, token: string): ChainPosition | undefined => {
  const bytes = Buffer.from(token, 'base64url')
  // Node skips characters that are not base64url: written again, the token has to be the same.
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined
  const position = bytes.subarray(0, POSITION_BYTES)
  if (!timingSafeEqual(bytes.subarray(POSITION_BYTES), signature(key, position, binding))) return undefined
  return { lastId: position.readBigInt64BE(), delivered: position.readUInt32BE(8) }
}
