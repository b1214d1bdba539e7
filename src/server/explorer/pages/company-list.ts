/** The filtered companies as a table with their latest figures, sorted by links in its head, and as a file. */

import { type Html, html } from '../../../report/html.ts'
import { cellNumber, cellText, type ReportRow } from '../../../report/rows.ts'
import {
  notReported,
  shownAmount,
  shownChange,
  shownNumber,
  shownShare,
  textOrDash,
} from '../../../report/shown.ts'
import { sparkline } from '../../../report/svg.ts'
import { objectOf } from '../../../support/json-form.ts'
import {
  type BrowseState,
  browseFilter,
  linkOf,
  type Order,
  pageRows,
  queryText,
  sortedBy,
  stateOf,
  withCompared,
} from './browse-state.ts'
import { compareLink } from './compare.ts'
import { csvButton, csvFile } from './csv-files.ts'
import { fragment } from './fragment.ts'

const LONGEST_NAME = 120
const LONGEST_DETAIL = 60
/** Companies of a CSV file at most: those that the server gives at once. */
const MOST_SAVED = 10_000

const ARROWS = { asc: ' ▴', desc: ' ▾' } as const
const SORTS = { asc: 'ascending', desc: 'descending' } as const

const headCell = (state: BrowseState, order: Order, title: string, className: string): Html => {
  const isOrder = state.order === order
  return html`<th scope="col" class="${className}"${isOrder ? html` aria-sort="${SORTS[state.direction]}"` : html``}><a class="sort" href="${linkOf(sortedBy(state, order))}" data-key="${`sort ${order}`}">${title}<span aria-hidden="true">${isOrder ? ARROWS[state.direction] : ''}</span></a></th>`
}

const shownIfNumber = (value: unknown, shown: (value: number) => string): Html =>
  typeof value === 'number' ? html`${shown(value)}` : notReported

const salesCell = (row: ReportRow): Html => {
  if (typeof row.net_sales !== 'number') return notReported
  const other = row.currency === row.unit ? '' : ` ${cellText(row.currency) || 'no currency'}`
  return html`<b>${shownAmount(row.net_sales)}</b><small>${cellText(row.fiscal_year)}${other}</small>`
}

/** Takes a company up into a comparison, or leaves it out again. */
const compareMark = (row: ReportRow, state: BrowseState): Html => {
  const id = cellText(row.internal_id)
  const next = withCompared(state, id)
  if (next === undefined) return html``
  const isIn = state.compared.includes(id)
  return html`<a class="pick" href="${linkOf(next)}" data-key="${`compare ${id}`}"${isIn ? html` aria-current="true"` : html``}><span class="box" aria-hidden="true">${isIn ? '✓' : ''}</span><span class="vh">Compare ${textOrDash(row.company_name, LONGEST_NAME)}</span></a>`
}

/** The way to the comparison, where companies are taken up. */
const compareBar = (state: BrowseState): Html => {
  const { compared } = state
  if (compared.length === 0) return html``
  const said = compared.length === 1 ? 'Compare 1 company' : `Compare ${compared.length} companies`
  return html`<p class="buttons"><a class="btn main" href="${compareLink({ ids: compared })}">${said}</a> <a class="btn" href="${linkOf({ ...state, compared: [] })}" data-key="compare none">Compare none</a></p>\n`
}

const tableRow = (row: ReportRow, state: BrowseState): Html => {
  const details = [row.industry, row.city].map(cellText).filter(Boolean).join(', ')
  const sales: readonly unknown[] = Array.isArray(row.sales_by_year) ? row.sales_by_year : []
  // A line across a year without a figure would invent one: it begins after the newest gap.
  const drawn = sales.slice(sales.lastIndexOf(null) + 1).map(Number)
  return html`<tr><th scope="row" class="quiet">${compareMark(row, state)}<a href="#/company/${cellText(row.internal_id)}">${textOrDash(row.company_name, LONGEST_NAME)}</a>${details === '' ? html`` : html`<small>${textOrDash(details, LONGEST_DETAIL)}</small>`}</th><td class="hide">${textOrDash(row.country_code, 8)}</td><td class="hide">${sparkline(drawn)}</td><td class="n">${salesCell(row)}</td><td class="n">${shownIfNumber(row.growth, shownChange)}</td><td class="n hide">${shownIfNumber(row.ebit_margin, shownShare)}</td></tr>\n`
}

