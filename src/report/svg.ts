/** Small pictures as text: bars and lines. Sizes are attributes, colours classes of the sheet; numbers stand beside them. Pure. */

import { type Html, html } from './html.ts'

const rounded = (value: number): number => Math.round(100 * value) / 100

/** A line without axes and scale, for the eye alone: its numbers stand elsewhere. One value is no line. */
export const sparkline = (values: readonly number[]): Html => {
  if (values.length < 2) return html``
  const [min, max] = [Math.min(...values), Math.max(...values)]
  const height = max - min || 1
  const points = values.map((value, at) => {
    const x = 2 + (116 * at) / (values.length - 1)
    // A line without a change is in the middle.
    const y = max === min ? 15 : 27 - (24 * (value - min)) / height
    return `${rounded(x)},${rounded(y)}`
  })
  return html`<svg class="spark" viewBox="0 0 120 30" preserveAspectRatio="none" aria-hidden="true"><path class="s1" d="M${points.join(' ')}"/></svg>`
}

/** A part of a bar: its value, and its class of colour in the sheet. */
export interface BarPart {
  readonly value: number
  /** @default f1, the one colour of data */
  readonly tone?: 'f1' | 'f1l' | 'f2' | 'f3' | 'fr' | 'fu' | 'fb'
}

/** The cut of a bar: a gap at a slant, near its end. */
const BREAK = html`<path class="cut" d="M90 10L93 0H96L93 10Z"/>`

/** A part that is there is seen, however small. */
const THINNEST = 0.8

/** Parts beside each other. A bar beyond `most` is cut, with a break in it: the number beside it is the whole one. */
export const stackedBar = (parts: readonly BarPart[], most: number): Html => {
  let from = 0
  const rects = parts
    .filter(({ value }) => value > 0)
    .map(({ value, tone = 'f1' }) => {
      const width = Math.max(THINNEST, (100 * value) / (most || 1))
      const rect = html`<rect class="${tone}" x="${rounded(Math.min(100, from))}" width="${rounded(Math.max(0, Math.min(width, 100 - from)))}" height="10"/>`
      from += width
      return rect
    })
  const whole = parts.reduce((sum, { value }) => sum + Math.max(0, value), 0)
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${rects}${whole > most ? BREAK : html``}</svg>`
}

export interface BarLook {
  /** The value to which a light part reaches, as the most of a range. */
  readonly light?: number
  readonly tone?: BarPart['tone']
}

/** The cell of a table with a bar. @param most the value of a bar over the whole width */
export const barCell = (value: number, most: number, { light = value, tone = 'f1' }: BarLook = {}): Html =>
  html`<td class="b">${stackedBar(
    [
      { value, tone },
      { value: light - value, tone: 'f1l' },
    ],
    most,
  )}</td>`

/** A bar so many times as long as the next one hides all others. */
const CUT_ABOVE = 5

/** The value of a bar over the whole width: the largest, unless it would hide all others; it is cut then. */
export const mostOf = (values: readonly number[]): number => {
  const [first = 0, second = 0] = values.toSorted((a, b) => b - a)
  return second > 0 && first > CUT_ABOVE * second ? 1.5 * second : first
}
