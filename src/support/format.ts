/** Numbers and times as people write them. */

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Before each three digits up to the end. `Intl.NumberFormat` costs every start 5 ms. */
const GROUPS = /\B(?=(?:\d{3})+$)/g

/** `12,345`, of a whole number. */
export const formatCount = (count: number): string => String(count).replace(GROUPS, ',')

/** `1 file`, `3 files`. */
export const formatCounted = (count: number, thing: string, things = `${thing}s`): string =>
  `${formatCount(count)} ${count === 1 ? thing : things}`

/** Decimal units with three digits: `512 B`, `1.23 MB`, `45.6 GB`. */
export const formatBytes = (bytes: number): string => {
  let [value, unit] = [bytes, 0]
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

/** `85.3 MB/s`; empty without time. */
export const formatRate = (bytes: number, seconds: number): string =>
  seconds > 0 ? `${formatBytes(bytes / seconds)}/s` : '–'

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 15 min`. */
export const formatDuration = (seconds: number): string => {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

/** `34 %`; 100 only when all is done. */
export const formatShare = (part: number, whole: number): string =>
  `${whole > 0 ? Math.min(part < whole ? 99 : 100, Math.floor((100 * part) / whole)) : 0} %`

/** `97.5 %`, `0.04 %`. @param share 0 to 1 @param digits that count */
export const formatPercent = (share: number, digits = 3): string =>
  `${Number((100 * share).toPrecision(digits))} %`

const SPANS = [
  ['s', 1, 120],
  ['min', 60, 120 * 60],
  ['h', 3600, 72 * 3600],
  ['d', 86_400, Infinity],
] as const

/** A time of which one unit says enough: `26 h`, `7 d`, `27.5 h`, `4 s`. @param digits behind the point */
export const formatSpan = (seconds: number, digits = 1): string => {
  const [unit, size] = SPANS.find(([, , until]) => seconds < until) ?? SPANS[3]
  return `${Number((seconds / size).toFixed(digits))} ${unit}`
}

/** A value and its limit as texts, with as many digits as it takes to see that they differ: `1.00001 %` and `1 %`. */
export const formatBeside = (
  value: number,
  limit: number,
  format: (value: number, digits?: number) => string,
): readonly [value: string, limit: string] => {
  const pairs = [undefined, 6, 15].map((digits) => [format(value, digits), format(limit, digits)] as const)
  return pairs.find(([one, other]) => one !== other) ?? [format(value), format(limit)]
}

/** `2026-11-27 00:48:24 UTC`, of an instant such as `2026-11-27T00:48:24.011Z`. */
export const formatInstant = (instant: string): string =>
  instant.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC')
