/** Facets of the list of companies: every value a link to the list with it, or without it where it is chosen; and how companies are made up. */

import { type Html, html } from '../../../report/html.ts'
import { statement } from '../../../report/render-section.ts'
import { cellNumber, cellText, type ReportRow } from '../../../report/rows.ts'
import { shownNumber, statusName, textOrDash } from '../../../report/shown.ts'
import { mostOf, stackedBar } from '../../../report/svg.ts'
import { countryName } from '../../../report/words.ts'
import { objectOf } from '../../../support/json-form.ts'
import {
  type BrowseState,
  browseFilter,
  FACETS,
  type Facet,
  isChosen,
  linkOf,
  queryText,
  stateOf,
  toggled,
} from './browse-state.ts'
import { type Answered, fragment } from './fragment.ts'

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
const SIZES = new Map([
  ['11', 'above 100 bn'],
  ['10', '10 to 100 bn'],
  ['9', '1 to 10 bn'],
  ['8', '0.1 to 1 bn'],
  ['7', '10 to 100 m'],
  ['6', '1 to 10 m'],
  ['below', 'below 1 m'],
  ['other', 'in another currency'],
  ['none', 'none reported'],
])
const SIZE_ORDER = [...SIZES.keys()]

/** A value of a facet, and how many companies it would show. */
interface FacetValue {
  readonly value: string
  readonly title: string
  readonly companies: number
}

const titleOf = (facet: Facet, value: string, label: string): string => {
  if (value === '') return 'not stated'
  if (facet === 'country') return countryName(value)
  if (facet === 'size') return SIZES.get(value) ?? value
  if (facet === 'status') return statusName(value)
  return label || value
}

/** Values of each facet in their order: the most frequent first, sizes by size, what is not stated last; those that are chosen always. */
const valuesOf = (
  rows: readonly ReportRow[],
  state: BrowseState,
): ReadonlyMap<Facet, readonly FacetValue[]> => {
  const values = FACETS.map((facet) => {
    const found = rows
      .filter((row) => row.facet === facet)
      .map((row): FacetValue => {
        const value = cellText(row.value)
        return {
          value,
          title: titleOf(facet, value, cellText(row.label)),
          companies: cellNumber(row.companies),
        }
      })
    const missing = (state.chosen.get(facet) ?? [])
      .filter((value) => !found.some((one) => one.value === value))
      .map((value) => ({ value, title: titleOf(facet, value, ''), companies: 0 }))
    const all = [...found, ...missing]
    const placeOf = ({ value }: FacetValue): number =>
      facet === 'size' ? SIZE_ORDER.indexOf(value) : Number(value === '')
    return [facet, all.toSorted((a, b) => placeOf(a) - placeOf(b))] as const
  })
  return new Map(values)
}

const LONGEST_TITLE = 80
/** Values that show without being asked for; sizes are few and in an order. */
const OPEN_VALUES = 6

const valueLink = (state: BrowseState, facet: Facet, { value, title, companies }: FacetValue): Html => {
  const chosen = isChosen(state, facet, value)
  return html`<li><a href="${linkOf(toggled(state, facet, value))}" data-key="${`${facet} ${value}`}"${chosen ? html` aria-current="true"` : html``}${companies === 0 && !chosen ? html` class="empty"` : html``}><span class="box" aria-hidden="true">${chosen ? '✓' : ''}</span>${textOrDash(title, LONGEST_TITLE)}<span class="num">${shownNumber(companies)}</span></a></li>\n`
}

const facetBlock = (values: readonly FacetValue[], state: BrowseState, facet: Facet): Html => {
  const isNeedless = values.every(({ value }) => value === '') || (facet === 'currency' && values.length < 3)
  if (isNeedless && !state.chosen.has(facet)) return html``
  const first = facet === 'size' ? values.length : OPEN_VALUES
  // Chosen values stand among the first.
  const shown = values.filter(({ value }, at) => at < first || isChosen(state, facet, value))
  const folded = values.filter((one) => !shown.includes(one))
  const links = (some: readonly FacetValue[]): Html =>
    html`<ul>\n${some.map((one) => valueLink(state, facet, one))}</ul>`
  const more =
    folded.length === 0
      ? html``
      : html`<details data-keep="${facet}"><summary data-key="more ${facet}">${shownNumber(folded.length)} more</summary>${links(folded)}</details>`
  return html`<section class="facet" aria-labelledby="facet-${facet}"><h3 id="facet-${facet}">${TITLES[facet]}</h3>${links(shown)}${more}</section>\n`
}

