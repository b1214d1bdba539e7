/** A company's figures: small multiples with growth and margin, and its statements, the newest year first. */

import { numbersIn, scaleOf } from '../report/numbers.ts'
import { shownChange, shownDay, shownIn, shownNumber, shownShare } from '../report/shown.ts'
import { answerRows, type ExplorerAnswer } from './api.ts'
import { fromHtml, h, untrusted } from './dom.ts'
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
import { MOST_BARS, multipleChart } from './multiple-chart.ts'

const numbers = numbersIn('en')

/** `215.9` and `bn USD`. */
const shortAmount = ({ value, currency }: Figure): readonly [text: string, unit: string] => {
  if (currency === null) return [shownNumber(value), '']
  const [factor, sign] = scaleOf([value])
  const text = factor === 1 ? shownNumber(value) : numbers.fixed(value / factor, 1)
  return [text, [sign, currency].filter(Boolean).join(' ')]
}

const MOST_MULTIPLES = 4

const multiple = (figures: readonly Figure[], { items, of }: Multiple): readonly HTMLElement[] => {
  const all = figuresOfFirst(figures, items)
  const latest = latestOf(all)
  if (latest === undefined) return []
  const isOwn = ({ consolidation, currency }: Figure): boolean =>
    consolidation === latest.consolidation && currency === latest.currency
  const own = all.filter(isOwn)
  const others = all.filter(
    (one) => one.consolidation !== latest.consolidation && one.currency === latest.currency,
  )
  const [text, unit] = shortAmount(latest)
  const [growth, yearly] = [growthOf(own, latest), yearlyGrowthOf(own, latest)]
  const share = of && shareOf(figures, latest, of[0])
  const facts = [
    growth === undefined ? null : h('span', {}, h('b', { class: 'num' }, shownChange(growth)), ' in a year'),
    yearly === undefined ? null : h('span', {}, `${shownShare(yearly[0])} a year since ${yearly[1]}`),
    share === undefined ? null : h('span', {}, `${shownShare(share)} ${of?.[1]}`),
  ].filter((one) => one !== null)
  const kind = latest.consolidation === KINDS[0] ? '' : `, ${latest.consolidation.toLowerCase()}`
  const years = yearsOf(own, MOST_BARS)
  const hasOthers = years.length > 1 && others.some(({ year }) => years.includes(year))
  const card = h(
    'div',
    { class: 'card stat' },
    h(
      'dl',
      {},
      h('dt', { class: 'soft' }, h('small', {}, `${latest.name} ${latest.year}${kind}`)),
      h('dd', {}, text, ' ', h('small', {}, unit)),
    ),
    h('p', {}, h('small', {}, ...facts)),
    fromHtml(multipleChart(own, others, years, latest.name)),
    hasOthers
      ? h(
          'p',
          { class: 'key' },
          h('span', { class: 'dashed' }),
          (others[0]?.consolidation ?? '').toLowerCase(),
        )
      : null,
  )
  return [card]
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

const lineClass = ({ category, lineItem }: Figure): string | undefined => {
  if (SUMS.has(lineItem)) return 'sum'
  return HAS_PARTS.has(category) && !BETWEEN.has(lineItem) ? 'sub' : undefined
}

/** The line whose newest value stands beside the title of a folded statement. */
const HEADLINES: readonly string[] = ['NetSales', 'TotalAssets', 'CashflowOperating', 'Employees']

const earlierLine = (earlier: EarlierFigure, figure: Figure, factor: number): HTMLElement =>
  h(
    'span',
    { class: 'was' },
    'was ',
    h('s', {}, shownIn(earlier.value, factor)),
    earlier.currency === figure.currency ? '' : ` ${earlier.currency ?? 'without currency'}`,
    h('small', {}, `until ${shownDay(earlier.until)}`),
  )

const valueCell = (figure: Figure | undefined, amountFactor: number): HTMLElement => {
  if (figure === undefined)
    return h(
      'td',
      { class: 'n' },
      h('span', { class: 'soft', 'aria-hidden': 'true' }, '–'),
      h('span', { class: 'vh' }, 'not reported'),
    )
  const factor = isAmount(figure) ? amountFactor : 1
  const text = shownIn(figure.value, factor)
  if (figure.earlier.length === 0) return h('td', { class: 'n' }, text)
  return h('td', { class: 'n re' }, text, ...figure.earlier.map((one) => earlierLine(one, figure, factor)))
}

interface Look {
  readonly factor: number
  /** `million USD` */
  readonly unit: string
}

/** So few are not drawn apart over the whole width. */
const FEW_YEARS = 5

const table = ({ years, lines }: Statement, title: string, { factor, unit }: Look): HTMLElement => {
  const hasAmounts = lines.some((line) => line.some(isAmount))
  const rows = lines.map((line) => {
    const [first] = line
    const byYear = new Map(line.map((figure) => [figure.year, figure]))
    return h(
      'tr',
      { class: first && lineClass(first) },
      h('th', { scope: 'row' }, untrusted(first?.name)),
      ...years.map((year) => valueCell(byYear.get(year), factor)),
    )
  })
  return h(
    'div',
    {
      class: years.length > FEW_YEARS ? 'stmt' : 'stmt few',
      tabindex: 0,
      role: 'region',
      'aria-label': `${title}, scrolls sideways`,
    },
    h(
      'table',
      {},
      h('caption', { class: 'vh' }, hasAmounts ? `${title}, ${unit}` : title),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, hasAmounts ? unit : 'as reported'),
          ...years.map((year) => h('th', { scope: 'col', class: 'n' }, year)),
        ),
      ),
      h('tbody', {}, ...rows),
    ),
  )
}

