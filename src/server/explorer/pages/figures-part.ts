/** A company's figures: small multiples with growth and margin, and its statements, the newest year first. */

import { type Html, html } from '../../../report/html.ts'
import { scaleOf } from '../../../report/numbers.ts'
import {
  numbers,
  shownChange,
  shownDay,
  shownIn,
  shownNumber,
  shownShare,
  textOrDash,
} from '../../../report/shown.ts'
import { objectOf } from '../../../support/json-form.ts'
import { companyId } from '../question.ts'
import {
  type EarlierFigure,
  type Figure,
  figureOf,
  figuresOfFirst,
  growthOf,
  isAmount,
  KINDS,
  latestOf,
  listedIn,
  MULTIPLES,
  type Multiple,
  type Statement,
  shareOf,
  statementsOf,
  yearlyGrowthOf,
  yearsOf,
} from './figures.ts'
import { fragment } from './fragment.ts'
import { MOST_BARS, multipleChart } from './multiple-chart.ts'
import { proofLink } from './proof.ts'

/** `215.9` and `bn USD`. */
const shortAmount = ({ value, currency }: Figure): readonly [text: string, unit: string] => {
  if (currency === null) return [shownNumber(value), '']
  const [factor, sign] = scaleOf([value])
  const text = factor === 1 ? shownNumber(value) : numbers.fixed(value / factor, 1)
  return [text, [sign, currency].filter(Boolean).join(' ')]
}

const MOST_MULTIPLES = 4

const multiple = (figures: readonly Figure[], { items, of }: Multiple): readonly Html[] => {
  const all = figuresOfFirst(figures, items)
  const latest = latestOf(all)
  if (latest === undefined) return []
  const inCurrency = all.filter(({ currency }) => currency === latest.currency)
  const own = inCurrency.filter(({ consolidation }) => consolidation === latest.consolidation)
  const others = inCurrency.filter(({ consolidation }) => consolidation !== latest.consolidation)
  const [text, unit] = shortAmount(latest)
  const [growth, yearly] = [growthOf(own, latest), yearlyGrowthOf(own, latest)]
  const share = of && shareOf(figures, latest, of[0])
  const facts = [
    ...(growth === undefined ? [] : [html`<span><b class="num">${shownChange(growth)}</b> in a year</span>`]),
    ...(yearly === undefined ? [] : [html`<span>${shownShare(yearly[0])} a year since ${yearly[1]}</span>`]),
    ...(share === undefined ? [] : [html`<span>${shownShare(share)} ${of?.[1] ?? ''}</span>`]),
  ]
  const kind = latest.consolidation === KINDS[0] ? '' : `, ${latest.consolidation.toLowerCase()}`
  const years = yearsOf(own, MOST_BARS)
  const [other] = years.length > 1 ? others.filter(({ year }) => years.includes(year)) : []
  return [
    html`<div class="card stat"><dl><dt class="soft"><small>${textOrDash(latest.name)} ${latest.year}${kind}</small></dt><dd>${text} <small>${unit}</small></dd></dl>
<p><small>${facts}</small></p>${multipleChart(own, others, years, latest.name)}${
      other === undefined
        ? html``
        : html`<p class="key"><span class="dashed"></span>${other.consolidation.toLowerCase()}</p>`
    }</div>\n`,
  ]
}

const TITLES: Readonly<Record<string, string>> = {
  ProfitAndLoss: 'Income statement',
  BalanceSheet: 'Balance sheet',
  CashFlow: 'Cash flow',
  KeyFinancialRatio: 'Key ratios',
  UltimateParent: 'Ultimate parent',
  OtherFinancialItems: 'Other items',
}

/** Lines that sum up others, and those that stand between; all others of a statement are parts of them. */
const SUMS: ReadonlySet<string> = new Set([
  ...['TotalRevenue', 'NetSales', 'GrossProfit', 'EBIT', 'NetProfit', 'TotalAssets', 'TotalEquity'],
  ...['ShareholderEquity', 'NetChangeInCash'],
])
const BETWEEN: ReadonlySet<string> = new Set([
  ...['EBITDA', 'EBITD', 'EBITA', 'NetFinancialIncomeOrExpenses', 'PreTaxProfit'],
  ...['TotalNonCurrentAssets', 'TotalCurrentAssets', 'TotalCurrentLiabilities'],
])
const HAS_PARTS: ReadonlySet<string> = new Set(['ProfitAndLoss', 'BalanceSheet'])

const lineClass = ({ category, lineItem }: Figure): string => {
  if (SUMS.has(lineItem)) return 'sum'
  return HAS_PARTS.has(category) && !BETWEEN.has(lineItem) ? 'sub' : 'line'
}

/** The line whose newest value stands beside the title of a folded statement. */
const HEADLINES: readonly string[] = ['NetSales', 'TotalAssets', 'CashflowOperating', 'Employees']

const earlierLine = ({ value, currency, until }: EarlierFigure, figure: Figure, factor: number): Html =>
  html`<span class="was">was <s>${shownIn(value, factor)}</s>${currency === figure.currency ? '' : ` ${currency ?? 'without currency'}`}<small>until ${shownDay(until)}</small></span>`

const NONE = html`<td class="n"><span class="soft" aria-hidden="true">–</span><span class="vh">not reported</span></td>`