const ORDER_WORDS: Readonly<Record<Order, Readonly<Record<BrowseState['direction'], string>>>> = {
  name: { asc: 'by name', desc: 'by name, backwards' },
  country: { asc: 'by country', desc: 'by country, backwards' },
  sales: { asc: 'smallest first', desc: 'largest first' },
  growth: { asc: 'fastest falling first', desc: 'fastest growing first' },
  margin: { asc: 'least margin first', desc: 'highest margin first' },
}

const leadText = ({ order, direction, from }: BrowseState, rows: readonly ReportRow[]): string => {
  const unit = cellText(rows[0]?.unit)
  const place =
    from === 0 ? '' : `; ${shownNumber(from + 1)} to ${shownNumber(from + rows.length)} of the list`
  return `Sales${unit === '' ? '' : ` in ${unit}`}, newest year of each; ${ORDER_WORDS[order][direction]}${place}`
}

const saved = (total: number): string =>
  total > MOST_SAVED
    ? `The first ${shownNumber(MOST_SAVED)} of ${shownNumber(total)} are saved; “firmlake export” writes all.`
    : `${shownNumber(total)} companies are saved.`

/** How many follow is said below a whole page alone. */
const pageLinks = (state: BrowseState, rows: number, total: number): Html => {
  const { from } = state
  const next = from + rows
  const link = (to: number, text: string): Html =>
    html`<a class="btn" href="${linkOf({ ...state, from: to })}" data-key="page">${text}</a>`
  const after = Math.min(pageRows(next), total - next)
  return html`${from > 0 ? link(Math.max(0, from - pageRows(next)), 'Previous') : html``}${
    after > 0 ? link(next, from > 0 ? `Next ${after}` : 'More companies') : html``
  }`
}

const QUERY = objectOf({ query: queryText })

export const companies = fragment(QUERY, async ({ ask }, { query }) => {
  const state = stateOf(query)
  const { order, direction, from } = state
  const filter = browseFilter(state)
  const { rows } = await ask('browse', { ...filter, order, direction, from, most: pageRows(from) })
  if (rows.length === 0)
    return html`<h2 id="list" tabindex="-1" data-key="list" data-from="${from}">No company</h2><p class="lead">No company has all of this. Leave a value out, or clear all.</p>\n`
  const total = cellNumber(rows[0]?.companies)
  return html`<div class="row"><h2 id="list" tabindex="-1" data-key="list" data-from="${from}">${total === 1 ? '1 company' : `${shownNumber(total)} companies`}</h2><p class="lead">${leadText(state, rows)}</p></div>
${compareBar(state)}<div class="card"><table class="companies"><caption class="vh">Companies with their latest net sales</caption>
<thead><tr>${headCell(state, 'name', 'Company', '')}${headCell(state, 'country', 'Country', 'hide')}<th scope="col" class="hide">Sales by year</th>${headCell(state, 'sales', 'Sales', 'n')}${headCell(state, 'growth', 'Growth', 'n')}${headCell(state, 'margin', 'EBIT margin', 'n hide')}</tr></thead>
<tbody>
${rows.map((row) => tableRow(row, state))}</tbody></table>
<div class="fold">${pageLinks(state, rows.length, total)}${csvButton('companies', { query }, { name: 'companies', of: 'Companies', said: saved(total) })}</div></div>
`
})

export const companiesFile = csvFile(QUERY, async ({ ask }, { query }) => {
  const state = stateOf(query)
  const { order, direction } = state
  const answer = await ask('browse', { ...browseFilter(state), order, direction, most: MOST_SAVED })
  // The columns from the unit on are the list's own.
  return { ...answer, columns: answer.columns.slice(0, answer.columns.indexOf('unit')) }
})
