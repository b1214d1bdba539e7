/** The token registry: entries found by the hash of the token that a request sends. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Caller } from './caller.ts'

/** A token's entry. The token itself is not stored. */
export interface TokenEntry {
  readonly caller: Caller
  /** Of the token, 32 bytes. */
  readonly sha256: Buffer
  /** Own limit of requests a second; absent: the server's for all, if it has one. */
  readonly requestsPerSecond?: number
}

export interface TokenRegistry {
  /** The entry of a token; `undefined` where there is none. */
  find(token: string): TokenEntry | undefined
}

/** The characters of a bearer token (RFC 6750). */
export const TOKEN_FORM = /^[A-Za-z0-9\-._~+/]+=*$/

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()

export const newTokenRegistry = (entries: readonly TokenEntry[]): TokenRegistry => ({
  find: (token) => {
    const hash = tokenHash(token)
    let found: TokenEntry | undefined
    // All entries are compared, each in constant time: the time it takes reveals nothing.
    for (const entry of entries) if (timingSafeEqual(entry.sha256, hash)) found = entry
    return found
  },
})
