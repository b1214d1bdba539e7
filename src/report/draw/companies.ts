/** Tables in which each row is about a company: its name is a link. */

import { type Html, html, untrustedText } from '../html.ts'
import { NBSP, type Numbers, scaled, scaleOf, unitOf } from '../numbers.ts'
import { TOP } from '../render-section.ts'
import { cellNumber, cellText, type ReportRow } from '../rows.ts'
import type { Surroundings } from '../section.ts'
import { mostOf, stackedBar } from '../svg.ts'
import { counted, ruleWords } from '../words.ts'

const link = (row: ReportRow, { companyHref }: Surroundings): Html => {
  const [id, name] = [cellText(row.internal_id), cellText(row.company_name)]
  return html`<a href="${companyHref(id)}">${name === '' ? html`Company ${id}` : untrustedText(name)}</a>`
}

/** The look of compared figures: amber stands for restated ones alone. */
interface MovesLook {
  readonly caption: string
  /** Beside the name of the company. */
  readonly small: (row: ReportRow) => string
  readonly tone: 'f1' | 'f2'
}

const move = (row: ReportRow, most: number, { small, tone }: MovesLook, around: Surroundings): Html => {
  const { numbers } = around
  const [before, now] = [cellNumber(row.old_value), cellNumber(row.new_value)]
  const [factor, sign] = scaleOf([before, now])
  const [oldUnit, unit] = [row.old_currency, row.currency].map((one) => unitOf(cellText(one), sign))
  const percent = row.percent === null ? undefined : cellNumber(row.percent)
  const shown =
    percent === undefined
      ? html`<span class="soft">–</span>`
      : html`${numbers.signed(percent, Math.abs(percent) < 1000 ? 1 : 0)}${NBSP}%`
  return html`<tr><th scope="row" class="quiet">${link(row, around)}<small>${untrustedText(small(row))}</small></th><td class="n"><span class="old"><span class="vh">earlier </span>${scaled(before, factor, numbers)}</span><span class="arrow" aria-hidden="true">→</span><span class="vh"> now </span><b>${scaled(now, factor, numbers)}</b><small>${oldUnit === unit ? (unit ?? '') : `${oldUnit} → ${unit}`}</small></td><td class="hide b">${stackedBar([{ value: Math.abs(percent ?? 0), tone }], most)}</td><td class="n">${shown}</td></tr>\n`
}

/** `Net sales 2024` */
export const itemAndYear = ({ item, fiscal_year: year }: ReportRow): string =>
  `${cellText(item)} ${cellText(year)}`

/** The first figures with what they were: earlier, now, and the change. */
export const drawMoves = (rows: readonly ReportRow[], look: MovesLook, around: Surroundings): Html => {
  const top = rows.slice(0, TOP)
  const most = mostOf(top.map((row) => Math.abs(cellNumber(row.percent))))
  return html`<table class="line"><caption class="vh">${look.caption}</caption>
<thead><tr><th scope="col">Company</th><th scope="col" class="n">Earlier → now</th><th scope="col" class="hide"><span class="vh">Bar</span></th><th scope="col" class="n">Change</th></tr></thead>
<tbody>
${top.map((row) => move(row, most, look, around))}</tbody></table>`
}

const amount = (value: number, numbers: Numbers): string => {
  const [factor, sign] = scaleOf([value])
  return [scaled(value, factor, numbers), sign].filter(Boolean).join(NBSP)
}

/** The found and the expected value as the rule means them. */
const valuesOf = (row: ReportRow, numbers: Numbers): readonly [found: string, expected: string] => {
  const [value, expected] = [row.value, row.expected].map(cellNumber)
  const [found = 0, limit = 0] = [value, expected]
  switch (cellText(row.rule)) {
    case 'stakes':
      return [`${numbers.fixed(found, 1)}${NBSP}%`, `at most ${numbers.whole(limit)}${NBSP}%`]
    case 'gaps':
      return [counted(found, 'year', numbers.whole(found)), 'none']
    case 'cycles':
      return [counted(found, 'company', numbers.whole(found)), 'none']
    case 'duplicates':
      return [counted(found, 'company', numbers.whole(found)), 'one']
    case 'currency':
      return [cellText(row.item), 'as before']
    case 'future':
      return [cellText(row.fiscal_year), 'none']
    default:
      return [
        row.value === null ? '' : amount(found, numbers),
        row.expected === null ? '' : amount(limit, numbers),
      ]
  }
}

const finding = (row: ReportRow, around: Surroundings): Html => {
  const [found, expected] = valuesOf(row, around.numbers)
  const isError = row.severity === 'error'
  const year = row.fiscal_year === null || row.rule === 'future' ? '' : cellText(row.fiscal_year)
  return html`<tr><th scope="row" class="quiet">${link(row, around)}<small>${isError ? html`<span class="bad">✖ error</span>` : html`note`} · ${ruleWords(cellText(row.rule))} ${year}</small></th><td class="n${isError ? ' bad' : ''}">${found.replaceAll(' ', NBSP)}</td><td class="n soft">${expected}</td></tr>\n`
}

/** The first findings: the company, the rule, found and expected. */
export const drawFindings = (rows: readonly ReportRow[], around: Surroundings): Html =>
  html`<table class="line"><caption class="vh">Findings, errors first</caption>
<thead><tr><th scope="col">Company and rule</th><th scope="col" class="n">Found</th><th scope="col" class="n">Expected</th></tr></thead>
<tbody>
${rows.slice(0, TOP).map((row) => finding(row, around))}</tbody></table>`

/** Rows that links of the page lead to. */
export const drawNamed = (rows: readonly ReportRow[], { numbers }: Surroundings): Html =>
  html`<table class="line"><caption class="vh">Companies named on this page</caption>
<thead><tr><th scope="col">Company</th><th scope="col" class="n">Identifier</th><th scope="col" class="hide">Country</th><th scope="col" class="n">Restated</th><th scope="col" class="n">Findings</th></tr></thead>
<tbody>
${rows.map((row) => {
  const [id, name] = [cellText(row.internal_id), cellText(row.company_name)]
  return html`<tr id="company-${id}"><th scope="row">${name === '' ? html`Company ${id}` : untrustedText(name)}</th><td class="n">${id}</td><td class="hide">${cellText(row.country_code)}</td><td class="n">${numbers.whole(cellNumber(row.restated_figures))}</td><td class="n">${numbers.whole(cellNumber(row.findings))}</td></tr>\n`
})}</tbody></table>`
