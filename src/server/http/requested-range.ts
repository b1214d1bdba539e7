/** The part of a file that a request asks for: ranges and conditions of RFC 9110. */

import type { IncomingHttpHeaders } from 'node:http'

export type RequestedRange =
  | { readonly kind: 'whole' }
  /** Both ends included. */
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' }
  | { readonly kind: 'not modified' }
  | { readonly kind: 'precondition failed' }

const WHOLE: RequestedRange = { kind: 'whole' }

/** A single range. Several at once, other units and what is no range at all get the whole file, as the RFC allows. */
const rangeOf = (header: string, sizeBytes: number): RequestedRange => {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header)
  const [from = '', to = ''] = match?.slice(1) ?? []
  if (from === '' && to === '') return WHOLE
  if (from === '') {
    const count = Number(to)
    if (count === 0) return { kind: 'unsatisfiable' }
    return { kind: 'part', first: Math.max(0, sizeBytes - count), last: sizeBytes - 1 }
  }
  const first = Number(from)
  if (to !== '' && Number(to) < first) return WHOLE
  if (first >= sizeBytes) return { kind: 'unsatisfiable' }
  return { kind: 'part', first, last: to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1) }
}

const lists = (header: string, etag: string, weak: boolean): boolean =>
  header.trim() === '*' ||
  header.split(',').some((one) => (weak ? one.trim().replace(/^W\//, '') : one.trim()) === etag)

/** @param etag a strong one, with its quotes */
export const requestedRange = (
  headers: IncomingHttpHeaders,
  sizeBytes: number,
  etag: string,
): RequestedRange => {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && !lists(ifMatch, etag, false)) return { kind: 'precondition failed' }
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined && lists(ifNoneMatch, etag, true)) return { kind: 'not modified' }
  const { range } = headers
  const ifRange = headers['if-range']
  // A date never matches: the file has no Last-Modified.
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return WHOLE
  return rangeOf(range, sizeBytes)
}
