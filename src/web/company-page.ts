/** A company: what it is, its figures as small multiples and by year, and its owners and holdings. */

import { chartFigure } from '../report/chart-figure.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { fromHtml, h, untrusted, wide } from './dom.ts'
import { csvButton } from './download.ts'
import { type Figure, figureOf, figuresOfFirst, KINDS, MULTIPLES, shownNumber, yearsOf } from './figures.ts'
import { multipleChart, unitOf } from './multiple-chart.ts'
import { showOwnership } from './ownership-part.ts'
import { heading, part, type ShownPage } from './page.ts'

const FACTS = {
  internal_id: 'Identifier',
  org_no: 'Organisation number',
  country_code: 'Country',
  status: 'Status',
  legal_form: 'Legal form',
  company_type: 'Type',
  listing_type: 'Listing',
  registration_date: 'Registered',
  city: 'City',
  industries: 'Industries',
  ultimate_parent: 'Ultimate parent',
  currency: 'Currency',
  last_fiscal_year_end: 'Last fiscal year end',
  financials_updated_at: 'Figures updated',
} as const

const factText = (name: string, value: unknown): string => {
  if (Array.isArray(value)) return value.map(String).join(', ')
  return /_(end|at)$/.test(name) ? String(value).slice(0, 10) : String(value)
}

const facts = (row: AnswerRow): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    ...Object.entries(FACTS).flatMap(([name, title]) => {
      const value = row[name]
      const isMissing = value === null || value === undefined || (Array.isArray(value) && value.length === 0)
      return isMissing
        ? []
        : [h('div', {}, h('dt', {}, title), h('dd', {}, untrusted(factText(name, value))))]
    }),
  )

const multiple = (figures: readonly Figure[], years: readonly number[], at: number): HTMLElement => {
  const { title, items } = MULTIPLES[at] ?? MULTIPLES[0]
  const own = figuresOfFirst(figures, items)
  const [first] = own
  if (first === undefined)
    return h('section', {}, h('h3', {}, title), h('p', { class: 'soft' }, 'Not reported.'))
  const unit = unitOf(own)
  const kinds = KINDS.filter((kind) => own.some(({ consolidation }) => consolidation === kind))
  return h(
    'section',
    {},
    h('h3', {}, title),
    h(
      'p',
      { class: 'soft' },
      [first.lineItem, unit, kinds.join(' and ').toLowerCase()].filter(Boolean).join('; '),
    ),
    fromHtml(chartFigure(multipleChart(own, years), title, `multiple-${at}`)),
  )
}

const earlierText = ({ earlier, currency }: Figure): string =>
  earlier
    .map((one) => `${shownNumber(one.value)}${one.currency === currency ? '' : ` ${one.currency}`}`)
    .join(', ')

const valueCell = (figure: Figure | undefined): HTMLElement =>
  figure === undefined
    ? h('td', { class: 'n' }, h('span', { class: 'soft' }, '–'))
    : h(
        'td',
        { class: 'n' },
        shownNumber(figure.value),
        figure.earlier.length > 0 ? h('small', {}, `restated, was ${earlierText(figure)}`) : null,
      )

/** The lines of one category as one kind of statement; a year without a figure is a dash. */
const statement = (figures: readonly Figure[], title: string): HTMLElement => {
  const years = yearsOf(figures).toReversed()
  const lines = [...Map.groupBy(figures, ({ lineItem }) => lineItem)].map(([item, own]) => {
    const byYear = new Map(own.map((figure) => [figure.year, figure]))
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, untrusted(item)),
      ...years.map((year) => valueCell(byYear.get(year))),
    )
  })
  return h(
    'details',
    {},
    h('summary', {}, title),
    wide(
      `Table: ${title}`,
      h(
        'table',
        {},
        h('caption', {}, title),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'line item'),
            ...years.map((year) => h('th', { scope: 'col' }, year)),
          ),
        ),
        h('tbody', {}, ...lines),
      ),
    ),
  )
}

const statements = (figures: readonly Figure[]): readonly HTMLElement[] =>
  [
    ...Map.groupBy(figures, ({ category, consolidation }) => `${category}, ${consolidation.toLowerCase()}`),
  ].map(([title, own]) => {
    const currencies = [...new Set(own.flatMap(({ currency }) => currency ?? []))].join(', ')
    return statement(own, currencies === '' ? title : `${title}, ${currencies}`)
  })

const figureParts = (answer: ExplorerAnswer): readonly Node[] => {
  const figures = answerRows(answer).map(figureOf)
  if (figures.length === 0) return [h('p', { class: 'soft' }, 'No figures are reported.')]
  const years = yearsOf(figures)
  const tables = statements(figures)
  const [first] = tables
  first?.setAttribute('open', '')
  return [
    h('div', { class: 'multiples' }, ...MULTIPLES.map((_, at) => multiple(figures, years, at))),
    h('h2', {}, 'Statements by year'),
    ...tables,
    csvButton(answer, 'Figures'),
  ]
}

export const showCompany = async (page: ShownPage, id: number): Promise<void> => {
  let isThere = false
  await part(page, 'company', { id }, (answer) => {
    const [row] = answerRows(answer)
    if (row === undefined) {
      heading(page, `Company ${id}`, `Company ${id}`)
      return [h('p', {}, 'There is no such company, or this token may not see it.')]
    }
    isThere = true
    heading(page, untrusted(row.company_name), String(row.company_name ?? id))
    return [facts(row)]
  })
  if (!isThere) return
  page.main.append(h('h2', {}, 'Figures'))
  await part(page, 'figures', { id }, figureParts)
  page.main.append(h('h2', {}, 'Owners and holdings'))
  await part(page, 'ownership', { id }, showOwnership)
}
