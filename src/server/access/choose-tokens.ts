/** Origin of the tokens: a file, one token of the environment, or a fresh one on loopback. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { AREAS, type Area } from '../../contract/authorization.ts'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { SERVER_LIMITS } from '../../core/server-limits.ts'
import { isLoopback } from '../../support/http-values.ts'
import {
  anything,
  FormError,
  type FormOf,
  isObject,
  oneOf,
  optional,
  positive,
  someOf,
  strictObject,
  textLike,
} from '../../support/json-form.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import type { Areas, Caller } from './caller.ts'
import { readStrictJson } from './read-strict-json.ts'

export interface TokensRequest {
  /** File of tokens; it takes precedence over `token`. */
  readonly file?: string | undefined
  /** The one token of FIRMLAKE_SERVE_TOKEN. */
  readonly token?: string | undefined
  /** Host on which the server will listen. */
  readonly host: string
  /** Called with why a file that has changed cannot be used; its last tokens still count. */
  readonly onTokensError?: ((reason: Error) => void) | undefined
  readonly random: RandomBytes
}

export interface ChosenTokens {
  readonly registry: TokenRegistry
  /** A token made just now: it must be shown once. */
  readonly fresh?: string
  readonly warning?: string
}

const FRESH_BYTES = 32

/** A token that may see everything. */
const soleToken = (name: string, token: string): TokenRegistry =>
  newTokenRegistry([{ caller: { name, rights: 'everything' }, sha256: tokenHash(token) }])

/**
 * @throws {ToolkitError} TOKENS_UNREADABLE; TOKEN_INVALID when the token is too short or holds other characters than
 *   a bearer token may; USAGE when there is none and others could reach the server
 */
export const chooseTokens = async (request: TokensRequest): Promise<ChosenTokens> => {
  const { file, token, host, random, onTokensError } = request
  if (file !== undefined) {
    const registry = await tokensOfFile(file, onTokensError)
    if (!(await isOpenToOthers(file))) return { registry }
    return { registry, warning: `Others on this machine may read "${file}": chmod 600 closes it` }
  }
  if (token !== undefined && token !== '') {
    if (LONG_TOKEN.test(token)) return { registry: soleToken('FIRMLAKE_SERVE_TOKEN', token) }
    throw new ToolkitError(
      'TOKEN_INVALID',
      `Cannot use the token of FIRMLAKE_SERVE_TOKEN: expected ${TOKEN_EXPECTED}`,
    )
  }
  if (!isLoopback(host))
    throw new ToolkitError(
      'USAGE',
      `Cannot serve at --host "${host}" without tokens: expected --tokens FILE or FIRMLAKE_SERVE_TOKEN`,
    )
  const fresh = Buffer.from(random(FRESH_BYTES)).toString('base64url')
  return { registry: soleToken('fresh', fresh), fresh }
}

// The token registry: entries found by the hash of the token that a request sends.

/** A token's entry. The token itself is not stored. */
export interface TokenEntry {
  readonly caller: Caller
  /** SHA-256 of the token, 32 bytes. */
  readonly sha256: Buffer
  /** Own limit of requests a second; absent: the server's for all, if it has one. */
  readonly requestsPerSecond?: number
}

export interface TokenRegistry {
  /** The entry of a token; `undefined` where there is none. */
  find(token: string): Promise<TokenEntry | undefined>
  /** The entry of the token that has this hash. @param sha256 32 bytes */
  findHash(sha256: Buffer): Promise<TokenEntry | undefined>
}

/** The characters of a bearer token (RFC 6750). */
export const TOKEN_FORM = /^[A-Za-z0-9\-._~+/]+=*$/

const MIN = SERVER_LIMITS.tokenCharacters
const LONG_TOKEN = new RegExp(`^(?=.{${MIN}})${TOKEN_FORM.source.slice(1)}`)
const TOKEN_EXPECTED = `${MIN} characters or more of A-Z a-z 0-9 -._~+/`

export const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()

/** @param entriesNow gives them as they are at the moment */
const registryOf = (entriesNow: () => Promise<readonly TokenEntry[]>): TokenRegistry => {
  const findHash: TokenRegistry['findHash'] = async (sha256) => {
    let found: TokenEntry | undefined
    // Every entry is compared, each in constant time: the time it takes reveals nothing.
    for (const entry of await entriesNow()) if (timingSafeEqual(entry.sha256, sha256)) found = entry
    return found
  }
  return {
    // An entry with a hash does not say its token's length.
    find: async (token) => (token.length < MIN ? undefined : findHash(tokenHash(token))),
    findHash,
  }
}

export const newTokenRegistry = (entries: readonly TokenEntry[]): TokenRegistry =>
  registryOf(async () => entries)

/** Changes with every change of a file; a file that is gone has one too. */
const stampOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs, ctimeNs }) => [ino, size, mtimeNs, ctimeNs].join(),
    (error: unknown) => systemCode(error) ?? '',
  )

