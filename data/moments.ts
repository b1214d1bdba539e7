/** Date-times as the service writes them: with and without an offset, with up to seven fractional digits. */

import type { Random } from './random.ts'

/** What the service leaves out as "default". */
export const DEFAULT_MOMENT = '0001-01-01T00:00:00'
const STYLES = ['plain', 'plain', 'plain', 'plain', 'utc', 'milliseconds', 'digits', 'offset'] as const
export type MomentStyle = (typeof STYLES)[number]
export const momentStyle = (random: Random): MomentStyle => random.pick(STYLES)

const OFFSETS = [
  { minutes: 120, text: '+02:00' },
  { minutes: 330, text: '+05:30' },
  { minutes: -210, text: '-03:30' },
  { minutes: 0, text: '+00:00' },
] as const

/** @param timeMs milliseconds since 1970, UTC */
export const momentText = (timeMs: number, style: MomentStyle, random: Random): string => {
  if (style === 'offset') {
    const { minutes, text } = random.pick(OFFSETS)
    return new Date(timeMs + minutes * 60_000).toISOString().slice(0, 19) + text
  }
  const iso = new Date(timeMs).toISOString()
  if (style === 'milliseconds') return iso
  const seconds = iso.slice(0, 19)
  if (style === 'digits') return `${seconds}.${String(random.whole(0, 9_999_999)).padStart(7, '0')}`
  return style === 'utc' ? `${seconds}Z` : seconds
}

/** Milliseconds since 1970; without an offset a date-time is UTC; `undefined` for none and the default. */
export const momentTime = (text: string | undefined): number | undefined => {
  if (text === undefined || text.startsWith('0001-01-01')) return undefined
  return Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
}

export const dayText = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10)
