/** Requests to an Iceberg REST catalog: addresses, authorization, what an answer means. Knows no table. */

import { setTimeout as delay } from 'node:timers/promises'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'
import { isObject } from '../../support/json-form.ts'
import { isCertificateError, verifiedFetch } from '../../support/verified-fetch.ts'

/** An Iceberg REST catalog, and what proves who asks. */
export interface CatalogOptions {
  /** Base address: `https://catalog.example/api`. Plain http only for this machine. */
  readonly url: string
  /** Name of a warehouse of the catalog, where it has several. */
  readonly warehouse?: string | undefined
  /** Namespace of the tables, its levels with dots between. @default 'firmlake' */
  readonly namespace?: string | undefined
  /** Bearer token. */
  readonly token?: string | undefined
  /** `id:secret` for the catalog's own token endpoint (OAuth2 client credentials), where there is no token. */
  readonly credential?: string | undefined
}

/** The outcome of a request. `unknown`: it may or may not have been carried out. */
export type CatalogAnswer =
  | { readonly kind: 'done'; readonly body: unknown }
  | { readonly kind: 'missing' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown'; readonly reason: string }

export interface CatalogClient {
  /** Retries where an answer fails. @throws {ToolkitError} `CATALOG_FAILED` */
  readonly get: (path: string) => Promise<CatalogAnswer>
  /** Sends once: the caller has to know whether a retry does harm. @throws {ToolkitError} `CATALOG_FAILED` */
  readonly post: (path: string, body: unknown) => Promise<CatalogAnswer>
  /** Removes what may be gone already. Retries where an answer fails. @throws {ToolkitError} `CATALOG_FAILED` */
  readonly remove: (path: string) => Promise<void>
  /** `namespaces/<namespace>`, as the catalog expects it in an address. */
  readonly namespacePath: string
  readonly namespace: readonly string[]
}

/** Longest wait for an answer, in milliseconds: a commit may have to wait for others. */
const TIMEOUT_MS = 60_000
/** Pauses before an answer is asked for again, in milliseconds. */
export const PAUSES_MS = [250, 1000, 4000] as const
const LONGEST_REASON = 300

export const catalogFailed = (what: string): ToolkitError =>
  new ToolkitError('CATALOG_FAILED', `Cannot use the Iceberg catalog: ${what}`)

const addressOf = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.username !== '' || parsed.password !== '')
    throw catalogFailed('expected an address like "https://catalog.example", without a user')
  if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && isLoopback(parsed.hostname)))
    throw new ToolkitError(
      'ADDRESS_REFUSED',
      `Cannot use catalog "${parsed.origin}": plain http is only for this machine, expected https`,
    )
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

/** The catalog's own words for a failure, without anything that was secret. */
const reasonOf = (body: unknown, secrets: readonly string[]): string => {
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const words = [error.type, error.message].filter((word) => typeof word === 'string').join(': ')
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words)
  return safe === '' ? '' : `, it says "${safe.slice(0, LONGEST_REASON)}"`
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Unknown, or worth a retry. */
const isUncertain = (status: number): boolean => status >= 500 || status === 408 || status === 429

interface Sender {
  readonly base: string
  readonly secrets: readonly string[]
  readonly signal: AbortSignal | undefined
}

