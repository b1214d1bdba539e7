/** The proof of a figure: each value that it had, who said it when, and the files and lines that it came from. */

import { type Html, html, untrustedText } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import { numbers, shownNumber, textOrDash } from '../../../report/shown.ts'
import { instantTime, itemWords } from '../../../report/words.ts'
import { FormError } from '../../../support/json-form.ts'
import { addressParts, PAGE_ADDRESS } from './address.ts'
import { fragment, type Reader } from './fragment.ts'
import { type PageHtml, pageHtml } from './page-html.ts'

/** A figure by its place in the statements of a company. */
export interface FigurePlace {
  readonly id: number | string
  readonly consolidation: string
  readonly category: string
  readonly lineItem: string
  readonly year: number
}

/** The address of the page of a proof. */
export const proofLink = ({ id, consolidation, category, lineItem, year }: FigurePlace): string =>
  `#/proof/${[id, consolidation, category, lineItem, year].map((part) => encodeURIComponent(String(part).toWellFormed())).join('/')}`

/** @param parts of an address @returns `undefined` where it is none of a figure */
export const figureOfAddress = (parts: readonly string[]): FigurePlace | undefined => {
  const [page, id = '', consolidation = '', category = '', lineItem = '', year = ''] = parts
  return page === 'proof' && parts.length === 6 && /^\d{1,19}$/.test(id) && /^\d{1,5}$/.test(year)
    ? { id, consolidation, category, lineItem, year: Number(year) }
    : undefined
}

type Line = readonly [title: string, of: (row: ReportRow) => Html]

const instant = (value: unknown): Html => (value === null ? textOrDash(value) : instantTime(cellText(value)))
const hash = (value: unknown): Html =>
  value === null ? textOrDash(value) : html`<code>${cellText(value)}</code>`

/** `lines 301 to 600 of file companies.jsonl` */
const source = (row: ReportRow): Html => {
  const sources = Number(row.sources)
  const name = html`${cellText(row.source_kind)} ${untrustedText(cellText(row.source_name))}`
  if (sources > 1) return html`one of ${shownNumber(sources)} in a partition, ${name}`
  return html`lines ${shownNumber(Number(row.first_line))} to ${shownNumber(Number(row.last_line))} of ${name}`
}

const file = (row: ReportRow): Html =>
  row.is_merged === true
    ? html`<span class="soft">put together with others by a compaction since</span>`
    : html`<code>${cellText(row.file)}</code>`

const SAID: readonly Line[] = [
  ['Said by the service', ({ as_of }) => instant(as_of)],
  ['Loaded', (row) => html`snapshot ${cellText(row.snapshot)}, ${instant(row.loaded_at)}`],
]
const LOADED: readonly Line[] = [
  ['Source', source],
  ['Its SHA-256', ({ source_sha256 }) => hash(source_sha256)],
  ['Partition', ({ partition }) => hash(partition)],
  ['File in the lake', file],
  ['Its SHA-256', ({ file_sha256 }) => hash(file_sha256)],
]

/** The loads that said a value: the one, or the first and the newest. */
const value = (rows: readonly ReportRow[]): Html => {
  const [newest] = rows
  if (newest === undefined) return html``
  const unit = cellText(newest.currency)
  const isNow = newest.is_current === true
  const loads = Number(newest.loads)
  const inOrder = rows.toReversed()
  const heads = loads === 1 ? ['The load'] : ['First load', `Newest of ${shownNumber(loads)} loads`]
  const lines = newest.partition === null ? SAID : [...SAID, ...LOADED]
  const written =
    newest.reported === null || newest.reported === newest.value
      ? ''
      : ` · written as ${numbers.exact(Number(newest.reported))}`
  return html`<div class="card proof${isNow ? '' : ' earlier'}"><p><b class="num">${numbers.exact(Number(newest.value))}${unit === '' ? '' : ` ${unit}`}</b> <small>${isNow ? 'as it is now' : 'as it was'}${written}</small></p>
<table class="line"><caption class="vh">Where the value is from</caption>
<thead><tr><th scope="col"><span class="vh">Fact</span></th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${lines.map(([title, of]) => html`<tr><th scope="row">${title}</th>${inOrder.map((row) => html`<td>${of(row)}</td>`)}</tr>\n`)}</tbody></table></div>
`
}

const valuesOf = (rows: readonly ReportRow[], seesAll: boolean): Html => {
  const steps = [...Map.groupBy(rows, ({ step }) => step).values()]
  const closed = seesAll
    ? html``
    : html`<p class="about">Files, lines and hashes are shown to a token that may see everything.</p>\n`
  return steps.length === 0
    ? html`<p class="lead">There is no such figure, or this token may not see it.</p>\n`
    : html`${steps.map(value)}${closed}`
}

/** The values alone, as they stand below a line of a statement. */
export const proof = fragment(PAGE_ADDRESS, async ({ ask, seesAll }, { address }) => {
  const figure = figureOfAddress(addressParts(address).parts)
  if (figure === undefined) throw new FormError('the body.address', 'the address of a figure')
  const { rows } = await ask('proof', figure)
  return valuesOf(rows, seesAll)
})

export const proofPage = async ({ ask, seesAll }: Reader, figure: FigurePlace): Promise<PageHtml> => {
  const { id, consolidation, lineItem, year } = figure
  const [company, { rows }] = [await ask('company', { id }), await ask('proof', figure)]
  const name = cellText(company.rows[0]?.company_name) || `Company ${id}`
  const title = `${itemWords(lineItem)} ${year}`
  return pageHtml(
    { id: 'proof', title: `${title} of ${name}` },
    html`<div class="head"><h1 tabindex="-1">${untrustedText(title)}</h1><ul class="facts"><li><a href="#/company/${id}">${untrustedText(name)}</a></li><li>${untrustedText(consolidation)}</li></ul></div>
${valuesOf(rows, seesAll)}`,
  )
}
