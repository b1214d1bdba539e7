/** Companies a night: a bar of parts for each, a sign for nights without one. Sizes in percent, so that letters keep their size. */

import { type Html, html } from '../html.ts'
import type { Numbers } from '../numbers.ts'
import { cellNumber, cellText, type ReportRow } from '../rows.ts'
import { type BarPart, mostOf, stackedBar } from '../svg.ts'
import { counted, dateWords, dayWords } from '../words.ts'

/** Bars that a row has room for, on a phone too. */
const NIGHTS = 30
/** So few lie below each other, with their numbers. */
const FEW = 7

const PARTS = [
  ['added', 'new', 'f1'],
  ['changed', 'changed', 'f3'],
  ['restated', 'restated', 'f2'],
  ['unchanged', 'unchanged', 'fu'],
  ['older', 'older', 'fr'],
] as const satisfies readonly (readonly [string, string, BarPart['tone']])[]

const partsOf = (row: ReportRow): readonly Required<BarPart>[] =>
  PARTS.map(([column, , tone]) => ({ value: cellNumber(row[column]), tone }))

const companiesOf = (row: ReportRow): number => cellNumber(row.companies)

/** Signs of nights that have no bar. */
const SIGNS: Readonly<Record<string, readonly [sign: string, word: string]>> = {
  failed: ['✖', 'failed'],
  'no load': ['–', 'no load'],
}

const keyOf = (rows: readonly ReportRow[], isBelow: boolean, isCut: boolean): Html => {
  const parts = PARTS.filter(([column]) => rows.some((row) => cellNumber(row[column]) > 0)).map(
    ([, word, tone]) =>
      html`<span><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="${tone}" width="10" height="10" rx="2"/></svg>${word}</span>`,
  )
  const states = new Set(rows.map((row) => cellText(row.state)))
  return html`<div class="key">${parts}${states.has('failed') ? html`<span class="bad">✖ failed</span>` : html``}${states.has('no load') ? html`<span>– no load</span>` : html``}${isBelow ? html`<span class="bad">▼ below what is expected</span>` : html``}${isCut ? html`<span>= cut, with its number above</span>` : html``}</div>`
}

const fewNights = (rows: readonly ReportRow[], isBelow: boolean, numbers: Numbers): Html => {
  const most = Math.max(...rows.map(companiesOf))
  const lines = rows.map((row, at) => {
    const [, word] = SIGNS[cellText(row.state)] ?? []
    const state = word ?? (at === 0 && isBelow ? '▼ below what is expected' : '')
    const isBad = word === 'failed' || (at === 0 && isBelow)
    return html`<tr><th scope="row">${dateWords(cellText(row.night))}${state === '' ? html`` : html`<small${isBad ? html` class="bad"` : html``}>${state}</small>`}</th><td class="b">${stackedBar(partsOf(row), most)}</td><td class="n"><b>${numbers.whole(companiesOf(row))}</b></td></tr>\n`
  })
  return html`<table class="bars few"><caption class="vh">Companies a night</caption><tbody>
${lines}</tbody></table>`
}

const HEIGHT = 160
const TOP_ROOM = 20

/** The least round number that is not below `value`: 1, 2 or 5 and zeros. */
const roundAbove = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return ([1, 2, 5].find((one) => one * power >= value) ?? 10) * power
}

const at = (value: number): string => `${Math.round(100 * value) / 100}%`

const bar = (row: ReportRow, left: number, width: number, most: number): readonly Html[] => {
  let bottom = TOP_ROOM + HEIGHT
  return partsOf(row).flatMap(({ value, tone }) => {
    if (value === 0) return []
    const height = Math.min(bottom - TOP_ROOM, Math.max(0.8, (HEIGHT * value) / most))
    bottom -= height
    return [
      html`<rect class="${tone}" x="${at(left)}" width="${at(width)}" y="${bottom.toFixed(1)}" height="${height.toFixed(1)}"/>`,
    ]
  })
}

