/** Observers of the runs of a process, and whether the variables of the environment ask for them. Loads none of them. */

import type { StageListener } from '../core/stages.ts'
import { isLoopback } from '../support/http-values.ts'

/** Variables by name, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface Observer {
  readonly listener: StageListener
  /** Sends the rest. May not end: the caller waits for a limited time. */
  readonly close: () => Promise<void>
}

export interface ObserverOptions {
  readonly env: Variables
  /** Called with one line that says why nothing is sent. */
  readonly warn: (text: string) => void
}

const ASKING = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
] as const

const EXPORTERS = ['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'] as const

/** An endpoint, or an exporter other than `none`, and not `OTEL_SDK_DISABLED`. */
export const asksForTelemetry = (env: Variables): boolean => {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false
  if (EXPORTERS.every((name) => env[name]?.trim() === 'none')) return false
  return (
    ASKING.some((name) => Boolean(env[name])) ||
    EXPORTERS.some((name) => Boolean(env[name]) && env[name] !== 'none')
  )
}

/**
 * Refuses endpoints that would see headers, which may hold a key, in the clear, or whose certificates nobody would verify.
 *
 * @throws {Error} naming the variable
 */
export const checkTelemetry = (env: Variables): void => {
  const headers = ASKING.map((name) => name.replace('ENDPOINT', 'HEADERS')).find((name) => env[name])
  for (const name of ASKING) {
    const url = URL.parse(env[name] ?? '')
    if (url === null) continue
    if (url.protocol === 'http:' && headers !== undefined && !isLoopback(url.hostname))
      throw new Error(`${headers} is not sent to "${url.origin}" by plain http, expected https`)
    // The SDK's own client would obey it.
    if (url.protocol !== 'http:' && process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
      throw new Error(
        'NODE_TLS_REJECT_UNAUTHORIZED=0 would leave certificates unverified, NODE_EXTRA_CA_CERTS names further authorities',
      )
  }
}

/** Target of lineage events. */
interface LineageSettings {
  readonly address: URL
  readonly headers: Readonly<Record<string, string>>
  /** The namespace of the jobs. */
  readonly namespace: string
}

/** `OPENLINEAGE_URL`, and not `OPENLINEAGE_DISABLED`. */
export const asksForLineage = (env: Variables): boolean =>
  Boolean(env.OPENLINEAGE_URL) && env.OPENLINEAGE_DISABLED?.trim().toLowerCase() !== 'true'

/** @throws {Error} an address or a key that cannot be used */
export const lineageSettings = (env: Variables): LineageSettings => {
  const { OPENLINEAGE_URL: url = '', OPENLINEAGE_ENDPOINT: endpoint = 'api/v1/lineage' } = env
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new Error('OPENLINEAGE_URL is no address like "https://lineage.example", without a user')
  const key = env.OPENLINEAGE_API_KEY
  if (key && base.protocol === 'http:' && !isLoopback(base.hostname))
    throw new Error(`OPENLINEAGE_API_KEY is not sent to "${base.origin}" by plain http, expected https`)
  if (key && !/^[\x21-\x7e]+$/.test(key))
    throw new Error(
      'OPENLINEAGE_API_KEY holds characters that no key may; look for a line end or a space in it',
    )
  const path = `${base.pathname.replace(/\/+$/, '')}/${endpoint.replace(/^\/+/, '')}`
  return {
    address: new URL(path, base.origin),
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    namespace: env.OPENLINEAGE_NAMESPACE || 'default',
  }
}
