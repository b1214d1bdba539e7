/** A small multiple of a company: bars over the years, and the figures of the other kind as a dashed line. Pure. */

import { type Html, html } from '../../../report/html.ts'
import { shownNumber } from '../../../report/shown.ts'
import type { Figure } from './figures.ts'

export const MOST_BARS = 15
const WIDTH = 270
const HEIGHT = 92
/** Room below for the first and the last year. */
const FOOT = 22
const GAP = 4

const rounded = (value: number): number => Math.round(10 * value) / 10

/** Parts of a line: a year without a figure is a gap in it. */
const partsOf = (points: readonly (readonly [x: number, y: number] | undefined)[]): string => {
  const words = points.map((point, at) =>
    point === undefined
      ? ''
      : `${points[at - 1] === undefined ? 'M' : 'L'}${rounded(point[0])},${rounded(point[1])}`,
  )
  return words.filter(Boolean).join('')
}

/**
 * @param figures of one line item and kind, in one currency
 * @param others the same of the other kind, in the same currency
 * @param years that are drawn, one after the other
 * @param name what it is, for who does not see it
 * @param scale values that the chart has room for besides: charts that stand beside each other have one scale
 */
export const multipleChart = (
  figures: readonly Figure[],
  others: readonly Figure[],
  years: readonly number[],
  name: string,
  scale: readonly number[] = [],
): Html => {
  if (years.length < 2) return html``
  const shown = (all: readonly Figure[]): ReadonlyMap<number, number> =>
    new Map(all.filter(({ year }) => years.includes(year)).map(({ year, value }) => [year, value]))
  const [own, other] = [shown(figures), shown(others)]
  const values = [0, ...own.values(), ...other.values(), ...scale]
  const [min, most] = [Math.min(...values), Math.max(...values)]
  const y = (value: number): number => ((most - value) * HEIGHT) / (most - min || 1) + 2
  const step = WIDTH / years.length
  const width = Math.min(step - GAP, 40)
  const bars = years.map((year, at) => {
    const value = own.get(year)
    if (value === undefined) return html``
    const [top, bottom] = [y(Math.max(0, value)), y(Math.min(0, value))]
    const tone = at === years.length - 1 ? 'f1' : 'f1l'
    // A figure that is 0, or nearly, is there.
    const height = Math.max(1, bottom - top)
    return html`<rect class="${tone}" x="${rounded(at * step + (step - width) / 2)}" y="${rounded(top)}" width="${rounded(width)}" height="${rounded(height)}" rx="1.5"><title>${`${year}: ${shownNumber(value)}`}</title></rect>`
  })
  const line = partsOf(
    years.map((year, at) => {
      const value = other.get(year)
      return value === undefined ? undefined : [(at + 0.5) * step, y(value)]
    }),
  )
  const dots = years.flatMap((year, at) => {
    const value = other.get(year)
    return value === undefined
      ? []
      : [
          html`<circle class="dot" cx="${rounded((at + 0.5) * step)}" cy="${rounded(y(value))}" r="3"><title>${`${year}: ${shownNumber(value)}`}</title></circle>`,
        ]
  })
  const zero = rounded(y(0))
  const foot = HEIGHT + FOOT - 2
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label="${`${name}, ${years[0]} to ${years.at(-1)}`}">${bars}${line === '' ? html`` : html`<path class="other" d="${line}"/>`}${dots}<line class="ax" x1="0" x2="${WIDTH}" y1="${zero}" y2="${zero}"/><text x="2" y="${foot}">${years[0] ?? ''}</text><text x="${WIDTH - 2}" y="${foot}" text-anchor="end">${years.at(-1) ?? ''}</text></svg>`
}