const send = async (
  { base, secrets, signal }: Sender,
  path: string,
  request: {
    readonly method: 'GET' | 'POST' | 'DELETE'
    readonly headers: Record<string, string>
    readonly body?: string
  },
): Promise<CatalogAnswer> => {
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  let status: number
  let text: string
  try {
    const answer = await verifiedFetch(`${base}/v1/${path}`, {
      ...request,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    status = answer.status
    text = await answer.text()
  } catch (error) {
    signal?.throwIfAborted()
    if (isCertificateError(systemCode(error)))
      throw catalogFailed('TLS verification failed; NODE_EXTRA_CA_CERTS names a file of further authorities')
    return { kind: 'unknown', reason: `no answer to "${request.method} ${path}"` }
  }
  const body = parse(text)
  if (status >= 200 && status < 300) {
    if (status === 204 || text === '') return { kind: 'done', body: {} }
    return body === undefined
      ? { kind: 'unknown', reason: `the answer to "${request.method} ${path}" is no JSON` }
      : { kind: 'done', body }
  }
  if (status === 404) return { kind: 'missing' }
  if (status === 409) return { kind: 'conflict' }
  const reason = `it answered "${request.method} ${path}" with ${status}${reasonOf(body, secrets)}`
  if (isUncertain(status)) return { kind: 'unknown', reason }
  throw catalogFailed(reason)
}

/** Asks until there is an answer, for requests that may be repeated. */
const sendUntilSure = async (
  sender: Sender,
  path: string,
  request: Parameters<typeof send>[2],
): Promise<CatalogAnswer> => {
  for (const pauseMs of PAUSES_MS) {
    const answer = await send(sender, path, request)
    if (answer.kind !== 'unknown') return answer
    await delay(pauseMs, undefined, { signal: sender.signal })
  }
  const answer = await send(sender, path, request)
  if (answer.kind === 'unknown') throw catalogFailed(answer.reason)
  return answer
}

const bodyOf = (answer: CatalogAnswer, path: string): Readonly<Record<string, unknown>> => {
  if (answer.kind === 'done' && isObject(answer.body)) return answer.body
  throw catalogFailed(`it has no "${path}"; is the address right?`)
}

/** A token from the catalog's own endpoint. */
const tokenFor = async (sender: Sender, credential: string): Promise<string> => {
  const at = credential.indexOf(':')
  const form = {
    grant_type: 'client_credentials',
    client_id: credential.slice(0, Math.max(at, 0)),
    client_secret: credential.slice(at + 1),
    scope: 'catalog',
  }
  const answer = await sendUntilSure(sender, 'oauth/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  const token = bodyOf(answer, 'oauth/tokens').access_token
  if (typeof token !== 'string') throw catalogFailed('its answer to "POST oauth/tokens" holds no token')
  return token
}

/** `prefix` and `namespace-separator` of the answer to GET /v1/config; overrides take precedence over defaults. */
const setting = (config: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  for (const part of [config.overrides, config.defaults])
    if (isObject(part) && typeof part[name] === 'string') return part[name]
  return undefined
}

/**
 * Source: Apache Iceberg, REST catalog OpenAPI specification.
 *
 * @throws {ToolkitError} `ADDRESS_REFUSED`, `CATALOG_FAILED`
 */
export const openCatalog = async (
  options: CatalogOptions,
  signal: AbortSignal | undefined,
): Promise<CatalogClient> => {
  const { token, credential, warehouse, namespace = 'firmlake' } = options
  const secretOf = credential?.slice(credential.indexOf(':') + 1)
  const known = [token, credential, secretOf].flatMap((secret) => (secret ? [secret] : []))
  const opening: Sender = { base: addressOf(options.url), secrets: known, signal }
  const bearer = token ?? (credential === undefined ? undefined : await tokenFor(opening, credential))
  const sender: Sender = { ...opening, secrets: bearer === undefined ? known : [...known, bearer] }
  const headers = {
    accept: 'application/json',
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  const asked = warehouse === undefined ? 'config' : `config?warehouse=${encodeURIComponent(warehouse)}`
  const config = bodyOf(await sendUntilSure(sender, asked, { method: 'GET', headers }), asked)
  const prefix = setting(config, 'prefix')
  const below = (path: string): string => (prefix === undefined ? path : `${prefix}/${path}`)
  const levels = namespace.split('.')
  return {
    namespace: levels,
    namespacePath: `namespaces/${levels.map(encodeURIComponent).join(setting(config, 'namespace-separator') ?? '%1F')}`,
    get: (path) => sendUntilSure(sender, below(path), { method: 'GET', headers }),
    remove: async (path) => {
      await sendUntilSure(sender, below(path), { method: 'DELETE', headers })
    },
    post: (path, body) =>
      send(sender, below(path), {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}
