/** A company: how large it is, growing or not, profitable; its statements; then what surrounds it, each in a part of its own. */

import { countryName, shownDay } from '../report/shown.ts'
import { type AnswerRow, answerRows, type ExplorerAnswer } from './api.ts'
import { h, untrusted } from './dom.ts'
import { csvButton, workbookButton } from './download.ts'
import { showFigures } from './figures-part.ts'
import { fillPlaces } from './fragment.ts'
import { showOwnership, showUltimateOwners } from './ownership-part.ts'
import { fillPlace, type ShownPage } from './page.ts'

/** A whole text of thousands of characters stands in the table of all facts. */
const LONGEST_FACT = 100
const LONGEST_DESCRIPTION = 700

const has = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)

const texts = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter(has).map(String)

/** A web page as a link, where it is an address of the web and nothing else. */
const webPage = (value: unknown): HTMLElement => {
  const text = String(value).trim()
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`
  const parsed = URL.parse(address)
  const isPlain = parsed !== null && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(parsed.hostname) && !/\s/.test(text)
  if (!isPlain) return untrusted(text, LONGEST_FACT)
  return h(
    'a',
    { href: parsed.href, rel: 'noreferrer noopener' },
    untrusted(text.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, ''), LONGEST_FACT),
  )
}

const statusTag = (value: unknown): HTMLElement | null => {
  if (!has(value)) return null
  const isActive = value === 'Active'
  return h('span', { class: isActive ? 'tag good' : 'tag soft' }, isActive ? '✔ ' : '', untrusted(value, 40))
}

const place = (row: AnswerRow): string => {
  const country = has(row.country_code) ? countryName(String(row.country_code)) : ''
  return [row.city, country].filter(has).join(', ')
}

const shortFacts = (row: AnswerRow): readonly (Node | string)[] => {
  const industry = texts(row.industries)[0]?.replace(/^[\d.]+ /, '')
  return [
    ...(industry === undefined ? [] : [untrusted(industry, LONGEST_FACT)]),
    ...(place(row) === '' ? [] : [untrusted(place(row), LONGEST_FACT)]),
    ...(has(row.listing_type) ? [untrusted(row.listing_type, 40)] : []),
    ...(has(row.registration_date) ? [`registered ${shownDay(row.registration_date)}`] : []),
    ...(has(row.org_no) ? [h('span', {}, 'Org. no. ', untrusted(row.org_no, 40))] : []),
    `Identifier ${String(row.internal_id)}`,
    ...(has(row.url) ? [webPage(row.url)] : []),
    ...(has(row.financials_updated_at) ? [`figures of ${shownDay(row.financials_updated_at)}`] : []),
  ]
}

/** Facts of the fold, by their columns; several columns are one text. */
const ALL_FACTS: readonly (readonly [title: string, columns: readonly string[]])[] = [
  ['Address', ['street', 'zipcode', 'city', 'county', 'country_code']],
  ['Industries', ['industries']],
  ['Legal form', ['legal_form']],
  ['Type', ['company_type']],
  ['Previous names', ['previous_names']],
  ['Ultimate parent', ['ultimate_parent']],
  ['Currency of the figures', ['currency']],
  ['Last fiscal year end', ['last_fiscal_year_end']],
]

const allFacts = (row: AnswerRow): HTMLElement | null => {
  const shown = ALL_FACTS.flatMap(([title, columns]) => {
    const values = columns.flatMap((name) => texts(row[name]))
    if (values.length === 0) return []
    const isDay = columns[0]?.endsWith('_end') === true
    const value = untrusted((isDay ? values.map(shownDay) : values).join(', '))
    return [h('div', {}, h('dt', {}, title), h('dd', {}, value))]
  })
  return shown.length === 0
    ? null
    : h('details', {}, h('summary', {}, 'Address and more'), h('dl', { class: 'all-facts' }, ...shown))
}

const headOf = (row: AnswerRow): HTMLElement => {
  const title = h('h1', { tabindex: -1 }, untrusted(row.company_name))
  return h(
    'div',
    { class: 'head' },
    h('div', { class: 'row' }, title, statusTag(row.status)),
    h('ul', { class: 'facts' }, ...shortFacts(row).map((one) => h('li', {}, one))),
    has(row.description) ? h('p', { class: 'lead' }, untrusted(row.description, LONGEST_DESCRIPTION)) : null,
    allFacts(row),
  )
}

const missing = (id: string): HTMLElement =>
  h(
    'div',
    { class: 'head' },
    h('h1', { tabindex: -1 }, `Company ${id}`),
    h('p', {}, 'There is no such company, or this token may not see it.'),
  )

/** A part that the server makes, in its place later. */
const partOf = (part: string, id: string, title: string): HTMLElement =>
  h('div', { 'data-part': part, 'data-ask': JSON.stringify({ id }), 'data-title': title })

const downloads = (answer: ExplorerAnswer, id: string, page: ShownPage): HTMLElement =>
  h(
    'section',
    { class: 'row' },
    h('h2', {}, 'Take it with you'),
    h('p', { class: 'lead' }, `All years and all line items, exact, of snapshot ${answer.snapshot}.`),
    h('p', { class: 'buttons' }, workbookButton(id, page), csvButton(answer, `Figures of ${id}`)),
  )

export const showCompany = async (page: ShownPage, id: string): Promise<void> => {
  const [head, figures, saving] = [h('div'), h('div'), h('div')]
  page.main.append(head, figures)
  let isThere = false
  const first = fillPlace(page, head, ['company', { id }], (answer) => {
    const [row] = answerRows(answer)
    isThere = row !== undefined
    document.title = `${isThere ? String(row?.company_name ?? id) : `Company ${id}`} – firmlake`
    return [row === undefined ? missing(id) : headOf(row)]
  }).then(() => page.signal.aborted || head.querySelector('h1')?.focus({ preventScroll: true }))
  let hasFigures = true
  const second = fillPlace(page, figures, ['figures', { id }], (answer) => {
    hasFigures = answer.rows.length > 0
    if (hasFigures) saving.append(downloads(answer, id, page))
    return showFigures(answer)
  })
  await first
  if (!isThere) figures.remove()
  if (!isThere || page.signal.aborted) return
  await second
  const ownership = h('div')
  const beside = h(
    'section',
    { class: hasFigures ? 'beside c5' : 'beside' },
    partOf('changes', id, 'Changes'),
    partOf('company-findings', id, 'Quality'),
  )
  const peers = hasFigures ? partOf('peers', id, 'Peers') : null
  const around = h('section', {}, h('div', { class: 'grid' }, peers, beside))
  const owned = h('section', { id: 'ownership' }, h('h2', {}, 'Owners and holdings'), ownership)
  // The group says most of a company without figures, which has no peers.
  page.main.append(...(hasFigures ? [around, owned] : [owned, around]), saving)
  const askOwnership = async (): Promise<void> => {
    await fillPlace(page, ownership, ['ownership', { id }], showOwnership)
    const ultimate = ownership.querySelector<HTMLElement>('[data-part="ultimate"]')
    if (ultimate !== null) await fillPlace(page, ultimate, ['ultimate-owners', { id }], showUltimateOwners)
  }
  if (!hasFigures) await askOwnership()
  await fillPlaces(page, around)
  if (hasFigures) await askOwnership()
}
