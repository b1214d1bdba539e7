/** The filtered companies as a table with their latest figures, sorted by links in its head, 50 at a time. */

import { numbersIn, scaleOf } from '../report/numbers.ts'
import { shownChange, shownNumber, shownShare } from '../report/shown.ts'
import { sparkline } from '../report/svg.ts'
import { type AnswerRow, answerRows, ask, type ExplorerAnswer } from './api.ts'
import { type BrowseState, browseFilter, linkOf, type Order, pageRows, sortedBy } from './browse-state.ts'
import { fromHtml, h, untrusted } from './dom.ts'
import { saveCsv } from './download.ts'
import type { ShownPage } from './page.ts'

const numbers = numbersIn('en')
const LONGEST_NAME = 120
const LONGEST_DETAIL = 60
/** Companies of a CSV file at most: those that the server gives at once. */
const MOST_SAVED = 10_000

const ARROWS = { asc: '▴', desc: '▾' } as const

const headCell = (
  state: BrowseState,
  [order, title]: readonly [Order, string],
  className?: string,
): HTMLElement => {
  const isOrder = state.order === order
  const direction = state.direction === 'asc' ? 'ascending' : 'descending'
  return h(
    'th',
    { scope: 'col', class: className, 'aria-sort': isOrder && direction },
    h(
      'a',
      { class: 'sort', href: linkOf(sortedBy(state, order)), 'data-key': `sort ${order}` },
      title,
      h('span', { 'aria-hidden': 'true' }, isOrder ? ` ${ARROWS[state.direction]}` : ''),
    ),
  )
}

const none = (): HTMLElement =>
  h(
    'span',
    { class: 'soft' },
    h('span', { 'aria-hidden': 'true' }, '–'),
    h('span', { class: 'vh' }, 'not reported'),
  )

/** The amount with the sign of its own size, as `416.2 bn`. */
const amount = (value: number): string => {
  const [factor, sign] = scaleOf([value])
  return `${numbers.fixed(value / factor, sign === '' ? 0 : 1)} ${sign}`.trim()
}

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const salesCell = (row: AnswerRow): HTMLElement => {
  const sales = number(row.net_sales)
  if (sales === undefined) return h('td', { class: 'n' }, none())
  const isOther = row.currency !== row.unit
  return h(
    'td',
    { class: 'n' },
    h('b', {}, amount(sales)),
    h('small', {}, `${String(row.fiscal_year)}${isOther ? ` ${String(row.currency ?? 'no currency')}` : ''}`),
  )
}

const tableRow = (row: AnswerRow): HTMLElement => {
  const details = [row.industry, row.city].filter(Boolean).join(', ')
  const sales: readonly unknown[] = Array.isArray(row.sales_by_year) ? row.sales_by_year : []
  // A line across a year without a figure would invent one: it begins after the newest gap.
  const drawn = sales.slice(sales.lastIndexOf(null) + 1).map(Number)
  const [growth, margin] = [number(row.growth), number(row.ebit_margin)]
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row', class: 'quiet' },
      h('a', { href: `#/company/${String(row.internal_id)}` }, untrusted(row.company_name, LONGEST_NAME)),
      details === '' ? null : h('small', {}, untrusted(details, LONGEST_DETAIL)),
    ),
    h('td', { class: 'hide' }, untrusted(row.country_code, 8)),
    h('td', { class: 'hide' }, fromHtml(sparkline(drawn))),
    salesCell(row),
    h('td', { class: 'n' }, growth === undefined ? none() : shownChange(growth)),
    h('td', { class: 'n hide' }, margin === undefined ? none() : shownShare(margin)),
  )
}

