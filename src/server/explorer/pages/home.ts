/** The first page: find a company by its name, or browse by facets; then how the companies and the lake are made up. */

import { type Html, html } from '../../../report/html.ts'
import { NBSP } from '../../../report/numbers.ts'
import { cellNumber, cellText, type ReportRow } from '../../../report/rows.ts'
import { countedAs, shownNumber } from '../../../report/shown.ts'
import { dateWords } from '../../../report/words.ts'
import { objectOf } from '../../../support/json-form.ts'
import { linkOf, stateOf } from './browse-state.ts'
import { fragment, place, type Reader } from './fragment.ts'
import { type PageHtml, pageHtml } from './page-html.ts'

const command = (text: string): Html => html`<pre tabindex="0" aria-label="Command">${text}</pre>`

const STEPS = [
  ['Load a file', 'firmlake convert companies.jsonl --lake ./lake'],
  ['See what came', 'firmlake check --lake ./lake'],
  ['Start the server again, or have it follow the lake', 'firmlake serve --lake ./lake --follow'],
] as const

/** In place of the list where nothing is loaded: what to do next. */
const emptyLake = html`<div class="grid"><section class="card c7"><h2>Three steps to the first company</h2>
<ol class="steps">${STEPS.map(([title, text], at) => html`<li><b>${at + 1}</b><div><h3>${title}</h3>${command(text)}</div></li>`)}</ol></section>
<section class="card c5"><h2>No data at hand?</h2><p>The sample of the checkout has made-up companies and loads in seconds.</p>${command('firmlake convert data/sample --lake ./lake')}</section></div>
`

const leadOf = (row: ReportRow): string =>
  [
    countedAs(cellNumber(row.companies), 'company'),
    countedAs(cellNumber(row.countries), 'country'),
    ...(cellNumber(row.relations) > 0
      ? [`${countedAs(cellNumber(row.relations), 'record')} of owners and holdings`]
      : []),
  ].join(', ')

const lakePlace = place({ part: 'lake', parameters: {}, title: 'The lake', lines: 2 })

/** @param query what stands behind `?` in the address */
export const homePage = async ({ ask, seesAll }: Reader, query: string): Promise<PageHtml> => {
  const { rows, snapshot } = await ask('overview', {})
  const [row = {}] = rows
  const isEmpty = cellNumber(row.companies) === 0
  if (isEmpty) {
    const lead = seesAll
      ? `The lake is there: snapshot ${snapshot}, without a company.`
      : 'There are no companies that this token may see.'
    return pageHtml(
      { id: 'empty', title: 'Companies' },
      html`<div class="hero"><h1 tabindex="-1">${seesAll ? 'Nothing is loaded yet' : 'No company'}</h1><p class="lead">${lead}</p></div>
${seesAll ? emptyLake : html``}${lakePlace}`,
    )
  }
  const state = stateOf(query)
  const list = { query: linkOf(state) }
  const counted = { query: linkOf({ ...state, from: 0 }) }
  return pageHtml(
    { id: 'home', title: 'Companies' },
    html`<div class="hero" data-search><h1 tabindex="-1">Find a company</h1><p class="lead">${leadOf(row)}</p></div>
<div class="browse"><details class="facets"><summary class="btn">Filter</summary>${place({ part: 'facets', parameters: counted, title: 'Filter', lines: 12, width: 'plain', isLast: true })}</details>
<div><div data-slot="chips"></div>${place({ part: 'companies', parameters: list, title: 'Companies', lines: 20 })}<div class="grid" data-slot="made"></div></div></div>
${lakePlace}`,
  )
}

const tile = (title: string, value: string, note = ''): Html =>
  html`<div><dt>${title}</dt><dd>${value}${note === '' ? html`` : html`<small>${note}</small>`}</dd></div>\n`

const dayOrNone = (value: unknown): string =>
  value === null || value === undefined ? 'none' : dateWords(cellText(value)).replaceAll(' ', NBSP)

export const lake = fragment(objectOf({}), async ({ ask, seesAll }) => {
  const { rows, snapshot } = await ask('overview', {})
  const loads = seesAll ? (await ask('loads', {})).rows : []
  const tiles = loads.map(
    (row) =>
      html`${tile('Newest load', dayOrNone(row.newest_load), row.newest_load === null ? '' : `${cellText(row.newest_load).slice(11, 16)} UTC`)}${tile('Loads', shownNumber(cellNumber(row.loads)))}${tile('Gap of the newest pulls', shownNumber(cellNumber(row.gap)))}${tile('Quarantined', shownNumber(cellNumber(row.newly_quarantined)), `by the newest load; ${shownNumber(cellNumber(row.quarantined))} by all`)}`,
  )
  return html`<section class="lake" aria-labelledby="lake"><h2 id="lake">The lake</h2><dl class="tiles">
${tile('Snapshot', String(snapshot))}${tile('Latest year end', dayOrNone(rows[0]?.latest_year_end))}${tiles}</dl></section>
`
})
