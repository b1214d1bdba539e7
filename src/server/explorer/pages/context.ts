/** Beside the figures of a company: its peers, what loads changed, and what is probably wrong. */

import { type Html, html, untrustedText } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import {
  countedAs,
  numbers,
  scaleInWords,
  shownChange,
  shownDay,
  shownNumber,
  shownShare,
  textOrDash,
} from '../../../report/shown.ts'
import { stackedBar } from '../../../report/svg.ts'
import { capital, dateWords, instantWords, isInstant, ruleWords } from '../../../report/words.ts'
import { objectOf } from '../../../support/json-form.ts'
import { MOST_COMPARED } from '../compare-question.ts'
import { companyId } from '../question.ts'
import { compareLink } from './compare.ts'
import { type Fragment, fragment, type Reader } from './fragment.ts'

const LONGEST_NAME = 80
const LONGEST_VALUE = 160
const COMPANY = objectOf({ id: companyId })

/** A card with a heading over the rows of a question about a company. */
const card = (
  question: string,
  title: string,
  width: string,
  show: (rows: readonly ReportRow[]) => Html,
): Fragment =>
  fragment(COMPANY, async ({ ask }: Reader, company) => {
    const { rows } = await ask(question, company)
    return html`<div class="${`card ${width}`.trim()}"><h2>${title}</h2>
${show(rows)}</div>
`
  })

const orDash = (value: unknown, shown: (value: number) => string): string =>
  typeof value === 'number' ? shown(value) : '–'

const peerRow = (row: ReportRow, most: number, factor: number): Html => {
  const isSelf = Number(row.rank) === 0
  const sales = Number(row.net_sales_eur)
  const name = textOrDash(row.company_name, LONGEST_NAME)
  const scaled = sales / factor
  return html`<tr><th scope="row" class="quiet">${isSelf ? html`<b>${name}</b>` : html`<a href="#/company/${cellText(row.internal_id)}">${name}</a>`}<small>${[row.country_code, row.fiscal_year].filter(Boolean).join(', ')}</small></th><td class="b">${stackedBar([{ value: sales, tone: isSelf ? 'f1' : 'f1l' }], most)}</td><td class="n">${scaled < 10 ? numbers.fixed(scaled, 1) : numbers.whole(scaled)}</td><td class="n">${orDash(row.growth, shownChange)}</td><td class="n hide">${orDash(row.ebit_margin, shownShare)}</td></tr>\n`
}

/** The company and its nearest peers side by side. */
const compareWithPeers = (rows: readonly ReportRow[]): Html => {
  const nearest = rows.toSorted((a, b) => Number(a.rank) - Number(b.rank)).slice(0, MOST_COMPARED)
  const ids = nearest.map((row) => cellText(row.internal_id))
  return html`<a href="${compareLink({ ids })}">Compare with the nearest ${nearest.length - 1}</a>. `
}

const peers = (rows: readonly ReportRow[]): Html => {
  if (rows.length < 2)
    return html`<p class="soft">None. Peers have the same industry, by its first two digits, and net sales in a currency with rates.</p>\n`
  const most = Math.max(...rows.map((row) => Number(row.net_sales_eur)))
  const [factor, word] = scaleInWords(most)
  const unit = [word, 'EUR'].filter(Boolean).join(' ')
  return html`<p class="soft">${compareWithPeers(rows)}Industry ${cellText(rows[0]?.division)}, nearest by latest net sales in ${unit}, same country preferred</p>
<table class="bars peers"><caption class="vh">Peers by net sales in ${unit}</caption>
<thead><tr><th scope="col">Company</th><th scope="col" class="b"><span class="vh">bar</span></th><th scope="col" class="n">Sales</th><th scope="col" class="n">Growth</th><th scope="col" class="n hide">EBIT margin</th></tr></thead>
<tbody>
${rows.map((row) => peerRow(row, most, factor))}</tbody></table>
`
}

/** Rows of changes that are open. */
const OPEN = 8

const became = (before: Html, after: Html): Html =>
  html`<span class="old">${before}</span><span class="arrow" aria-hidden="true">→</span><span class="vh"> became </span><b>${after}</b>`

/** Days and instants as people write them. */
const detailValue = (value: unknown): Html => {
  const text = cellText(value)
  if (!isInstant(text)) return textOrDash(value, LONGEST_VALUE)
  return html`${text.slice(11, 16) === '00:00' ? dateWords(text) : instantWords(text)}`
}

const changeText = ({ kind, item, fiscal_year, old_value, new_value, currency }: ReportRow): Html => {
  const [year, before, after] = [cellText(fiscal_year), Number(old_value), Number(new_value)]
  if (kind === 'first')
    return html`First seen, ${after === 0 ? 'without figures' : `with ${countedAs(after, 'figure')}`}`
  if (kind === 'figures') return html`Fiscal year ${year} came: ${countedAs(after, 'figure')}`
  if (kind === 'gone') return html`Fiscal year ${year} lost ${countedAs(before, 'figure')}`
  if (kind === 'restated') {
    const note = [cellText(currency), 'restated'].filter(Boolean).join(', ')
    return html`${textOrDash(item, LONGEST_NAME)} ${year}: ${became(html`${shownNumber(before)}`, html`${shownNumber(after)}`)} <small class="fair">${note}</small>`
  }
  return html`${capital(cellText(item).replaceAll('_', ' '))}: ${became(detailValue(old_value), detailValue(new_value))}`
}

const changeItem = (row: ReportRow): Html =>
  html`<li><small class="num" title="snapshot ${cellText(row.snapshot)}">${shownDay(row.loaded_at)}</small><span>${changeText(row)}</span></li>\n`

const changes = (rows: readonly ReportRow[]): Html => {
  const older = rows.slice(OPEN)
  return html`<p class="soft">What the loads changed, newest first</p>
<ol class="steps">
${rows.slice(0, OPEN).map(changeItem)}</ol>
${
  older.length === 0
    ? html``
    : html`<details><summary>${older.length} more</summary><ol class="steps">${older.map(changeItem)}</ol></details>\n`
}`
}

const findingRow = (row: ReportRow): Html => {
  const rule = cellText(row.rule)
  const isError = row.severity === 'error'
  return html`<tr><th scope="row"><span class="${isError ? 'bad' : 'soft'}">${isError ? '✖ error: ' : 'note: '}</span>${capital(ruleWords(rule))}<small>${untrustedText(cellText(row.item), LONGEST_NAME)} ${cellText(row.fiscal_year)}, rule <a href="#/quality">${rule}</a></small></th><td class="n">${orDash(row.value, shownNumber)}</td><td class="n">${orDash(row.expected, shownNumber)}</td></tr>\n`
}

const findings = (rows: readonly ReportRow[]): Html =>
  rows.length === 0
    ? html`<p><span class="good">✔</span> No rule on the data is broken.</p>\n`
    : html`<table class="findings"><caption class="vh">Quality findings</caption>
<thead><tr><th scope="col">What is probably wrong</th><th scope="col" class="n">Reported</th><th scope="col" class="n">Expected</th></tr></thead>
<tbody>
${rows.map(findingRow)}</tbody></table>
`

export const CONTEXT_FRAGMENTS: Readonly<Record<string, Fragment>> = {
  peers: card('peers', 'Peers', 'c7 own-height', peers),
  changes: card('changes', 'Changes', '', changes),
  'company-findings': card('company-findings', 'Quality', '', findings),
}
