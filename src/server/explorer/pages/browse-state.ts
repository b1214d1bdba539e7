/** The state of the list of companies as it stands in the address behind `#/?`: each state is a link. Pure. */

import { textLike } from '../../../support/json-form.ts'
import { MOST_COMPARED } from '../compare-question.ts'

/** Facets in the order of the page. */
export const FACETS = ['country', 'industry', 'size', 'status', 'form', 'listed', 'currency'] as const
export type Facet = (typeof FACETS)[number]
export const ORDERS = ['name', 'country', 'sales', 'growth', 'margin'] as const
export type Order = (typeof ORDERS)[number]

const PAGE_ROWS = 50
const FIRST_ROWS = 20

/** Rows of a page of the list: the first one leaves room for what stands below it. */
export const pageRows = (from: number): number => (from === 0 ? FIRST_ROWS : PAGE_ROWS)

export interface BrowseState {
  readonly text: string
  /** Chosen values of each facet; the empty text is what is not stated. */
  readonly chosen: ReadonlyMap<Facet, readonly string[]>
  readonly order: Order
  readonly direction: 'asc' | 'desc'
  /** Rows before the first one. */
  readonly from: number
  /** Companies that are taken up to be compared, by their identifiers. */
  readonly compared: readonly string[]
}

const firstDirection = (order: Order): BrowseState['direction'] =>
  order === 'name' || order === 'country' ? 'asc' : 'desc'

const LONGEST_QUERY = 20_000

/** A state as a fragment's parameter: its address, or what stands behind `?` in it. */
export const queryText = textLike(new RegExp(`^[^\\0]{0,${LONGEST_QUERY}}$`), 'the address of a list')

/** Identifiers with commas between, as an address has them: as many as are compared, each once. */
export const comparedIds = (text: string): readonly string[] =>
  [...new Set(text.split(',').filter((id) => /^\d{1,19}$/.test(id)))].slice(0, MOST_COMPARED)

/** The state with a company taken up, or left out again; `undefined` where there are as many as are compared. */
export const withCompared = (state: BrowseState, id: string): BrowseState | undefined => {
  const others = state.compared.filter((one) => one !== id)
  if (others.length < state.compared.length) return { ...state, compared: others }
  return others.length < MOST_COMPARED ? { ...state, compared: [...others, id] } : undefined
}

/** @param query as of `queryText`; what nobody wrote here is left out */
export const stateOf = (query: string): BrowseState => {
  const sent = new URLSearchParams(query.replace(/^#\/\??/, ''))
  const chosen = FACETS.flatMap((facet) => {
    const values = [...new Set(sent.getAll(facet))]
    return values.length === 0 ? [] : [[facet, values] as const]
  })
  const order = ORDERS.find((one) => one === sent.get('order')) ?? 'sales'
  const direction = sent.get('direction')
  const from = Number(sent.get('from'))
  return {
    text: (sent.get('text') ?? '').slice(0, 200),
    chosen: new Map(chosen),
    order,
    direction: direction === 'asc' || direction === 'desc' ? direction : firstDirection(order),
    from: Number.isSafeInteger(from) && from > 0 ? from : 0,
    compared: comparedIds(sent.get('compare') ?? ''),
  }
}

const ALL = stateOf('')

/** The address of a state; what is as usual is left out. */
export const linkOf = (changed: Partial<BrowseState>): string => {
  const { text, chosen, order, direction, from, compared } = { ...ALL, ...changed }
  const query = new URLSearchParams()
  if (text !== '') query.set('text', text)
  for (const facet of FACETS) for (const value of chosen.get(facet) ?? []) query.append(facet, value)
  if (order !== ALL.order) query.set('order', order)
  if (direction !== firstDirection(order)) query.set('direction', direction)
  if (from > 0) query.set('from', String(from))
  if (compared.length > 0) query.set('compare', compared.join(','))
  const written = query.toString()
  return written === '' ? '#/' : `#/?${written}`
}

export const isChosen = ({ chosen }: BrowseState, facet: Facet, value: string): boolean =>
  chosen.get(facet)?.includes(value) ?? false

/** The state with a value chosen, or with it left out again; from the first row on. */
export const toggled = (state: BrowseState, facet: Facet, value: string): BrowseState => {
  const values = state.chosen.get(facet) ?? []
  const others = values.filter((one) => one !== value)
  const next = others.length < values.length ? others : [...values, value]
  const chosen = new Map(state.chosen)
  if (next.length === 0) chosen.delete(facet)
  else chosen.set(facet, next)
  return { ...state, chosen, from: 0 }
}

/** The state in another order; in the same one the other way round. */
export const sortedBy = (state: BrowseState, order: Order): BrowseState => {
  const other = state.direction === 'asc' ? 'desc' : 'asc'
  return { ...state, order, direction: state.order === order ? other : firstDirection(order), from: 0 }
}

/** Parameters of the questions. */
export const browseFilter = ({ text, chosen }: BrowseState): object => ({
  ...(text !== '' && { text }),
  ...Object.fromEntries(chosen),
})
