/** A running server over hand-made parts, and requests to it. */

import { randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Area } from '../../../src/contract/authorization.ts'
import { newTokenRegistry, type TokenEntry, tokenHash } from '../../../src/server/access/choose-tokens.ts'
import { newSessions } from '../../../src/server/access/sessions.ts'
import type { BatchStore } from '../../../src/server/batch-files/batch-store.ts'
import { openServer } from '../../../src/server/http/open-server.ts'
import type { Search, ServerOptions, ServerParts } from '../../../src/server/http/server-parts.ts'

export const TOKEN = 'all-seeing-token'
export const SWEDISH = 'token-of-a-swede'

export const entry = (name: string, token: string, more: Partial<TokenEntry> = {}): TokenEntry => ({
  caller: { name, rights: 'everything' },
  sha256: tokenHash(token),
  ...more,
})
export const SWEDISH_ENTRY: TokenEntry = {
  caller: {
    name: 'swedish',
    rights: { countries: new Map([['SE', new Set<Area>(['Owner'])]]), withoutCountry: null },
  },
  sha256: tokenHash(SWEDISH),
}

/** Pages of `{"BasicDetails":{"InternalId":n}}`; a cursor is the last id. */
export const pagedSearch =
  (field: 'Companies' | 'Relations', total: number): Search =>
  async (body) => {
    const request = JSON.parse(body || '{}')
    const size: number = request.PageSize ?? 10
    const after = request.Cursor === undefined || request.Cursor === '*' ? 0 : Number(request.Cursor)
    const ids = Array.from({ length: Math.min(size, total - after) }, (_, at) => after + at + 1)
    const last = ids.at(-1) ?? after
    return {
      kind: 'page',
      pagination: {
        Count: ids.length,
        TotalCount: total,
        PageSize: size,
        TotalPages: Math.ceil(total / size),
        Cursor: last < total ? String(last) : null,
      },
      body: [
        Buffer.from(`{"${field}":[`),
        Buffer.from(ids.map((id) => `{"InternalId":${id}}`).join(',')),
        Buffer.from(']}'),
      ],
    }
  }

const NO_BATCHES: BatchStore = {
  listing: async () => ({ BatchFiles: [] }),
  find: async () => undefined,
}

/** Tokens, and the sessions of them. */
export const signIn = (entries: readonly TokenEntry[]): Pick<ServerParts, 'tokens' | 'sessions'> => {
  const tokens = newTokenRegistry(entries)
  return { tokens, sessions: newSessions(tokens, randomBytes) }
}

export const fakeParts = (parts: Partial<ServerParts> = {}): ServerParts => ({
  served: () => ({ number: 12, countries: ['NO', 'SE'] }),
  ...signIn([entry('everyone', TOKEN), SWEDISH_ENTRY]),
  companies: pagedSearch('Companies', 25),
  relations: pagedSearch('Relations', 3),
  batches: NO_BATCHES,
  askExplorer: async () => ({ kind: 'unknown' }),
  webFile: async (name) => ({ type: 'text/plain', body: Buffer.from(name), etag: `"${name}"` }),
  ...parts,
})

/** Opens a server on a free port; it is closed when the test is over. @returns its address */
export const openFake = async (
  parts: Partial<ServerParts> = {},
  options: Partial<ServerOptions> = {},
): Promise<string> => {
  const server = await openServer(fakeParts(parts), { port: 0, stopTimeoutMs: 200, ...options })
  onTestFinished(() => server.close())
  return server.address
}

export const bearer = (token: string = TOKEN): { authorization: string } => ({
  authorization: `Bearer ${token}`,
})

export const post = (
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = bearer(),
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

export const get = (url: string, headers: Readonly<Record<string, string>> = bearer()): Promise<Response> =>
  fetch(url, { headers })

/** A request by Node's plain client, which shows headers and broken bodies as they are. */
export const rawRequest = (
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { ...bearer(), ...headers }, agent: false }, resolve)
    request.on('error', reject)
    request.end(body)
  })

export const bodyOf = (response: IncomingMessage): Promise<string> => text(response)
