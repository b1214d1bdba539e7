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

/** The pause that a `Retry-After` asks for. */
export interface RetryAfter {
  /** From now on, at least 0. */
  readonly ms: number
  /** A text of it that is neither seconds nor an HTTP date; absent where all can be read. */
  readonly unreadable?: string
}

/** A header that nobody can read asks for a pause all the same. */
export const UNREADABLE_PAUSE_MS = 5000

/** Whole seconds of RFC 9110, and the fractions that some services send: rounded up, never too soon. */
const SECONDS = /^(?:\d+(?:\.\d*)?|\.\d+)$/

/**
 * Reads a `Retry-After`; `undefined` where there is none.
 *
 * @param answeredAt the answer's own `Date` in milliseconds, so that a wrong clock here does not matter
 */
export const readRetryAfter = (
  header: string | readonly string[] | undefined,
  answeredAt: number,
): RetryAfter | undefined => {
  // Doubled by a proxy: the longest of them keeps to all.
  const strings = header === undefined ? [] : typeof header === 'string' ? [header] : header
  const waits = strings.map((text): RetryAfter => {
    const trimmed = text.trim()
    if (SECONDS.test(trimmed))
      return { ms: Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Number(trimmed)) * 1000) }
    const at = parseHttpDate(trimmed)
    return at === undefined
      ? { ms: UNREADABLE_PAUSE_MS, unreadable: trimmed }
      : { ms: Math.max(0, at - answeredAt) }
  })
  const unreadable = waits.find((one) => one.unreadable !== undefined)?.unreadable
  return waits.length === 0
    ? undefined
    : { ms: Math.max(...waits.map(({ ms }) => ms)), ...(unreadable !== undefined && { unreadable }) }
}

/** Whether a host is this machine and nothing else: its name or address, an IPv6 address with or without brackets. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
