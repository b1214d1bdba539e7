/** Companies side by side: key figures, growth and margins in one currency, and the same charts, each on one scale for all. */

import { type Html, html } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import {
  scaleInWords,
  shownAmount,
  shownChange,
  shownIn,
  shownNumber,
  shownShare,
  textOrDash,
} from '../../../report/shown.ts'
import { COMPARED, MOST_COMPARED } from '../compare-question.ts'
import { comparedIds, linkOf } from './browse-state.ts'
import { csvButton, csvFile } from './csv-files.ts'
import {
  type Figure,
  figureOf,
  figuresOfFirst,
  growthOf,
  KINDS,
  latestOf,
  shareOf,
  yearlyGrowthOf,
  yearsOf,
} from './figures.ts'
import type { Reader } from './fragment.ts'
import { MOST_BARS, multipleChart } from './multiple-chart.ts'
import { type PageHtml, pageHtml } from './page-html.ts'

const LONGEST_NAME = 80
const SALES = ['NetSales', 'TotalRevenue']
const EQUITY = ['TotalEquity', 'ShareholderEquity']
const EMPLOYEES = ['Employees']
const OFFERED = ['EUR', 'USD']

export interface CompareState {
  readonly ids: readonly string[]
  readonly currency?: string | undefined
}

/** @param ids as the address has them: digits with commas between @param query what stands behind `?` */
export const compareState = (ids: string, query: string): CompareState => {
  const currency = new URLSearchParams(query).get('currency') ?? ''
  return {
    ids: comparedIds(ids),
    ...(/^[A-Z]{3}$/.test(currency) && { currency }),
  }
}

/** The address of a comparison; that of the list where nothing is compared. */
export const compareLink = ({ ids, currency }: CompareState): string =>
  ids.length === 0
    ? '#/'
    : `#/compare/${ids.join(',')}${currency === undefined ? '' : `?currency=${currency}`}`

interface Compared {
  readonly id: string
  readonly name: string
  readonly country: string
  /** As it reports them. */
  readonly own: readonly Figure[]
  /** In the one currency; those without a rate are left out. */
  readonly shown: readonly Figure[]
  /** The newest figure that its column is of. */
  readonly latest: Figure | undefined
}

const comparedOf = (rows: readonly ReportRow[]): Compared => {
  const [first = {}] = rows
  const reported = rows.filter((row) => row.line_item !== null)
  const own = reported.map((row) =>
    figureOf({ ...row, value: row.reported_value, currency: row.reported_currency }),
  )
  const sales = figuresOfFirst(own, SALES)
  const statements = own.filter(({ lineItem }) => lineItem !== 'Employees')
  return {
    id: cellText(first.internal_id),
    name: cellText(first.company_name),
    country: cellText(first.country_code),
    own,
    shown: reported.filter((row) => row.value !== null).map(figureOf),
    latest: latestOf(sales.length > 0 ? sales : statements),
  }
}

const isOf =
  (latest: Figure | undefined) =>
  ({ year, consolidation }: Figure): boolean =>
    year === latest?.year && consolidation === latest.consolidation

/** The figure of the column's statement. */
const figureIn = (figures: readonly Figure[], items: readonly string[], one: Compared): Figure | undefined =>
  figuresOfFirst(figures.filter(isOf(one.latest)), items)[0]

const NONE = html`<span class="soft" aria-hidden="true">–</span><span class="vh">not reported</span>`

interface Line {
  readonly title: string
  readonly isPart?: boolean
  readonly cell: (one: Compared, factor: number) => Html
}

const amount = (title: string, items: readonly string[]): Line => ({
  title,
  cell: (one, factor) => {
    const shown = figureIn(one.shown, items, one)
    if (shown !== undefined) return html`${shownIn(shown.value, factor)}`
    return figureIn(one.own, items, one) === undefined ? NONE : html`<span class="soft">no rate</span>`
  },
})

const share = (title: string, items: readonly string[], of: string): Line => ({
  title,
  isPart: true,
  cell: (one) => {
    const figure = figureIn(one.own, items, one)
    const found = figure && shareOf(one.own, figure, of)
    return found === undefined ? NONE : html`${shownShare(found)}`
  },
})

const salesOf = ({ own }: Compared): readonly Figure[] => figuresOfFirst(own, SALES)

