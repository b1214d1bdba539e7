/** A heat map that is a table: darker where there is more, each field with its number. */

import { type Html, html, untrustedText } from '../html.ts'
import { cellNumber, cellText, type ReportRow } from '../rows.ts'
import { countryName } from '../words.ts'

export interface HeatColumns {
  readonly caption: string
  readonly value: string
  /** The darkest. @default the largest */
  readonly most?: number
  readonly show: (value: number) => string
}

/** Countries that stand open. */
const OPEN = 12
const STEPS = 6

const stepOf = (value: number, most: number): number =>
  most <= 0 ? 0 : Math.min(STEPS - 1, Math.max(0, Math.ceil((value / most) * STEPS) - 1))

/** The century is hidden where there is no room. */
const yearHead = (years: string): Html => {
  const [, before, century, year] = /^(\D*)(\d\d)(\d\d)$/.exec(years) ?? []
  return century === undefined
    ? html`${years}`
    : html`${before ?? ''}<span class="yr">${century}</span>${year ?? ''}`
}

const rowHead = (country: string): Html =>
  country === ''
    ? html`<span class="soft">none</span>`
    : html`${untrustedText(country)}<span class="cn soft"> ${countryName(country, '')}</span>`

/** @param rows by `country_code` and `years`, in the order of the rows of the map; the newest years stand at the left */
export const heatMap = (rows: readonly ReportRow[], { caption, value, most, show }: HeatColumns): Html => {
  const yearOf = (years: string): number => Number(years.replace(/\D/g, ''))
  const years = [...new Set(rows.map((row) => cellText(row.years)))].sort((a, b) => yearOf(b) - yearOf(a))
  const largest = most ?? Math.max(0, ...rows.map((row) => cellNumber(row[value])))
  const countries = [...Map.groupBy(rows, (row) => cellText(row.country_code))]
  const field = (row: ReportRow | undefined): Html => {
    if (row === undefined)
      return html`<td><span class="soft" aria-hidden="true">·</span><span class="vh">none</span></td>`
    const number = cellNumber(row[value])
    return html`<td class="h${stepOf(number, largest)}">${show(number)}</td>`
  }
  const line = ([country, of]: (typeof countries)[number]): Html => {
    const byYears = new Map(of.map((row) => [cellText(row.years), row]))
    return html`<tr><th scope="row">${rowHead(country)}</th>${years.map((one) => field(byYears.get(one)))}</tr>\n`
  }
  const table = (some: typeof countries, name: string): Html =>
    html`<div class="heat"><table><caption class="vh">${name}</caption><colgroup><col></colgroup>
<thead><tr><th scope="col"><span class="vh">Country</span></th>${years.map((one) => html`<th scope="col">${yearHead(one)}</th>`)}</tr></thead>
<tbody>
${some.map(line)}</tbody></table></div>`
  const others = countries.slice(OPEN)
  return html`${table(countries.slice(0, OPEN), caption)}${
    others.length === 0
      ? html``
      : html`<details><summary>${others.length} more ${others.length === 1 ? 'country' : 'countries'}</summary>${table(others, `${caption}, further countries`)}</details>`
  }`
}
