/** Values of HTTP: `Retry-After`, dates, and whether a host is this machine. */

/** `Sun, 06 Nov 1994 08:49:37 GMT`; the two obsolete forms are taken too, as RFC 9110 requires. */
const HTTP_DATE = /^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? [\w :-]+$/

const parseHttpDate = (text: string): number | undefined => {
  if (!HTTP_DATE.test(text)) return undefined
  const ms = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}

/** Milliseconds since 1970 of the `Date` header; `undefined` where it is absent or no HTTP date. */
export const dateOf = (header: string | readonly string[] | undefined): number | undefined =>
  typeof header === 'string' ? parseHttpDate(header.trim()) : undefined

/**
 * Milliseconds to wait from now on, at least 0; `undefined` where there is no header that can be read.
 *
 * @param answeredAt the answer's own `Date` in milliseconds, so that a wrong clock here does not matter
 */
export const retryAfterMs = (
  header: string | readonly string[] | undefined,
  answeredAt: number,
): number | undefined => {
  // Doubled by a proxy: the longest of them keeps to all.
  const texts = header === undefined ? [] : typeof header === 'string' ? [header] : header
  const waits = texts.flatMap((text) => {
    const trimmed = text.trim()
    if (/^\d+$/.test(trimmed)) return [Number(trimmed) * 1000]
    const at = parseHttpDate(trimmed)
    return at === undefined ? [] : [Math.max(0, at - answeredAt)]
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** Whether a host is this machine and nothing else: its name or address, an IPv6 address with or without brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