/** Says that the file is on its way, that it was cut, or why there is none. */
const saveButton = (page: ShownPage, state: BrowseState, total: number): readonly Node[] => {
  const button = h('button', { type: 'button', class: 'btn', 'data-key': 'csv' }, 'CSV')
  const status = h('span', { class: 'soft', role: 'status' })
  button.addEventListener('click', async () => {
    const { order, direction } = state
    status.textContent = 'Loading …'
    try {
      const parameters = { ...browseFilter(state), order, direction, most: MOST_SAVED }
      const answer = await ask('browse', parameters, page.signal)
      const left = answer.columns.indexOf('unit')
      const cut = <T>(row: readonly T[]): readonly T[] => row.slice(0, left)
      saveCsv({ columns: cut(answer.columns), rows: answer.rows.map(cut) }, 'companies')
      status.textContent =
        total > MOST_SAVED
          ? `The first ${shownNumber(MOST_SAVED)} of ${shownNumber(total)} are saved; “firmlake export” writes all.`
          : `${shownNumber(total)} companies are saved.`
    } catch (error) {
      if (!page.signal.aborted) status.textContent = `✖ ${error instanceof Error ? error.message : error}`
    }
  })
  return [button, status]
}

const ORDER_WORDS: Readonly<Record<Order, Readonly<Record<BrowseState['direction'], string>>>> = {
  name: { asc: 'by name', desc: 'by name, backwards' },
  country: { asc: 'by country', desc: 'by country, backwards' },
  sales: { asc: 'smallest first', desc: 'largest first' },
  growth: { asc: 'fastest falling first', desc: 'fastest growing first' },
  margin: { asc: 'least margin first', desc: 'highest margin first' },
}

const leadText = ({ order, direction, from }: BrowseState, rows: readonly AnswerRow[]): string => {
  const unit = rows[0]?.unit
  const currency = typeof unit === 'string' ? ` in ${unit}` : ''
  const place =
    from === 0 ? '' : `; ${shownNumber(from + 1)} to ${shownNumber(from + rows.length)} of the list`
  return `Sales${currency}, newest year of each; ${ORDER_WORDS[order][direction]}${place}`
}

export const companyList = (page: ShownPage, answer: ExplorerAnswer, state: BrowseState): readonly Node[] => {
  const rows = answerRows(answer)
  const total = Number(rows[0]?.companies ?? 0)
  const title = h(
    'h2',
    { id: 'list', tabindex: -1 },
    total === 1 ? '1 company' : `${shownNumber(total)} companies`,
  )
  if (rows.length === 0)
    return [
      h('h2', { id: 'list', tabindex: -1 }, 'No company'),
      h('p', { class: 'lead' }, 'No company has all of this. Leave a value out, or clear all.'),
    ]
  const next = state.from + rows.length
  const before = pageRows(next)
  const pageLink = (from: number, text: string): HTMLElement =>
    h('a', { class: 'btn', href: linkOf({ ...state, from }), 'data-key': 'page' }, text)
  return [
    h('div', { class: 'row' }, title, h('p', { class: 'lead' }, leadText(state, rows))),
    h(
      'div',
      { class: 'card' },
      h(
        'table',
        { class: 'companies' },
        h('caption', { class: 'vh' }, 'Companies with their latest net sales'),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            headCell(state, ['name', 'Company']),
            headCell(state, ['country', 'Country'], 'hide'),
            h('th', { scope: 'col', class: 'hide' }, 'Sales by year'),
            headCell(state, ['sales', 'Sales'], 'n'),
            headCell(state, ['growth', 'Growth'], 'n'),
            headCell(state, ['margin', 'EBIT margin'], 'n hide'),
          ),
        ),
        h('tbody', {}, ...rows.map(tableRow)),
      ),
      h(
        'div',
        { class: 'fold' },
        state.from > 0
          ? pageLink(Math.max(0, state.from - before), `Previous ${Math.min(before, state.from)}`)
          : null,
        next < total ? pageLink(next, `Next ${Math.min(pageRows(next), total - next)}`) : null,
        ...saveButton(page, state, total),
      ),
    ),
  ]
}