/** The headcount of the column's year, else the newest one with its year. */
const headcount = (one: Compared): readonly [figure: Figure, isOfYear: boolean] | undefined => {
  const all = figuresOfFirst(one.own, EMPLOYEES)
  const ofYear = latestOf(all.filter(({ year }) => year === one.latest?.year))
  const newest = ofYear ?? latestOf(all)
  return newest && [newest, ofYear !== undefined]
}

const LINES: readonly Line[] = [
  amount('Net sales', SALES),
  {
    title: 'in a year',
    isPart: true,
    cell: (one) => {
      const growth = one.latest && growthOf(salesOf(one), one.latest)
      return growth === undefined ? NONE : html`${shownChange(growth)}`
    },
  },
  {
    title: 'a year since',
    isPart: true,
    cell: (one) => {
      const yearly = one.latest && yearlyGrowthOf(salesOf(one), one.latest)
      return yearly === undefined ? NONE : html`${shownShare(yearly[0])} <small>${yearly[1]}</small>`
    },
  },
  amount('EBITDA', ['EBITDA']),
  share('of net sales', ['EBITDA'], 'NetSales'),
  amount('EBIT', ['EBIT']),
  share('of net sales', ['EBIT'], 'NetSales'),
  amount('Net profit', ['NetProfit']),
  share('of net sales', ['NetProfit'], 'NetSales'),
  amount('Total assets', ['TotalAssets']),
  amount('Equity', EQUITY),
  share('of total assets', EQUITY, 'TotalAssets'),
  {
    title: 'Employees',
    cell: (one) => {
      const [figure, isOfYear] = headcount(one) ?? []
      if (figure === undefined) return NONE
      return html`${shownNumber(figure.value)}${isOfYear ? html`` : html` <small>${figure.year}</small>`}`
    },
  },
  {
    title: 'Net sales of each',
    isPart: true,
    cell: (one) => {
      const [figure, isOfYear] = headcount(one) ?? []
      const sales = figureIn(one.shown, SALES, one)
      if (figure === undefined || !isOfYear || sales === undefined || figure.value <= 0) return NONE
      return html`${shownAmount(sales.value / figure.value)}`
    },
  },
]

const yearOf = ({ latest }: Compared): string => {
  if (latest === undefined) return 'no figures'
  const { year, consolidation, months } = latest
  const kind = consolidation === KINDS[0] ? '' : consolidation.toLowerCase()
  const length = months === null || months === 12 ? '' : `${months} months`
  return [year, kind, length].filter(Boolean).join(', ')
}

const columnHead = (one: Compared, { ids, currency }: CompareState): Html => {
  const name = textOrDash(one.name, LONGEST_NAME)
  const others = compareLink({ ids: ids.filter((id) => id !== one.id), currency })
  return html`<th scope="col" class="n"><a href="#/company/${one.id}">${name}</a><small>${[one.country, yearOf(one)].filter(Boolean).join(' · ')} <a class="drop" href="${others}"><span aria-hidden="true">×</span><span class="vh">Leave out ${name}</span></a></small></th>`
}

const table = (companies: readonly Compared[], state: CompareState, unit: string, factor: number): Html => {
  const lines = LINES.map(
    ({ title, isPart, cell }) =>
      html`<tr class="${isPart ? 'sub' : 'sum'}"><th scope="row">${title}</th>${companies.map((one) => html`<td class="n">${cell(one, factor)}</td>`)}</tr>\n`,
  )
  return html`<div class="card"><div class="sheets"><div class="stmt compare" tabindex="0" role="region" aria-label="Key figures side by side, scrolls sideways"><table><caption class="vh">Key figures side by side, ${unit}</caption>
<thead><tr><th scope="col">${unit}</th>${companies.map((one) => columnHead(one, state))}</tr></thead>
<tbody>
${lines}</tbody></table></div></div></div>
`
}

/** A chart of each company, on the years and the scale of all. */
interface Charts {
  readonly title: string
  readonly of: (one: Compared) => readonly Figure[]
  readonly shown: (value: number) => string
}

/** Shares of a line item, in percent, as figures of the years that have both. */
const sharesOf = (one: Compared, items: readonly string[], of: string): readonly Figure[] =>
  figuresOfFirst(one.own, items).flatMap((figure) => {
    const found = shareOf(one.own, figure, of)
    return found === undefined ? [] : [{ ...figure, value: 100 * found }]
  })

