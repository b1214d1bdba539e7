/**
 * TLS of a connection to PostgreSQL, as its address says: certificates are verified whatever the environment says, and nothing
 * goes beyond this machine in the clear unless the address has `sslmode=disable`.
 */

import { readFile } from 'node:fs/promises'
import type { ClientConfig } from 'pg'
import { readReason, ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'

/** Modes that verify the certificate and the name of the host. */
const VERIFIED: readonly unknown[] = ['verify-full', 'verify-ca', 'require']
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

const refused = (name: string): ToolkitError =>
  new ToolkitError(
    'TARGET_REFUSED',
    `Cannot use "${name}" as the address of a PostgreSQL server has it: expected sslmode=verify-full, which verifies the ` +
      'certificate, or sslmode=disable for a connection without TLS',
  )

type TlsConfig = Pick<ClientConfig, 'ssl' | 'sslnegotiation'>

export interface AddressWithTls {
  /** The address without what it says of TLS, which the driver would read in another way. */
  readonly address: string
  /** How a host is reached; a path is a socket of this machine. */
  readonly tlsTo: (host: string) => TlsConfig
}

const readPem = (name: string, path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    const text = `Cannot read "${path}", the ${name} of an address: ${readReason(error)}`
    throw new ToolkitError('TARGET_REFUSED', text)
  })

/**
 * Divides an address.
 *
 * @param env of which PGSSLMODE can ask for TLS on this machine too, and no variable turns it off
 * @throws {ToolkitError} TARGET_REFUSED where the address says something else of TLS, or names a file that cannot be read
 */
export const readTls = async (url: string, env: NodeJS.ProcessEnv): Promise<AddressWithTls> => {
  const [, start = url, query = ''] = /^([^?#]*)\?([^#]*)/.exec(url) ?? []
  const parameters = new URLSearchParams(query)
  const said = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!/^ssl|^uselibpqcompat$/i.test(name)) continue
    if (said.has(name)) throw refused(name)
    said.set(name, value)
    parameters.delete(name)
  }
  const mode = said.get('sslmode')
  if (mode !== undefined && mode !== 'disable' && !VERIFIED.includes(mode)) throw refused('sslmode')
  const files: Partial<Record<'ca' | 'cert' | 'key', string>> = {}
  for (const [name, path] of said) {
    if (name === 'sslrootcert' || name === 'sslcert' || name === 'sslkey')
      files[FILES[name]] = await readPem(name, path)
    else if (name !== 'sslmode' && name !== 'sslnegotiation') throw refused(name)
  }
  const negotiation = said.get('sslnegotiation') === 'direct' ? 'direct' : 'postgres'
  // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not turn it off.
  const verified: TlsConfig = { ssl: { ...files, rejectUnauthorized: true }, sslnegotiation: negotiation }
  const isAsked = VERIFIED.includes(mode ?? env.PGSSLMODE) || said.size > 0
  const isPlain = (host: string): boolean =>
    mode === 'disable' || (!isAsked && (host.startsWith('/') || isLoopback(host)))
  return {
    address: parameters.size === 0 ? start : `${start}?${parameters}`,
    tlsTo: (host) => (isPlain(host) ? { ssl: false, sslnegotiation: 'postgres' } : verified),
  }
}

/** A hint behind the message of a failed connection; empty where it is not about TLS. */
export const tlsHint = ({ message }: Error): string => {
  if (/does not support SSL/.test(message))
    return '; "sslmode=disable" in the address connects without TLS, so that others may read what is sent'
  return /certificate|altname/i.test(message)
    ? '; "sslrootcert=FILE" in the address or NODE_EXTRA_CA_CERTS names a file of further authorities'
    : ''
}
