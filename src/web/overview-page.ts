/** The first page: what there is, in a few numbers, and by country. */

import { chartFigure } from '../report/chart-figure.ts'
import { rankedBars } from '../report/charts.ts'
import { dataTable } from '../report/render-section.ts'
import { type AnswerRow, answerRows } from './api.ts'
import { fromHtml, h } from './dom.ts'
import { csvButton } from './download.ts'
import { shownNumber } from './figures.ts'
import { heading, part, type ShownPage } from './page.ts'

const BARS = 30

const card = (title: string, value: string, state?: 'good' | 'fair'): HTMLElement =>
  h(
    'div',
    {},
    h('dt', {}, title),
    h(
      'dd',
      {},
      value,
      state === undefined ? null : h('small', { class: state }, state === 'good' ? '✔ good' : '! look at it'),
    ),
  )

const counted = (value: unknown): string => shownNumber(Number(value ?? 0))
const orLook = (value: unknown): 'good' | 'fair' => (Number(value) > 0 ? 'fair' : 'good')

const cards = (row: AnswerRow, snapshot: number): HTMLElement =>
  h(
    'dl',
    { class: 'cards' },
    card('Snapshot', String(snapshot)),
    card('Companies', counted(row.companies)),
    card('Countries', counted(row.countries)),
    card('Relations', counted(row.relations)),
    card('Latest year end', String(row.latest_year_end ?? 'none')),
  )

const loadCards = (row: AnswerRow): HTMLElement =>
  h(
    'dl',
    { class: 'cards' },
    card(
      'Newest load',
      row.newest_load ? `${String(row.newest_load).slice(0, 16).replace('T', ' ')} UTC` : 'none',
    ),
    card('Loads', counted(row.loads)),
    card('Gap of the newest pulls', counted(row.gap), orLook(row.gap)),
    card('Quarantined by the newest load', counted(row.newly_quarantined), orLook(row.newly_quarantined)),
    card('Quarantined by all loads', counted(row.quarantined)),
  )

/** @param seesLoads whether the token may see what belongs to no country */
export const showOverview = async (page: ShownPage, seesLoads: boolean): Promise<void> => {
  heading(page, 'Overview', 'Overview')
  await part(page, 'overview', {}, (answer) => [cards(answerRows(answer)[0] ?? {}, answer.snapshot)])
  if (seesLoads) await part(page, 'loads', {}, (answer) => [loadCards(answerRows(answer)[0] ?? {})])
  page.main.append(h('h2', { id: 'countries' }, 'Companies by country'))
  await part(page, 'countries', {}, (answer) => {
    const rows = answerRows(answer)
    if (rows.length === 0)
      return [h('p', { class: 'soft' }, 'There are no companies that this token may see.')]
    const title = 'Companies by country'
    return [
      fromHtml(chartFigure(rankedBars(rows.slice(0, BARS), ['country'], 'companies'), title, 'by-country')),
      h(
        'details',
        {},
        h('summary', {}, `Numbers of “${title}”`),
        fromHtml(dataTable({ columns: answer.columns, rows }, title)),
      ),
      csvButton(answer, title),
    ]
  })
}
