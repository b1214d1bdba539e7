/** Figures, changes and days as texts of a page in English. Pure. */

import { type Html, html, untrustedText } from './html.ts'
import { numbersIn, scaleOf } from './numbers.ts'
import { cellText } from './rows.ts'
import { counted, dateWords } from './words.ts'

export const numbers = numbersIn('en')
const SMALL_DIGITS = 4

/** Whole where it is large, with up to four digits behind the point where it is small. */
export const shownNumber = (value: number): string =>
  value
    .toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? SMALL_DIGITS : 0 })
    .replace('-', '−')

/** `1 company`, `2,000 companies`. */
export const countedAs = (count: number, noun: string): string => counted(count, noun, shownNumber(count))

/** In a factor: whole numbers where that says enough, and never 0 for what is none. */
export const shownIn = (value: number, factor: number): string => {
  const scaled = value / factor
  if (Number.isInteger(scaled) || Math.abs(scaled) >= 100) return numbers.whole(scaled)
  if (factor === 1) return shownNumber(scaled)
  return Math.abs(scaled) >= 1
    ? numbers.fixed(scaled, 1)
    : scaled.toLocaleString('en', { maximumSignificantDigits: 2 }).replace('-', '−')
}

/** With the sign of its own size, as `416.2 bn`. */
export const shownAmount = (value: number): string => {
  const [factor, sign] = scaleOf([value])
  return `${factor === 1 ? shownNumber(value) : numbers.fixed(value / factor, 1)} ${sign}`.trim()
}

/** The factor and word so that the largest amount has four digits at least. */
export const scaleInWords = (most: number): readonly [factor: number, word: string] => {
  if (most >= 1e9) return [1e6, 'million']
  return most >= 1e6 ? [1e3, 'thousand'] : [1, '']
}

/** Larger changes come of figures that were next to nothing. */
const MOST_SHOWN = 10

/** `▲ 65.5 %`; a fall is no more than another sign. */
export const shownChange = (share: number): string => {
  const size = Math.abs(share)
  const text = size > MOST_SHOWN ? '> 1,000 %' : `${numbers.fixed(100 * size, 1)} %`
  const sign = text.startsWith('0.0') ? '' : share < 0 ? '▼ ' : '▲ '
  return `${sign}${text}`
}

export const shownShare = (share: number): string => {
  if (Math.abs(share) > MOST_SHOWN) return share < 0 ? '< −1,000 %' : '> 1,000 %'
  return `${numbers.fixed(100 * share, 1)} %`
}

/** `25 Feb 2026`; as it is where it is no date. */
export const shownDay = (value: unknown): string => {
  const text = String(value)
  return /^\d{4}-\d\d-\d\d/.test(text) ? dateWords(text) : text
}

/** `25`, `25 to 50` percent, or that nothing is stated. */
export const shownStake = (min: number, max: number, isStated: boolean): string => {
  if (!isStated) return 'not stated'
  const percent = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })
  return min === max ? `${percent(min)} %` : `${percent(min)} to ${percent(max)} %`
}

/** A status in words; the service spells it as one: `InactiveSleeping`. */
export const statusName = (status: string): string =>
  status.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Marks that there is no value, for the ear too. */
export const notReported = html`<span class="soft"><span aria-hidden="true">–</span><span class="vh">not reported</span></span>`

/** A text of the data, or a dash where there is none. */
export const textOrDash = (value: unknown, longest?: number): Html =>
  untrustedText(cellText(value) || '–', longest)
