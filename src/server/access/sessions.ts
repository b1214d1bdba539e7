/**
 * Sessions of the explorer's page: a random text in place of a token, which ends with its token, with its rights, after a time
 * without use, or when somebody signs out. They are kept in memory only, and count only where the explorer is asked.
 */

import { timingSafeEqual } from 'node:crypto'
import { SERVER_LIMITS } from '../../core/server-limits.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import { textOf } from './caller.ts'
import { type TokenEntry, type TokenRegistry, tokenHash } from './choose-tokens.ts'

export interface Sessions {
  /** Begins a session for a token's entry. @returns the text that stands for it */
  begin(entry: TokenEntry): string
  /** The entry of a session's token, as it is now; `undefined` where there is no such session any more. */
  find(session: string): Promise<TokenEntry | undefined>
  /** Ends a session; nothing happens where there is none. */
  end(session: string): void
}

interface Session {
  /** SHA-256 of the secret part. */
  readonly secret: Buffer
  /** SHA-256 of the token. */
  readonly token: Buffer
  readonly caller: string
  readonly begunMs: number
  usedMs: number
}

const ID_BYTES = 12
const SECRET_BYTES = 32

/** Equal for the same name with the same rights. */
const callerText = ({ caller }: TokenEntry): string => `${caller.name} ${textOf(caller.rights)}`

/** Two parts and nothing else: what `begin` has given out is one text, not a family of them. */
const splitSession = (session: string): readonly [id: string, secret: string] => {
  const [, id = '', secret = ''] = /^([\w-]+)\.([\w-]+)$/.exec(session) ?? []
  return [id, secret]
}

/** @param nowMs gives milliseconds that never go back */
export const newSessions = (
  tokens: TokenRegistry,
  random: RandomBytes,
  nowMs: () => number = () => performance.now(),
): Sessions => {
  const { idleMs, longestMs, perToken } = SERVER_LIMITS.sessions
  /** The longest unused first. */
  const sessions = new Map<string, Session>()
  const text = (bytes: number): string => Buffer.from(random(bytes)).toString('base64url')
  const isOver = ({ begunMs, usedMs }: Session): boolean =>
    nowMs() - usedMs >= idleMs || nowMs() - begunMs >= longestMs

  /** Removes those that are over, and of a token the longest unused beyond the most that it may have. */
  const makeRoom = (token: Buffer): void => {
    for (const [id, session] of sessions) if (isOver(session)) sessions.delete(id)
    const own = [...sessions].filter(([, session]) => session.token.equals(token))
    for (const [id] of own.slice(0, Math.max(0, own.length - perToken + 1))) sessions.delete(id)
  }

  return {
    begin: (entry) => {
      makeRoom(entry.sha256)
      const [id, secret] = [text(ID_BYTES), text(SECRET_BYTES)]
      const now = nowMs()
      sessions.set(id, {
        secret: tokenHash(secret),
        ...{ token: entry.sha256, caller: callerText(entry), begunMs: now, usedMs: now },
      })
      return `${id}.${secret}`
    },
    find: async (session) => {
      const [id, secret] = splitSession(session)
      const found = sessions.get(id)
      if (found === undefined || !timingSafeEqual(found.secret, tokenHash(secret))) return undefined
      const entry = isOver(found) ? undefined : await tokens.findHash(found.token)
      // The session may have been ended meanwhile.
      if (sessions.get(id) !== found) return undefined
      sessions.delete(id)
      // Rights that were changed need a sign-in: the page shows what it may show by those of its session.
      if (entry === undefined || callerText(entry) !== found.caller) return undefined
      found.usedMs = nowMs()
      sessions.set(id, found)
      return entry
    },
    end: (session) => {
      const [id, secret] = splitSession(session)
      const found = sessions.get(id)
      if (found !== undefined && timingSafeEqual(found.secret, tokenHash(secret))) sessions.delete(id)
    },
  }
}
