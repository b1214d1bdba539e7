/** The file of tokens (`--tokens`): who may see which countries and areas. Its form: docs/serving.md. */

import { stat } from 'node:fs/promises'
import { AREAS, type Area } from '../../contract/authorization.ts'
import type { Areas, Caller } from '../caller.ts'
import {
  type Fields,
  FormError,
  listAt,
  memberAt,
  objectAt,
  positiveAt,
  readStrictJson,
  textAt,
} from '../strict-json.ts'
import { TOKEN_FORM, type TokenEntry, tokenHash } from './token-book.ts'

const NAME_FORM = /^[\w.-]{1,64}$/
const ENTRY_FIELDS = [
  'name',
  'sha256',
  'token',
  'everything',
  'countries',
  'withoutCountry',
  'requestsPerSecond',
]

const areasAt = (place: string, value: unknown): Areas => {
  if (value === 'all') return new Set<Area>(AREAS)
  // An empty list is fine: company search and the relations themselves, but none of their gated fields.
  if (!Array.isArray(value)) throw new FormError(place, '"all" or a list of areas')
  return new Set(value.map((area, at) => memberAt(`${place}[${at}]`, area, AREAS)))
}

const countriesAt = (place: string, value: unknown): ReadonlyMap<string, Areas> =>
  new Map(
    Object.entries(objectAt(place, value)).map(([country, areas], at) => {
      textAt(`${place}, field ${at + 1}`, country, /^[A-Z]{2}$/, 'a country code such as SE')
      return [country, areasAt(`${place}.${country}`, areas)]
    }),
  )

const rightsAt = (place: string, entry: Fields): Caller['rights'] => {
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

const hashAt = (place: string, { sha256, token }: Fields): Buffer => {
  if ((sha256 === undefined) === (token === undefined))
    throw new FormError(place, 'one of "sha256" and "token"')
  if (sha256 === undefined)
    return tokenHash(
      textAt(`${place}.token`, token, TOKEN_FORM, 'a text of the characters A-Z a-z 0-9 -._~+/'),
    )
  return Buffer.from(textAt(`${place}.sha256`, sha256, /^[0-9a-fA-F]{64}$/, '64 hexadecimal digits'), 'hex')
}

const entryAt = (place: string, value: unknown): TokenEntry => {
  const entry = objectAt(place, value, ENTRY_FIELDS)
  const name = textAt(`${place}.name`, entry.name, NAME_FORM, 'a name of letters, digits, ".", "-" and "_"')
  return {
    caller: { name, rights: rightsAt(place, entry) },
    sha256: hashAt(place, entry),
    ...(entry.requestsPerSecond !== undefined && {
      requestsPerSecond: positiveAt(`${place}.requestsPerSecond`, entry.requestsPerSecond),
    }),
  }
}

const decodeTokens = (document: unknown): readonly TokenEntry[] => {
  const { tokens } = objectAt('the document', document, ['tokens'])
  const entries = listAt('tokens', tokens).map((entry, at) => entryAt(`tokens[${at}]`, entry))
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
