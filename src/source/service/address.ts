/** Where the service is, and whether a token may go there. */

import { ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'

export interface Address {
  /** `https://host:port`. */
  readonly origin: string
  /** What stands before the operations' paths, without a slash at its end; mostly empty. */
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
