/** Times, shares and sizes as people write them. */

/** A day in milliseconds. */
export const DAY_MS = 86_400_000

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
  y: 365 * DAY_MS,
}

/** A time (`500ms`, `90s`, `15m`, `1.5h`, `7d`, `2y`) in milliseconds; `undefined` for other text. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d|y)$/.exec(text.trim())
  return match === null ? undefined : Math.round(Number(match[1]) * (UNITS_MS[match[2] ?? ''] ?? Number.NaN))
}

/** A share (`5%`) from 0 to 1; `undefined` for other text. */
export const parseShare = (text: string): number | undefined => {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
  return percent !== undefined && Number(percent) <= 100 ? Number(percent) / 100 : undefined
}

/** A size (`1GiB`, `512MB`, `800000000`) in bytes, not rounded; `undefined` for other text. */
export const parseSize = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]i?b?|b)?$/i.exec(text.trim())
  if (match === null) return undefined
  const unit = match[2]?.toLowerCase() ?? 'b'
  const power = ['b', 'k', 'm', 'g', 't'].indexOf(unit.charAt(0))
  return Number(match[1]) * (unit.includes('i') ? 1024 : 1000) ** power
}
