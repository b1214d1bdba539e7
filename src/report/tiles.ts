/** The first numbers of a report: each with its change and the line of the newest loads. */

import type { CheckLine } from './checks.ts'
import { type Html, html } from './html.ts'
import { NBSP, type Numbers } from './numbers.ts'
import { cellNumber, type ReportRow } from './rows.ts'
import { sparkline } from './svg.ts'

interface Tile {
  readonly title: string
  readonly value: string
  readonly change: Html
  readonly line: readonly number[]
  readonly isBad?: boolean
}

/** Fewer loads are no line. */
const MIN_LOADS = 4

const soft = (text: string): Html => html`<small class="soft">${text}</small>`

const tile = ({ title, value, change, line, isBad }: Tile): Html =>
  html`<div><dt>${title}</dt><dd${isBad ? html` class="bad"` : html``}>${value}${change}${line.length < MIN_LOADS ? html`` : sparkline(line)}</dd></div>\n`

const middle = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

/** @param row the one of the numbers @param trend the newest load first */
export const tiles = (
  row: ReportRow,
  trend: readonly ReportRow[],
  checks: readonly CheckLine[],
  numbers: Numbers,
): Html => {
  const of = (column: string, rows = trend): readonly number[] =>
    rows.map((one) => cellNumber(one[column])).toReversed()
  // A load of a few records is not compared with one of all, nor companies with relations.
  const alike = trend.filter(({ kind }) => kind === trend[0]?.kind)
  const newest = (column: string, back = 1): number => of(column).at(-back) ?? 0
  const grown = (column: string): Html => {
    const [now, before] = [newest(column), newest(column, 2)]
    return soft(
      trend.length < 2
        ? 'by the first load'
        : now === before
          ? 'as before'
          : `${numbers.signed(now - before)} by the newest load`,
    )
  }
  const sizes = (['companies', 'figures', 'relations'] as const).map(
    (column): Tile => ({
      title: column.charAt(0).toUpperCase() + column.slice(1),
      value: numbers.whole(cellNumber(row[column])),
      change: grown(column),
      line: of(column),
    }),
  )
  const falls = checks.filter(({ name, status }) => name.startsWith('fall_') && status === 'failed')
  const fall = Math.max(...falls.map(({ value }) => value ?? 0))
  const seconds = newest('seconds')
  const secondsText = (value: number): string => `${numbers.fixed(value, value < 100 ? 1 : 0)}${NBSP}s`
  const bad = newest('quarantined') - newest('quarantined', 2)
  const newly = trend.length < 2 ? newest('quarantined') : bad
  return html`<dl class="tiles">
${[
  ...sizes,
  {
    title: 'Newest load',
    value: numbers.whole(newest('records')),
    change:
      falls.length > 0
        ? html`<small class="bad">records, ▼ ${numbers.percent(fall)}</small>`
        : soft(
            alike.length < 2
              ? 'records'
              : `records; ${numbers.whole(of('records', alike).at(-2) ?? 0)} by the one before`,
          ),
    line: of('records', alike),
    isBad: falls.length > 0,
  },
  {
    title: 'The load took',
    value: secondsText(seconds),
    change: soft(
      alike.length < 2 ? 'the first of its kind' : `usually ${secondsText(middle(of('seconds', alike)))}`,
    ),
    line: of('seconds', alike),
  },
  {
    title: 'Quarantined lines',
    value: numbers.whole(cellNumber(row.quarantined)),
    change: soft(newly === 0 ? '✔ none newly' : `${numbers.whole(newly)} by the newest load`),
    line: of('quarantined'),
  },
].map(tile)}</dl>
`
}
