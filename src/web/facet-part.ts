/** Facets of the list of companies: every value a link to the list with it, or without it where it is chosen. */

import { countryName, shownNumber, statusName } from '../report/shown.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { type BrowseState, FACETS, type Facet, isChosen, linkOf, toggled } from './browse-state.ts'
import { h, untrusted } from './dom.ts'

const TITLES: Readonly<Record<Facet, string>> = {
  country: 'Country',
  industry: 'Industry',
  size: 'Sales',
  status: 'Status',
  form: 'Legal form',
  listed: 'Listed',
  currency: 'Currency',
}

/** Classes of net sales, the largest first. */
const SIZE_TITLES: Readonly<Record<string, string>> = {
  11: 'above 100 bn',
  10: '10 to 100 bn',
  9: '1 to 10 bn',
  8: '0.1 to 1 bn',
  7: '10 to 100 m',
  6: '1 to 10 m',
  below: 'below 1 m',
  other: 'in another currency',
  none: 'none reported',
}
/** The keys of an object that are numbers come in their own order. */
const SIZE_ORDER = ['11', '10', '9', '8', '7', '6', 'below', 'other', 'none']

/** A value of a facet, and how many companies it would show. */
export interface FacetValue {
  readonly value: string
  readonly title: string
  readonly companies: number
}

const titleOf = (facet: Facet, value: string, label: unknown): string => {
  if (value === '') return 'not stated'
  if (facet === 'country') return countryName(value)
  if (facet === 'size') return SIZE_TITLES[value] ?? value
  if (facet === 'status') return statusName(value)
  return typeof label === 'string' && label !== '' ? label : value
}

const facetValue = (facet: Facet, { value, label, companies }: AnswerRow): FacetValue => ({
  value: String(value),
  title: titleOf(facet, String(value), label),
  companies: Number(companies),
})

/** Values of a facet in their order: the most frequent first, sizes by size; those that are chosen always. */
export const facetValues = (
  answer: ExplorerAnswer,
  facet: Facet,
  state: BrowseState,
): readonly FacetValue[] => {
  const counted = answerRows(answer).filter((row) => row.facet === facet)
  const rows = counted.map((row) => facetValue(facet, row))
  const found = [...rows.filter(({ value }) => value !== ''), ...rows.filter(({ value }) => value === '')]
  const missing = (state.chosen.get(facet) ?? []).filter((value) => !found.some((one) => one.value === value))
  const all = [...found, ...missing.map((value) => facetValue(facet, { value, label: '', companies: 0 }))]
  return facet === 'size'
    ? all.toSorted((a, b) => SIZE_ORDER.indexOf(a.value) - SIZE_ORDER.indexOf(b.value))
    : all
}

const LONGEST_TITLE = 80
/** Values that show without being asked for; sizes are few and in an order. */
const OPEN_VALUES = 6

const valueLink = (state: BrowseState, facet: Facet, one: FacetValue): HTMLElement => {
  const { value, title, companies } = one
  const chosen = isChosen(state, facet, value)
  return h(
    'li',
    {},
    h(
      'a',
      {
        href: linkOf(toggled(state, facet, value)),
        'data-key': `${facet} ${value}`,
        'aria-current': chosen && 'true',
        class: companies === 0 && !chosen && 'empty',
      },
      h('span', { class: 'box', 'aria-hidden': 'true' }, chosen ? '✓' : ''),
      untrusted(title, LONGEST_TITLE),
      h('span', { class: 'num' }, shownNumber(companies)),
    ),
  )
}

const facetBlock = (
  answer: ExplorerAnswer,
  state: BrowseState,
  facet: Facet,
  isOpen: (facet: Facet) => boolean,
): HTMLElement | null => {
  const values = facetValues(answer, facet, state)
  const isNeedless = values.every(({ value }) => value === '') || (facet === 'currency' && values.length < 3)
  if (isNeedless && !state.chosen.has(facet)) return null
  const first = facet === 'size' ? values.length : OPEN_VALUES
  // Chosen values stand among the first.
  const shown = values.filter(({ value }, at) => at < first || isChosen(state, facet, value))
  const folded = values.filter((one) => !shown.includes(one))
  const id = `facet-${facet}`
  return h(
    'section',
    { class: 'facet', 'aria-labelledby': id },
    h('h3', { id }, TITLES[facet]),
    h('ul', {}, ...shown.map((one) => valueLink(state, facet, one))),
    folded.length === 0
      ? null
      : h(
          'details',
          { 'data-facet': facet, open: isOpen(facet) },
          h('summary', { 'data-key': `more ${facet}` }, `${shownNumber(folded.length)} more`),
          h('ul', {}, ...folded.map((one) => valueLink(state, facet, one))),
        ),
  )
}

/** @param place where the facets stood before: what is unfolded there stays so */
export const facetBlocks = (
  answer: ExplorerAnswer,
  state: BrowseState,
  place: HTMLElement,
): readonly Node[] => {
  const open = new Set(
    [...place.querySelectorAll<HTMLDetailsElement>('details[open]')].map((one) => one.dataset.facet),
  )
  return FACETS.flatMap((facet) => facetBlock(answer, state, facet, (one) => open.has(one)) ?? [])
}

/** The chosen values, each a link to the list without it. */
export const filterChips = (answer: ExplorerAnswer, state: BrowseState): readonly Node[] => {
  const chip = (key: string, text: string, without: BrowseState): HTMLElement =>
    h(
      'li',
      {},
      h(
        'a',
        { class: 'chip', href: linkOf(without), 'data-key': `chip ${key}` },
        h('span', { class: 'vh' }, 'Without '),
        untrusted(text, LONGEST_TITLE),
        h('span', { class: 'x', 'aria-hidden': 'true' }, '✕'),
      ),
    )
  const chips = [
    ...(state.text === '' ? [] : [chip('text', `“${state.text}”`, { ...state, text: '', from: 0 })]),
    ...FACETS.flatMap((facet) =>
      facetValues(answer, facet, state)
        .filter(({ value }) => isChosen(state, facet, value))
        .map(({ value, title }) =>
          chip(`${facet} ${value}`, `${TITLES[facet]}: ${title}`, toggled(state, facet, value)),
        ),
    ),
  ]
  if (chips.length === 0) return []
  const { order, direction } = state
  const all = h('li', {}, h('a', { href: linkOf({ order, direction }), 'data-key': 'chip all' }, 'Clear all'))
  return [h('ul', { class: 'chips', 'aria-label': 'Filtered by' }, ...chips, all)]
}
