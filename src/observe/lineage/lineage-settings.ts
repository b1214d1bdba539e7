/** Where lineage events go, by the variables that OpenLineage's own clients read. */

import { isLoopback } from '../../support/is-loopback.ts'
import type { Variables } from '../observer.ts'

export interface LineageSettings {
  readonly address: URL
  readonly headers: Readonly<Record<string, string>>
  /** Of its jobs. */
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