/** The tokens of a file as it is now: it is looked at with the next sign-in, and read again where it has changed. */
const tokensOfFile = async (
  path: string,
  onTokensError: TokensRequest['onTokensError'],
): Promise<TokenRegistry> => {
  let stamp = await stampOf(path)
  let entries = await readTokens(path)
  let lookedMs = performance.now()
  const look = async (): Promise<void> => {
    const now = await stampOf(path)
    if (now === stamp) return
    stamp = now
    try {
      entries = await readTokens(path)
    } catch (error) {
      // A half-written file is read again when it is whole.
      if (error instanceof ToolkitError) onTokensError?.(error)
      else throw error
    }
  }
  let looking = Promise.resolve()
  return registryOf(async () => {
    if (performance.now() - lookedMs >= SERVER_LIMITS.tokensEveryMs) {
      lookedMs = performance.now()
      looking = look()
    }
    await looking
    return entries
  })
}

// The file of tokens (`--tokens`): who may see which countries and areas. Its form: docs/serving.md.

const ENTRY = strictObject({
  name: textLike(/^[\w.-]{1,64}$/, 'a name of letters, digits, ".", "-" and "_"'),
  sha256: optional(textLike(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits')),
  token: optional(textLike(LONG_TOKEN, TOKEN_EXPECTED)),
  everything: optional(anything),
  countries: optional(anything),
  withoutCountry: optional(anything),
  requestsPerSecond: optional(positive),
})
type Entry = FormOf<typeof ENTRY>
const DOCUMENT = strictObject({ tokens: someOf(anything) })
const COUNTRY = textLike(/^[A-Z]{2}$/, 'a country code such as SE')

const areasAt = (place: string, value: unknown): Areas => {
  if (value === 'all') return new Set<Area>(AREAS)
  // An empty list is fine: company search and the relations themselves, but none of their gated fields.
  if (!Array.isArray(value)) throw new FormError(place, '"all" or a list of areas')
  return new Set(value.map((area, at) => oneOf(AREAS)(area, `${place}[${at}]`)))
}

const countriesAt = (place: string, value: unknown): ReadonlyMap<string, Areas> => {
  if (!isObject(value)) throw new FormError(place, 'an object')
  return new Map(
    Object.entries(value).map(([country, areas], at) => {
      COUNTRY(country, `${place}, field ${at + 1}`)
      return [country, areasAt(`${place}.${country}`, areas)]
    }),
  )
}

const rightsAt = (place: string, entry: Entry): Caller['rights'] => {
  const { everything, countries, withoutCountry } = entry
  if (everything !== undefined) {
    if (everything !== true) throw new FormError(`${place}.everything`, 'true, or no such field')
    if (countries !== undefined || withoutCountry !== undefined)
      throw new FormError(place, 'either "everything" or "countries"')
    return 'everything'
  }
  if (countries === undefined) throw new FormError(place, '"everything": true or "countries"')
  return {
    countries: countriesAt(`${place}.countries`, countries),
    withoutCountry: withoutCountry === undefined ? null : areasAt(`${place}.withoutCountry`, withoutCountry),
  }
}

const hashAt = (place: string, { sha256, token }: Entry): Buffer => {
  if ((sha256 === undefined) === (token === undefined))
    throw new FormError(place, 'one of "sha256" and "token"')
  return token === undefined ? Buffer.from(sha256 ?? '', 'hex') : tokenHash(token)
}

const entryAt = (place: string, value: unknown): TokenEntry => {
  const entry = ENTRY(value, place)
  const { name, requestsPerSecond } = entry
  return {
    caller: { name, rights: rightsAt(place, entry) },
    sha256: hashAt(place, entry),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
  }
}

const decodeTokens = (document: unknown): readonly TokenEntry[] => {
  const { tokens } = DOCUMENT(document, 'the document')
  const entries = tokens.map((entry, at) => entryAt(`tokens[${at}]`, entry))
  for (const [at, { caller, sha256 }] of entries.entries()) {
    const earlier = entries.slice(0, at)
    if (earlier.some((one) => one.caller.name === caller.name))
      throw new FormError(`tokens[${at}].name`, 'a name that no earlier entry has')
    if (earlier.some((one) => one.sha256.equals(sha256)))
      throw new FormError(`tokens[${at}]`, 'a token that no earlier entry has')
  }
  return entries
}

/** Entries of a file of tokens. @throws {ToolkitError} TOKENS_UNREADABLE naming the place, never a token */
export const readTokens = (path: string): Promise<readonly TokenEntry[]> =>
  readStrictJson(path, 'TOKENS_UNREADABLE', decodeTokens)

/** Whether others on this machine may read or write a file. */
export const isOpenToOthers = async (path: string): Promise<boolean> =>
  process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0