/** The chosen values, each a link to the list without it. */
const chips = (all: ReadonlyMap<Facet, readonly FacetValue[]>, state: BrowseState): Html => {
  const chip = (key: string, text: string, without: BrowseState): Html =>
    html`<li><a class="chip" href="${linkOf(without)}" data-key="chip ${key}"><span class="vh">Without </span>${textOrDash(text, LONGEST_TITLE)}<span class="x" aria-hidden="true">✕</span></a></li>\n`
  const chosen = [
    ...(state.text === '' ? [] : [chip('text', `“${state.text}”`, { ...state, text: '', from: 0 })]),
    ...[...all].flatMap(([facet, values]) =>
      values
        .filter(({ value }) => isChosen(state, facet, value))
        .map(({ value, title }) =>
          chip(`${facet} ${value}`, `${TITLES[facet]}: ${title}`, toggled(state, facet, value)),
        ),
    ),
  ]
  const { order, direction } = state
  return chosen.length === 0
    ? html``
    : html`<ul class="chips" aria-label="Filtered by">\n${chosen}<li><a href="${linkOf({ order, direction })}" data-key="chip all">Clear all</a></li></ul>`
}

const BARS = 8
const LONGEST_BAR = 60

const bars = (state: BrowseState, facet: Facet, values: readonly FacetValue[], caption: string): Html => {
  const most = mostOf(values.map(({ companies }) => companies))
  const rows = values.map(
    ({ value, title, companies }) =>
      html`<tr><th scope="row"><a class="quiet" href="${linkOf(toggled(state, facet, value))}" data-key="bar ${facet} ${value}"${isChosen(state, facet, value) ? html` aria-current="true"` : html``}>${textOrDash(title, LONGEST_BAR)}</a></th><td class="b">${stackedBar([{ value: companies }], most)}</td><td class="n"><b>${shownNumber(companies)}</b></td></tr>\n`,
  )
  return html`<table class="bars"><caption class="vh">${caption}</caption><tbody>\n${rows}</tbody></table>`
}

/** How the filtered companies are made up: by sales and by country, as bars whose rows filter the list. */
const distribution = (
  { rows, sql = '' }: Answered,
  all: ReadonlyMap<Facet, readonly FacetValue[]>,
  state: BrowseState,
): Html => {
  const [sizes, countries] = [all.get('size') ?? [], all.get('country') ?? []]
  if (sizes.every(({ companies }) => companies === 0)) return html``
  const others = countries.slice(BARS).reduce((sum, { companies }) => sum + companies, 0)
  const unit = cellText(rows.find(({ facet }) => facet === 'all')?.value)
  return html`<section class="card c7" aria-labelledby="by-sales"><h3 id="by-sales">Companies by sales</h3>
<p>newest year of each${unit === '' ? '' : `, ${unit}`}; each class is ten times the one below it</p>
${bars(state, 'size', sizes, 'Companies by sales')}
<div class="fold">${statement(sql, 'Companies by sales')}</div></section>
<section class="card c5" aria-labelledby="by-country"><h3 id="by-country">Companies by country</h3>
<p>each row filters the list</p>
${bars(state, 'country', countries.slice(0, BARS), 'Companies by country')}${others === 0 ? html`` : html`<p class="hint">and ${shownNumber(others)} in other countries or not stated</p>`}</section>
`
}

export const facets = fragment(objectOf({ query: queryText }), async ({ ask }, { query }) => {
  const state = stateOf(query)
  const answer = await ask('facets', browseFilter(state))
  const all = valuesOf(answer.rows, state)
  return html`${FACETS.map((facet) => facetBlock(all.get(facet) ?? [], state, facet))}
<div data-for="chips">${chips(all, state)}</div><div data-for="made">${distribution(answer, all, state)}</div>
`
})