/** @param isStop whether the tab key stops here: on a line once, and arrow keys go along it */
const valueCell = (figure: Figure | undefined, { id, factor: amountFactor }: Look, isStop: boolean): Html => {
  if (figure === undefined) return NONE
  const factor = isAmount(figure) ? amountFactor : 1
  const earlier = figure.earlier.map((one) => earlierLine(one, figure, factor))
  const place = { ...figure, id }
  return html`<td class="n${earlier.length > 0 ? ' re' : ''}"><a class="proven" href="${proofLink(place)}" data-proof${isStop ? html`` : html` tabindex="-1"`}>${shownIn(figure.value, factor)}</a>${earlier}</td>`
}

interface Look {
  /** The company's. */
  readonly id: number | string
  readonly factor: number
  /** `million USD` */
  readonly unit: string
}

const table = ({ years, lines }: Statement, title: string, look: Look): Html => {
  const { unit } = look
  const hasAmounts = lines.some((line) => line.some(isAmount))
  const rows = lines.flatMap((line) => {
    const [first] = line
    if (first === undefined) return []
    const byYear = new Map(line.map((figure) => [figure.year, figure]))
    const stop = years.find((year) => byYear.has(year))
    return [
      html`<tr class="${lineClass(first)}"><th scope="row">${textOrDash(first.name)}</th>${years.map((year) => valueCell(byYear.get(year), look, year === stop))}</tr>\n`,
    ]
  })
  return html`<div class="stmt" tabindex="0" role="region" aria-label="${title}, scrolls sideways"><table><caption class="vh">${hasAmounts ? `${title}, ${unit}` : title}</caption>
<thead><tr><th scope="col">${hasAmounts ? unit : 'as reported'}</th>${years.map((year) => html`<th scope="col" class="n">${year}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>`
}

const headline = ({ lines }: Statement, { factor }: Look): string => {
  const line = lines.find(([first]) => first !== undefined && HEADLINES.includes(first.lineItem))
  const latest = line && latestOf(line)
  if (latest === undefined) return `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`
  return `${latest.name.toLowerCase()} ${shownIn(latest.value, isAmount(latest) ? factor : 1)}`
}

/** The years of a statement, some of which stand behind its edge. */
const span = (years: readonly number[]): Html =>
  years.length < 2 ? html`` : html` <small>${years[0] ?? ''} to ${years.at(-1) ?? ''}</small>`

/** Statements of one kind, the first one open, all others folded. */
const statementCards = (statements: readonly Statement[], look: Look): Html => {
  const [first, ...others] = statements.map((statement) => ({
    statement,
    title: TITLES[statement.category] ?? statement.category,
  }))
  if (first === undefined) return html``
  const folds = others.map(
    ({ statement, title }) =>
      html`<details><summary><b>${textOrDash(title)}</b> · ${headline(statement, look)}</summary>${table(statement, title, look)}</details>\n`,
  )
  return html`<div class="card sheets"><h3>${textOrDash(first.title)}${span(first.statement.years)}</h3>${table(first.statement, first.title, look)}</div>
${folds.length === 0 ? html`` : html`<div class="card folded sheets">${folds}</div>\n`}`
}

/** The kinds of statements that there are: one is shown at a time, chosen without a script. */
const kindsHtml = (statements: readonly Statement[], look: Look): Html => {
  const kinds = [...Map.groupBy(statements, ({ consolidation }) => consolidation)]
  const [only] = kinds
  if (kinds.length === 1 && only !== undefined)
    return html`<div class="grid">${statementCards(only[1], look)}</div>\n`
  const choices = kinds.map(
    ([kind], at) =>
      html`<label><input type="radio" name="kind" data-key="kind ${at}"${at === 0 ? html` checked` : html``}>${kind}</label>`,
  )
  return html`<div class="kinds"><fieldset class="switch"><legend class="vh">Statements</legend>${choices}</fieldset>
${kinds.map(([, some]) => html`<div class="grid kind">${statementCards(some, look)}</div>\n`)}</div>
`
}

const leadOf = (figures: readonly Figure[], statements: readonly Statement[], unit: string): Html => {
  const kinds = new Set(statements.map(({ consolidation }) => consolidation))
  const [kind = ''] = kinds
  const said = [...(kinds.size === 1 ? [kind] : []), unit].filter(Boolean).join(', ')
  const restated = figures.some(({ earlier }) => earlier.length > 0)
    ? html` <span class="fair">“was”</span> marks a restated figure with its earlier value.`
    : html``
  return html`<p class="lead">${said.charAt(0).toUpperCase()}${said.slice(1)}, newest year first; a number opens its proof.${restated}</p>\n`
}

export const figures = fragment(objectOf({ id: companyId }), async ({ ask }, company) => {
  const { rows } = await ask('figures', company)
  const all = rows.map(figureOf)
  const [factor, word] = listedIn(all)
  const currencies = [...new Set(all.flatMap(({ currency }) => currency ?? []))].join(', ')
  const unit = [word, currencies].filter(Boolean).join(' ') || 'as reported'
  const statements = statementsOf(all)
  const multiples = MULTIPLES.flatMap((one) => multiple(all, one)).slice(0, MOST_MULTIPLES)
  return html`<h2 class="vh">Key figures</h2><div class="stats">
${multiples}</div>
<section id="statements"><h2>Statements</h2>${leadOf(all, statements, unit)}${kindsHtml(statements, { ...company, factor, unit })}</section>
`
})
