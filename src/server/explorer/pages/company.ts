/** A company: how large it is, growing or not, profitable; its statements; then what surrounds it, each in a part of its own. */

import { type Html, html } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import { shownDay, textOrDash } from '../../../report/shown.ts'
import { countryName } from '../../../report/words.ts'
import { objectOf } from '../../../support/json-form.ts'
import { companyId } from '../question.ts'
import { linkOf } from './browse-state.ts'
import { companyWorkbook } from './company-workbook.ts'
import { csvButton, csvFile, nameWords, type SavedFile, workbookButton } from './csv-files.ts'
import { type Fragment, fragment, place, type Reader } from './fragment.ts'
import { type PageHtml, pageHtml } from './page-html.ts'

/** A whole text of thousands of characters stands in the table of all facts. */
const LONGEST_FACT = 100
const LONGEST_DESCRIPTION = 700
const LONGEST = 4000

const strings = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).map(cellText).filter(Boolean)

/** A web page as a link, where it is an address of the web and nothing else. */
const webPage = (value: string): Html => {
  const text = value.trim()
  const parsed = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  const isPlain = parsed !== null && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(parsed.hostname) && !/\s/.test(text)
  if (!isPlain) return textOrDash(text, LONGEST_FACT)
  const shown = text.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '')
  return html`<a href="${parsed.href}" rel="noreferrer noopener">${textOrDash(shown, LONGEST_FACT)}</a>`
}

const statusTag = (status: string): Html => {
  if (status === '') return html``
  const isActive = status === 'Active'
  return html`<span class="tag ${isActive ? 'good' : 'soft'}">${isActive ? '✔ ' : ''}${textOrDash(status, 40)}</span>`
}

const shortFacts = (row: ReportRow): readonly Html[] => {
  const of = (column: string): string => cellText(row[column])
  const [industry = ''] = strings(row.industries)
  const country = of('country_code') === '' ? '' : countryName(of('country_code'))
  const facts: readonly (readonly [text: string, shown: (text: string) => Html])[] = [
    [industry.replace(/^[\d.]+ /, ''), (text) => textOrDash(text, LONGEST_FACT)],
    [[of('city'), country].filter(Boolean).join(', '), (text) => textOrDash(text, LONGEST_FACT)],
    [of('listing_type'), (text) => textOrDash(text, 40)],
    [of('registration_date'), (text) => html`registered ${shownDay(text)}`],
    [of('org_no'), (text) => html`<span>Org. no. ${textOrDash(text, 40)}</span>`],
    [of('internal_id'), (text) => html`Identifier ${text}`],
    [of('url'), webPage],
    [of('financials_updated_at'), (text) => html`figures of ${shownDay(text)}`],
  ]
  return facts.flatMap(([text, shown]) => (text === '' ? [] : [shown(text)]))
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

const allFacts = (row: ReportRow): Html => {
  const shown = ALL_FACTS.flatMap(([title, columns]) => {
    const values = columns.flatMap((name) => strings(row[name]))
    const isDay = columns[0]?.endsWith('_end') === true
    const text = (isDay ? values.map(shownDay) : values).join(', ')
    return values.length === 0
      ? []
      : [html`<div><dt>${title}</dt><dd>${textOrDash(text, LONGEST)}</dd></div>\n`]
  })
  return shown.length === 0
    ? html``
    : html`<details><summary>Address and more</summary><dl class="all-facts">\n${shown}</dl></details>`
}

const headOf = (row: ReportRow): Html => {
  const description = cellText(row.description)
  return html`<div class="head"><div class="row"><h1 tabindex="-1">${textOrDash(row.company_name, LONGEST)}</h1>${statusTag(cellText(row.status))}<a class="btn" href="${linkOf({ compared: [cellText(row.internal_id)] })}">Compare</a></div>
<ul class="facts">${shortFacts(row).map((one) => html`<li>${one}</li>`)}</ul>
${description === '' ? html`` : html`<p class="lead">${textOrDash(description, LONGEST_DESCRIPTION)}</p>`}${allFacts(row)}</div>
`
}

/** @param id digits of an identifier */
export const companyPage = async ({ ask }: Reader, id: string): Promise<PageHtml> => {
  const [{ rows, snapshot }, reported] = [await ask('company', { id }), await ask('has-figures', { id })]
  const [row] = rows
  if (row === undefined)
    return pageHtml(
      { id: 'company', title: `Company ${id}` },
      html`<div class="head"><h1 tabindex="-1">Company ${id}</h1><p>There is no such company, or this token may not see it.</p></div>`,
    )
  const part = (name: string, title: string, lines: number, width = ''): Html =>
    place({ part: name, parameters: { id }, title, lines, width })
  const words = nameWords(row, id)
  const beside = html`${part('changes', 'Changes', 4)}${part('company-findings', 'Quality', 2)}`
  const owned = html`<section id="ownership"><h2>Owners and holdings</h2>${part('ownership', 'Owners and holdings', 6)}</section>\n`
  const content =
    reported.rows[0]?.has_figures === true
      ? html`${part('figures', 'Figures', 14)}<section><div class="grid">${part('peers', 'Peers', 8, 'c7')}<section class="beside c5">${beside}</section></div></section>
${owned}<section class="row"><h2>Take it with you</h2><p class="lead">All years and all line items, exact, of snapshot ${snapshot}.</p><p class="buttons">${workbookButton({ id }, { name: words, of: words })} ${csvButton('figures', { id }, { name: `figures of ${words}`, of: `Figures of ${words}` })}</p></section>`
      : // The group says most of a company without figures, which has no peers.
        html`<section><h2>Figures</h2><p class="lead">No figures are reported.</p></section>
${owned}<section class="beside">${beside}</section>`
  return pageHtml(
    { id: 'company', title: cellText(row.company_name) || `Company ${id}` },
    html`${headOf(row)}${content}`,
  )
}

const COMPANY = objectOf({ id: companyId })
const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

export const workbookFile: Fragment<SavedFile> = fragment(COMPANY, async (reader, company) => ({
  type: XLSX_TYPE,
  bytes: await companyWorkbook(reader, company),
}))
export const figuresFile = csvFile(COMPANY, ({ ask }, company) => ask('figures', company))
export const holdingsFile = csvFile(COMPANY, ({ ask }, company) => ask('ownership', company))
