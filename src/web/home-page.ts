/** The first page: find a company by its name, or browse by facets; then how the companies and the lake are made up. */

import { shownNumber } from '../report/shown.ts'
import { type AnswerRow, answerRows } from './api.ts'
import { type BrowseState, browseFilter, pageRows } from './browse-state.ts'
import { companyList } from './company-list.ts'
import { distribution } from './distribution.ts'
import { h } from './dom.ts'
import { facetBlocks, filterChips } from './facet-part.ts'
import { fillPlace, heading, replaceContent, type ShownPage } from './page.ts'

/** Places of the page, which keep what they show until there is something newer. */
interface Places {
  readonly lead: HTMLElement
  readonly facets: HTMLElement
  readonly chips: HTMLElement
  readonly list: HTMLElement
  readonly made: HTMLElement
  readonly browse: HTMLElement
  readonly tiles: HTMLElement
  /** Says that the loads are on their way, or why there are none. */
  readonly loads: HTMLElement
}

const made = new WeakMap<Element, Places>()

const counted = (value: unknown): string => shownNumber(Number(value ?? 0))

const tile = (title: string, value: string, note?: string): HTMLElement =>
  h('div', {}, h('dt', {}, title), h('dd', {}, value, note === undefined ? null : h('small', {}, note)))

const amount = (value: unknown, one: string, more: string): string =>
  `${counted(value)} ${Number(value) === 1 ? one : more}`

const command = (text: string): HTMLElement => h('pre', { tabindex: 0, 'aria-label': 'Command' }, text)

const step = (number: number, title: string, ...content: readonly Node[]): HTMLElement =>
  h('li', {}, h('b', {}, number), h('div', {}, h('h3', {}, title), ...content))

/** In place of the list where nothing is loaded: what to do next. */
const emptyLake = (seesAll: boolean): HTMLElement =>
  seesAll
    ? h(
        'div',
        { class: 'grid' },
        h(
          'section',
          { class: 'card c7' },
          h('h2', {}, 'Three steps to the first company'),
          h(
            'ol',
            { class: 'steps' },
            step(1, 'Load a file', command('firmlake convert companies.jsonl --lake ./lake')),
            step(2, 'See what came', command('firmlake check --lake ./lake')),
            step(
              3,
              'Start the server again, or have it follow the lake',
              command('firmlake serve --lake ./lake --follow'),
            ),
          ),
        ),
        h(
          'section',
          { class: 'card c5' },
          h('h2', {}, 'No data at hand?'),
          h('p', {}, 'The sample of the checkout has made-up companies and loads in seconds.'),
          command('firmlake convert data/sample --lake ./lake'),
        ),
      )
    : h('p', { class: 'lead' }, 'There are no companies that this token may see.')

const build = (page: ShownPage, search: HTMLElement): Places => {
  const lead = h('div', { class: 'lead' })
  const [facets, chips, list] = [h('div'), h('div'), h('div')]
  const distributed = h('div', { class: 'grid' })
  const loads = h('div')
  const filter = h('details', { class: 'facets' }, h('summary', {}, 'Filter'), facets)
  const browse = h('div', { class: 'browse' }, filter, h('div', {}, chips, list, distributed))
  const tiles = h('dl', { class: 'tiles' })
  const lake = h(
    'section',
    { class: 'lake', 'aria-labelledby': 'lake' },
    h('h2', { id: 'lake' }, 'The lake'),
    tiles,
    loads,
  )
  page.main.className = 'in home'
  page.main.replaceChildren(h('div', { class: 'hero' }, lead, search), browse, lake)
  heading({ ...page, main: page.main.querySelector('.hero') ?? page.main }, 'Find a company', 'Companies')
  const places = { lead, facets, chips, list, made: distributed, browse, tiles, loads }
  made.set(lead, places)
  return places
}

const placesOf = (page: ShownPage, search: HTMLElement): Places => {
  const lead = page.main.querySelector('.hero > .lead')
  return (lead === null ? undefined : made.get(lead)) ?? build(page, search)
}

const leadOf = (row: AnswerRow): string =>
  [
    amount(row.companies, 'company', 'companies'),
    amount(row.countries, 'country', 'countries'),
    ...(Number(row.relations) > 0
      ? [amount(row.relations, 'record of owners', 'records of owners and holdings')]
      : []),
  ].join(', ')

const lakeTiles = (row: AnswerRow, snapshot: number): readonly HTMLElement[] => [
  tile('Snapshot', String(snapshot)),
  tile('Latest year end', String(row.latest_year_end ?? 'none')),
]

const loadTiles = (row: AnswerRow): readonly HTMLElement[] => [
  tile(
    'Newest load',
    row.newest_load ? String(row.newest_load).slice(0, 10) : 'none',
    row.newest_load ? `${String(row.newest_load).slice(11, 16)} UTC` : undefined,
  ),
  tile('Loads', counted(row.loads)),
  tile('Gap of the newest pulls', counted(row.gap)),
  tile(
    'Quarantined',
    counted(row.newly_quarantined),
    `by the newest load; ${counted(row.quarantined)} by all`,
  ),
]

/**
 * Shows the page, or moves the one that is shown to another state of the list.
 *
 * @param search the box of the frame, which stands large here @param seesAll whether the token may see what belongs to no country
 */
export const showHome = async (
  page: ShownPage,
  search: HTMLElement,
  state: BrowseState,
  seesAll: boolean,
): Promise<void> => {
  const places = placesOf(page, search)
  const { lead, facets, chips, list, browse, tiles, loads } = places
  const { order, direction, from } = state
  const filter = browseFilter(state)
  let isEmpty = false
  await fillPlace(page, lead, ['overview', {}], (answer) => {
    const row = answerRows(answer)[0] ?? {}
    tiles.replaceChildren(...lakeTiles(row, answer.snapshot))
    isEmpty = Number(row.companies) === 0
    if (isEmpty && seesAll)
      return [h('p', {}, `The lake is there: snapshot ${answer.snapshot}, without a company.`)]
    return [h('p', {}, leadOf(row))]
  })
  if (isEmpty) {
    const title = page.main.querySelector('h1')
    if (title !== null && seesAll) title.textContent = 'Nothing is loaded yet'
    search.remove()
    browse.replaceWith(emptyLake(seesAll))
  }
  if (browse.isConnected) {
    const wasFrom = list.dataset.from
    await fillPlace(
      page,
      list,
      ['browse', { ...filter, order, direction, from, most: pageRows(from) }],
      (answer) => companyList(page, answer, state),
    )
    if (page.signal.aborted) return
    list.dataset.from = String(from)
    // The rows that follow are read from the first one on.
    if (wasFrom !== undefined && wasFrom !== list.dataset.from) {
      const title = list.querySelector('h2')
      title?.focus({ preventScroll: true })
      title?.scrollIntoView()
    }
    await fillPlace(page, facets, ['facets', filter, `${order} ${direction}`], (answer) => {
      replaceContent(chips, filterChips(answer, state))
      replaceContent(places.made, distribution(answer, state))
      return facetBlocks(answer, state, facets)
    })
  }
  if (seesAll && !page.signal.aborted)
    await fillPlace(page, loads, ['loads', {}], (answer) => {
      tiles.append(...loadTiles(answerRows(answer)[0] ?? {}))
      return []
    })
}
