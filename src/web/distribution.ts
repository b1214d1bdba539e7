/** How the filtered companies are made up: by sales and by country, as bars whose rows filter the list. */

import { statement } from '../report/render-section.ts'
import { shownNumber } from '../report/shown.ts'
import { mostOf, stackedBar } from '../report/svg.ts'
import type { ExplorerAnswer } from './api.ts'
import { type BrowseState, type Facet, isChosen, linkOf, toggled } from './browse-state.ts'
import { fromHtml, h, untrusted } from './dom.ts'
import { type FacetValue, facetValues } from './facet-part.ts'

const SHOWN = 8
const LONGEST_TITLE = 60

const bars = (
  state: BrowseState,
  facet: Facet,
  values: readonly FacetValue[],
  caption: string,
): HTMLElement => {
  const most = mostOf(values.map(({ companies }) => companies))
  const rows = values.map(({ value, title, companies }) =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        h(
          'a',
          {
            class: 'quiet',
            href: linkOf(toggled(state, facet, value)),
            'data-key': `bar ${facet} ${value}`,
            'aria-current': isChosen(state, facet, value) && 'true',
          },
          untrusted(title, LONGEST_TITLE),
        ),
      ),
      h('td', { class: 'b' }, fromHtml(stackedBar([{ value: companies }], most))),
      h('td', { class: 'n' }, h('b', {}, shownNumber(companies))),
    ),
  )
  return h('table', { class: 'bars' }, h('caption', { class: 'vh' }, caption), h('tbody', {}, ...rows))
}

export const distribution = (answer: ExplorerAnswer, state: BrowseState): readonly Node[] => {
  const sizes = facetValues(answer, 'size', state)
  const countries = facetValues(answer, 'country', state)
  const others = countries.slice(SHOWN).reduce((sum, { companies }) => sum + companies, 0)
  if (sizes.every(({ companies }) => companies === 0)) return []
  const unit = answer.rows.find(([facet]) => facet === 'all')?.[1]
  return [
    h(
      'section',
      { class: 'card c7', 'aria-labelledby': 'by-sales' },
      h('h3', { id: 'by-sales' }, 'Companies by sales'),
      h(
        'p',
        {},
        `newest year of each${typeof unit === 'string' ? `, ${unit}` : ''}; each class is ten times the one below it`,
      ),
      bars(state, 'size', sizes, 'Companies by sales'),
      h('div', { class: 'fold' }, fromHtml(statement(answer.sql ?? '', 'Companies by sales'))),
    ),
    h(
      'section',
      { class: 'card c5', 'aria-labelledby': 'by-country' },
      h('h3', { id: 'by-country' }, 'Companies by country'),
      h('p', {}, 'each row filters the list'),
      bars(state, 'country', countries.slice(0, SHOWN), 'Companies by country'),
      others === 0
        ? null
        : h('p', { class: 'hint' }, `and ${shownNumber(others)} in other countries or not stated`),
    ),
  ]
}