const headline = ({ lines }: Statement, { factor }: Look): string => {
  const line = lines.find(([first]) => first !== undefined && HEADLINES.includes(first.lineItem))
  const latest = line && latestOf(line)
  if (latest === undefined) return `${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`
  return `${latest.name.toLowerCase()} ${shownIn(latest.value, isAmount(latest) ? factor : 1)}`
}

const titleOf = ({ category, consolidation }: Statement, isOnlyKind: boolean): string => {
  const plain = TITLES[category] ?? category
  return isOnlyKind || consolidation === KINDS[0] ? plain : `${plain}, ${consolidation.toLowerCase()}`
}

/** The first one open, all others folded. */
const statementCards = (statements: readonly Statement[], look: Look): readonly HTMLElement[] => {
  const isOnlyKind = new Set(statements.map(({ consolidation }) => consolidation)).size === 1
  const [first, ...others] = statements.map((statement) => ({
    statement,
    title: titleOf(statement, isOnlyKind),
  }))
  if (first === undefined) return []
  const folds = others.map(({ statement, title }) =>
    h(
      'details',
      {},
      h('summary', {}, h('b', {}, untrusted(title)), ` · ${headline(statement, look)}`),
      table(statement, title, look),
    ),
  )
  return [
    h(
      'div',
      { class: 'card' },
      h('h3', {}, untrusted(first.title)),
      table(first.statement, first.title, look),
    ),
    ...(folds.length === 0 ? [] : [h('div', { class: 'card folded' }, ...folds)]),
  ]
}

const leadOf = (figures: readonly Figure[], unit: string): HTMLElement => {
  const kinds = KINDS.filter((kind) => figures.some(({ consolidation }) => consolidation === kind))
  const hasRestated = figures.some(({ earlier }) => earlier.length > 0)
  return h(
    'p',
    { class: 'lead' },
    [...kinds, unit].filter(Boolean).join(', ').replace(', Unconsolidated', ' first, unconsolidated below'),
    ', newest year first. ',
    hasRestated ? h('span', { class: 'fair' }, '“was”') : null,
    hasRestated ? ' marks a restated figure with its earlier value.' : null,
  )
}

export const showFigures = (answer: ExplorerAnswer): readonly Node[] => {
  const figures = answerRows(answer).map(figureOf)
  if (figures.length === 0)
    return [h('section', {}, h('h2', {}, 'Figures'), h('p', { class: 'lead' }, 'No figures are reported.'))]
  const [factor, word] = listedIn(figures)
  const currencies = [...new Set(figures.flatMap(({ currency }) => currency ?? []))].join(', ')
  const unit = [word, currencies].filter(Boolean).join(' ') || 'as reported'
  const statements = statementsOf(figures)
  const multiples = MULTIPLES.flatMap((one) => multiple(figures, one)).slice(0, MOST_MULTIPLES)
  return [
    h('h2', { class: 'vh' }, 'Key figures'),
    h('div', { class: 'stats' }, ...multiples),
    h(
      'section',
      { id: 'statements' },
      h('h2', {}, 'Statements'),
      leadOf(figures, unit),
      h('div', { class: 'grid' }, ...statementCards(statements, { factor, unit })),
    ),
  ]
}