const CHARTS: readonly Charts[] = [
  { title: 'Net sales', of: ({ shown }) => figuresOfFirst(shown, SALES), shown: shownAmount },
  {
    title: 'EBIT margin',
    of: (one) => sharesOf(one, ['EBIT'], 'NetSales'),
    shown: (value) => shownShare(value / 100),
  },
  {
    title: 'Equity of total assets',
    of: (one) => sharesOf(one, EQUITY, 'TotalAssets'),
    shown: (value) => shownShare(value / 100),
  },
  { title: 'Employees', of: ({ own }) => figuresOfFirst(own, EMPLOYEES), shown: shownNumber },
]

/** Figures of the kind of statement that the newest one is of. */
const ofOneKind = (figures: readonly Figure[]): readonly Figure[] => {
  const latest = latestOf(figures)
  return figures.filter(({ consolidation }) => consolidation === latest?.consolidation)
}

const charts = ({ title, of, shown }: Charts, companies: readonly Compared[], unit: string): Html => {
  const figures = companies.map((one) => ofOneKind(of(one)))
  const all = figures.flat()
  const years = yearsOf(all, MOST_BARS)
  const values = all.filter(({ year }) => years.includes(year)).map(({ value }) => value)
  if (values.length === 0) return html``
  const cards = companies.map((one, at) => {
    const own = figures[at] ?? []
    const latest = latestOf(own)
    const value = latest === undefined ? NONE : html`${shown(latest.value)} <small>${latest.year}</small>`
    return html`<div class="card stat"><dl><dt class="soft"><small>${textOrDash(one.name, LONGEST_NAME)}</small></dt><dd>${value}</dd></dl>
${multipleChart(own, [], years, `${title} of ${one.name}`, [0, ...values])}</div>\n`
  })
  const isAmount = all.some(({ currency }) => currency !== null) && title === 'Net sales'
  return html`<section><h2>${title}</h2><p class="lead">${isAmount ? `In ${unit}, one` : 'One'} scale for all.</p><div class="stats side">
${cards}</div></section>
`
}

const currencyLinks = (state: CompareState, companies: readonly Compared[], unit: string): Html => {
  const own = companies.flatMap((one) => one.latest?.currency ?? [])
  const others = [...new Set([...own, ...OFFERED])].filter((currency) => currency !== unit)
  return html`${others.map((currency) => html` <a href="${compareLink({ ...state, currency })}">${currency}</a>`)}`
}

const NOTHING = pageHtml(
  { id: 'compare', title: 'Compare' },
  html`<div class="head"><h1 tabindex="-1">Compare</h1><p class="lead">Choose up to ${MOST_COMPARED} companies in the <a href="#/">list</a>.</p></div>`,
)

export const comparePage = async ({ ask }: Reader, state: CompareState): Promise<PageHtml> => {
  if (state.ids.length === 0) return NOTHING
  const { rows } = await ask('compare', state)
  const companies = [...Map.groupBy(rows, (row) => cellText(row.internal_id)).values()].map(comparedOf)
  const missing = state.ids.filter((id) => companies.every((one) => one.id !== id))
  const currency = cellText(rows[0]?.target)
  const amounts = companies.flatMap(({ shown }) => shown.filter((one) => one.currency !== null))
  const [factor, word] = scaleInWords(Math.max(0, ...amounts.map(({ value }) => Math.abs(value))))
  const unit = [word, currency].filter(Boolean).join(' ') || 'as reported'
  const absent =
    missing.length === 0
      ? html``
      : html`<p class="lead">Not there, or not to be seen with this token: ${missing.join(', ')}.</p>\n`
  const more =
    companies.length < MOST_COMPARED
      ? html`<a class="btn" href="${linkOf({ compared: state.ids })}">Add companies</a> `
      : html``
  const names = companies.map(({ name }) => name).join(', ')
  return pageHtml(
    { id: 'compare', title: `Compare ${names}` },
    html`<div class="head"><h1 tabindex="-1">Compare</h1><p class="lead">The newest year of each in ${currency}, converted by the average rate of the year; growth and shares in its own currency. In another one:${currencyLinks(state, companies, currency)}</p></div>
${absent}${table(companies, state, unit, factor)}${CHARTS.map((one) => charts(one, companies, currency))}<p class="buttons">${more}${csvButton('compare', state, { name: 'compare', of: 'Compared figures' })}</p>
`,
  )
}

export const compareFile = csvFile(COMPARED, ({ ask }, sent) => ask('compare', sent))
