/** Plain words for codes, and instants as a reader writes them. */

import { type Html, html } from './html.ts'
import { NBSP } from './numbers.ts'

const RULES: Readonly<Record<string, string>> = {
  balance: 'assets do not add up',
  currency: 'currency changed',
  cycles: 'owned in a circle',
  duplicates: 'same organisation number',
  future: 'date in the future',
  gaps: 'gap between years',
  scale: 'jump by 1,000 (scale?)',
  stakes: 'stakes above 100\u00a0%',
}

/** Whether it is a rule on the data of ours. */
export const isRule = (name: string): boolean => Object.hasOwn(RULES, name)

/** A rule on the data; one of your own is called by its name. */
export const ruleWords = (rule: string): string => RULES[rule] ?? rule.replaceAll('_', ' ')

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `NetSales` as `Net sales`; `EBITDA` stays. */
export const itemWords = (item: string): string =>
  capital(
    item
      .split(/(?<=[a-z\d])(?=[A-Z])|(?<=[a-z])(?=\d)/)
      .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()))
      .join(' '),
  )

/** `LINE_TOO_LONG` as `Line too long`. */
export const reasonWords = (code: string): string =>
  capital(code.toLowerCase().replaceAll('_', ' ')).replace(/\b(json|utf8)\b/i, (word) => word.toUpperCase())

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `2026-11-25` as `25 Nov`. No date and no instant is broken over two lines. */
export const dayWords = (date: string): string =>
  `${Number(date.slice(8, 10))}${NBSP}${MONTHS[Number(date.slice(5, 7)) - 1] ?? date.slice(5, 7)}`

/** `2026-11-25` as `25 Nov 2026`. */
export const dateWords = (date: string): string => `${dayWords(date)}${NBSP}${date.slice(0, 4)}`

/** `2026-11-25T02:36:10Z` as `25 Nov 2026, 02:36 UTC`. */
export const instantWords = (instant: string): string =>
  `${dateWords(instant)},${NBSP}${instant.slice(11, 16)}${NBSP}UTC`

const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00)$/

/** Whether a text is an instant in UTC, as answers have it. */
export const isInstant = (text: string): boolean => INSTANT.test(text)

/** An instant as people write it, and to the second for who looks closer. */
export const instantTime = (instant: string): Html =>
  html`<time datetime="${instant.replace(' ', 'T')}">${dateWords(instant)},${NBSP}${instant.slice(11, 19)}${NBSP}UTC</time>`

const UNITS = [
  [86_400, 'day', 2],
  [3600, 'hour', 1],
  [60, 'minute', 1],
] as const

/** Whole units of a span: `26 hours`, `3 days`. */
export const spanWords = (seconds: number): string => {
  const [size, unit] = UNITS.find(([one, , min]) => seconds >= one * min) ?? []
  if (size === undefined || unit === undefined) return 'less than a minute'
  return counted(Math.floor(seconds / size), unit)
}

/** `1 check`, `3 checks`. @param shown the number as text */
export const counted = (count: number, noun: string, shown = String(count)): string =>
  `${shown} ${count === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** @param unknown for a code that no country has @default the code */
export const countryName = (code: string, unknown = code): string => {
  try {
    return regions.of(code) ?? unknown
  } catch {
    // No form of a country code.
    return unknown
  }
}
