/** Checks the address of the service, and whether a token may go there. */

import { ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'

export interface Address {
  /** `https://host:port`. */
  readonly origin: string
  /** Path before those of the operations, without a slash at its end; mostly empty. */
  readonly prefix: string
  /** This machine: reached directly, never by a proxy. */
  readonly loopback: boolean
}

/** @throws {ToolkitError} ADDRESS_REFUSED */
export const parseAddress = (text: string): Address => {
  const url = URL.parse(text)
  // The text itself is not repeated: it may hold a password.
  if (!url) throw refused('', 'it is no web address')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused(url.host, 'it is no web address')
  if (url.username !== '' || url.password !== '')
    throw refused(url.host, 'it holds a user name or a password, and the token is all that is sent')
  if (url.search !== '' || url.hash !== '') throw refused(url.host, 'it holds a query or a fragment')
  const loopback = isLoopback(url.hostname)
  if (url.protocol === 'http:' && !loopback)
    throw refused(url.host, 'the token would go over plain http, expected https')
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, ''), loopback }
}

const refused = (host: string, reason: string): ToolkitError =>
  new ToolkitError(
    'ADDRESS_REFUSED',
    `Cannot use the service's address${host === '' ? '' : ` at "${host}"`}: ${reason}`,
  )

/** Scheme, host and port, which is what a token is for; `undefined` where the text is no address. */
const originOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  return host === '' ? undefined : `${protocol}//${host}`
}

/**
 * Refuses an address of a plan that is not of the origin which the token's owner names. A plan is in the lake, where others
 * may write.
 *
 * @param own the owner's setting: `--url`, `FIRMLAKE_URL` or `url` of `firmlake.toml`
 * @param planned the address in the plan
 * @throws {ToolkitError} `USAGE` where the owner names none; `PLAN_ORIGIN`
 */
export const checkPlanOrigin = (own: string | undefined, planned: string): void => {
  const origin = originOf(planned)
  if (origin === undefined)
    throw new ToolkitError(
      'PLAN_ORIGIN',
      'Cannot call the service: the plan of the run has no address of one',
    )
  if (own === undefined || own === '')
    throw new ToolkitError(
      'USAGE',
      `Cannot call "${origin}", for which the run was planned: the token may go only where you say, set FIRMLAKE_URL or give --url`,
    )
  const ownOrigin = originOf(own)
  if (ownOrigin === undefined)
    throw new ToolkitError('USAGE', 'Cannot read the address of the service: expected https://host')
  if (ownOrigin !== origin)
    throw new ToolkitError(
      'PLAN_ORIGIN',
      `Cannot call "${origin}", for which the run was planned: the token is for "${ownOrigin}"; ` +
        'give --url where that is right, else cancel the run and plan it anew',
    )
}
