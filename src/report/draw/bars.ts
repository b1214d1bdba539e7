/** Bars below each other, as a table that reads without them too: name, bar, number. */

import { type Html, html, untrustedText } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { TOP } from '../render-section.ts'
import { cellNumber, type ReportRow } from '../rows.ts'
import { type BarPart, barCell } from '../svg.ts'
import { dateWords } from '../words.ts'

export interface Bar {
  readonly name: Html
  /** A code or a part, below the name. */
  readonly small?: string
  readonly value: number
  readonly tone?: BarPart['tone']
  /** @default the value as a whole number */
  readonly shown?: string
}

const line = ({ name, small, value, tone = 'f1', shown }: Bar, most: number, numbers: Numbers): Html =>
  html`<tr><th scope="row">${name}${small ? html`<small>${untrustedText(small)}</small>` : html``}</th>${barCell(value, most, { tone })}<td class="n"><b>${shown ?? numbers.whole(value)}</b></td></tr>\n`

/** @param caption what the numbers are */
export const barTable = (bars: readonly Bar[], caption: string, numbers: Numbers): Html => {
  const most = Math.max(...bars.map(({ value }) => value))
  return html`<table class="bars"><caption class="vh">${caption}</caption><tbody>
${bars.map((bar) => line(bar, most, numbers))}</tbody></table>`
}

export interface BarColumns {
  readonly name: (row: ReportRow) => Html
  readonly small?: (row: ReportRow) => string
  readonly value: string
  readonly tone?: BarPart['tone']
  readonly shown?: (value: number) => string
  readonly caption: string
}

/** The first rows as bars, and how many more there are. */
export const topBars = (rows: readonly ReportRow[], columns: BarColumns, numbers: Numbers): Html => {
  const { name, small, value, tone, shown, caption } = columns
  const bars = rows.slice(0, TOP).map((row): Bar => {
    const number = cellNumber(row[value])
    return {
      ...{ name: name(row), value: number },
      ...(small && { small: small(row) }),
      ...(tone && { tone }),
      ...(shown && { shown: shown(number) }),
    }
  })
  return barTable(bars, caption, numbers)
}

/** Rows of parts of nights as a bar a night, its parts below the date. */
export const nightBars = (
  rows: readonly ReportRow[],
  part: string,
  value: string,
  caption: string,
  numbers: Numbers,
  tone: BarPart['tone'] = 'f1',
): Html => {
  const nights = [...Map.groupBy(rows, ({ night }) => String(night))].map(([night, of]) => ({
    night,
    sum: of.reduce((sum, row) => sum + cellNumber(row[value]), 0),
    parts: of.map((row) => `${String(row[part] ?? '')} ${numbers.whole(cellNumber(row[value]))}`).join(', '),
  }))
  return topBars(
    nights.toReversed(),
    {
      name: ({ night }) => html`${dateWords(String(night))}`,
      small: ({ parts }) => String(parts),
      ...{ value: 'sum', caption, tone },
    },
    numbers,
  )
}