const night = (
  row: ReportRow,
  left: number,
  width: number,
  most: number,
  isBelow: boolean,
  numbers: Numbers,
): Html => {
  const middle = at(left + width / 2)
  const base = TOP_ROOM + HEIGHT
  const state = cellText(row.state)
  if (state === 'failed')
    return html`<rect class="sb" x="${at(left)}" width="${at(width)}" y="${base - 70}" height="70" rx="2"/><text class="tx-bad" x="${middle}" y="${base - 30}" text-anchor="middle">✖</text>`
  if (state === 'no load') return html`<text x="${middle}" y="${base - 6}" text-anchor="middle">–</text>`
  const companies = companiesOf(row)
  const isCut = companies > most
  const top = base - Math.min(HEIGHT, (HEIGHT * companies) / most)
  const gaps = isCut
    ? [14, 20].map(
        (y) => html`<rect class="cut" x="${at(left)}" width="${at(width)}" y="${TOP_ROOM + y}" height="3"/>`,
      )
    : []
  const number = isCut
    ? html`<text class="v" x="${middle}" y="${TOP_ROOM - 6}" text-anchor="middle">${numbers.whole(companies)}</text>`
    : html``
  const below = isBelow
    ? html`<text class="tx-bad" x="${middle}" y="${Math.max(12, top - 6).toFixed(1)}" text-anchor="middle">▼</text>`
    : html``
  return html`${bar(row, left, width, most)}${gaps}${number}${below}`
}

const manyNights = (rows: readonly ReportRow[], isBelow: boolean, numbers: Numbers): Html => {
  const companies = rows.map(companiesOf)
  const cutAt = mostOf(companies)
  const isCut = companies.some((one) => one > cutAt)
  const most = isCut ? cutAt : roundAbove(cutAt)
  const step = 100 / rows.length
  const nights = rows.map((row, from) =>
    night(row, from * step, step * 0.78, most, isBelow && from === rows.length - 1, numbers),
  )
  const base = TOP_ROOM + HEIGHT
  const ticks = isCut ? [0] : [0, most / 2, most].filter(Number.isInteger)
  const heightOf = (value: number): number => base - (HEIGHT * value) / most
  const lines = ticks.map(
    (value) => html`<line class="ax" x1="0" x2="100%" y1="${heightOf(value)}" y2="${heightOf(value)}"/>`,
  )
  const marks = ticks.map(
    (value) =>
      html`<text x="100%" y="${heightOf(value) + 4}" text-anchor="end">${numbers.whole(value)}</text>`,
  )
  // Counted from the newest, so that it has its date.
  const dates = rows.flatMap((row, from) => {
    const back = rows.length - 1 - from
    if (back % 7 !== 0 || (from === 0 && back > 0)) return []
    return [
      html`<text x="${back === 0 ? '100%' : at((from + 0.39) * step)}" y="${base + 20}" text-anchor="${back === 0 ? 'end' : 'middle'}">${dayWords(cellText(row.night))}</text>`,
    ]
  })
  const newest = rows.at(-1) ?? {}
  const failed = rows.filter((row) => row.state === 'failed').length
  const absent = rows.filter((row) => row.state === 'no load').length
  const summary = `Companies a night of the last ${counted(rows.length, 'night')}, ${counted(failed, 'failed night')}, ${absent} without a load; ${dateWords(cellText(newest.night))}: ${numbers.whole(companiesOf(newest))}`
  return html`<div class="plot"><svg class="chart" height="${base + 26}" role="img" aria-label="${summary}">${lines}${nights}${dates}</svg><svg class="chart axis" height="${base + 26}" aria-hidden="true">${marks}</svg></div>`
}

/** @param rows the newest first @param isBelow whether the newest brought fewer than is expected */
export const drawNights = (rows: readonly ReportRow[], isBelow: boolean, numbers: Numbers): Html => {
  const shown = rows.slice(0, NIGHTS)
  const companies = shown.map(companiesOf)
  const isFew = shown.length <= FEW
  const isCut = !isFew && Math.max(...companies) > mostOf(companies)
  return html`${keyOf(shown, isBelow, isCut)}${isFew ? fewNights(shown, isBelow, numbers) : manyNights(shown.toReversed(), isBelow, numbers)}`
}
