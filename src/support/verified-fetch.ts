/**
 * `fetch` for requests that carry a secret: the certificate is always verified, also under
 * `NODE_TLS_REJECT_UNAUTHORIZED=0`, which turns that off for the global one. No redirect is followed.
 */

import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'

interface VerifiedRequest {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Statuses whose answers have no body, which a `Response` insists on. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Rejects with the system's own errors; {@link isCertificateError} recognises those of certificates. */
export const verifiedFetch = async (address: string | URL, init: VerifiedRequest): Promise<Response> => {
  const url = new URL(address)
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const { method, headers, signal } = init
  const options = { method, headers, ...(signal && { signal }) }
  const send =
    url.protocol === 'https:'
      ? requestHttps(url, { ...options, rejectUnauthorized: true })
      : requestHttp(url, options)
  send.on('error', reject)
  send.on('response', (message) => {
    const status = message.statusCode ?? 0
    const answered = new Headers()
    for (const [name, values = []] of Object.entries(message.headersDistinct))
      for (const value of values) answered.append(name, value)
    try {
      const isEmpty = WITHOUT_BODY.has(status)
      if (isEmpty) message.resume()
      // An answer that is cut short is an error of the body, as with the global fetch.
      const body = isEmpty ? null : Readable.toWeb(message)
      resolve(new Response(body, { status, headers: answered }))
    } catch (error) {
      message.destroy()
      reject(error)
    }
  })
  send.end(init.body)
  return promise
}

const CERTIFICATE = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/

/** Whether a system's code says that TLS verification failed: a retry fails the same way. */
export const isCertificateError = (code: string | undefined): boolean => CERTIFICATE.test(code ?? '')
