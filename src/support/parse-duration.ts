/** Times as people write them: `500ms`, `90s`, `15m`, `1.5h`, `7d`. */

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** In milliseconds; `undefined` for what is no time. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)$/.exec(text.trim())
  return match === null ? undefined : Math.round(Number(match[1]) * (UNITS_MS[match[2] ?? ''] ?? Number.NaN))
}
