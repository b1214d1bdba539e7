/** Pages of the report, live: the same sections, charts and statements as in `firmlake report`, over what the reader may see. */

import { LINE_ITEMS } from '../../../contract/line-items.ts'
import { type Html, html } from '../../../report/html.ts'
import { pagesOf } from '../../../report/pages.ts'
import { renderSection, statement } from '../../../report/render-section.ts'
import type { ReportPage, Section } from '../../../report/section.ts'
import { numbers } from '../../../report/shown.ts'
import { SECTION, sectionOf } from '../report-questions.ts'
import { csvButton, csvFile } from './csv-files.ts'
import { fragment, place, type Reader } from './fragment.ts'
import { type PageHtml, pageHtml } from './page-html.ts'

const NET_SALES = 'NetSales'
const pagesFor = (lineItem: string): readonly ReportPage[] =>
  // The overview is the explorer's own.
  pagesOf({ lineItems: [lineItem], rules: [] }).slice(1)

export const REPORT_PAGES = pagesFor(NET_SALES)

const ITEMS: readonly string[] = [...new Set(LINE_ITEMS.map(({ lineItem }) => lineItem))].sort()

const itemChoice = (chosen: string): Html => {
  const items = ITEMS.includes(chosen) ? ITEMS : [chosen, ...ITEMS]
  const options = items.map(
    (item) => html`<option value="${item}"${item === chosen ? html` selected` : html``}>${item}</option>`,
  )
  return html`<p><label for="line-item">Line item of the map </label><select id="line-item" data-go="#/coverage/">${options}</select></p>\n`
}

const WIDTHS: Readonly<Record<number, string>> = { 4: 'c4', 6: 'c6', 8: 'c8' }

const places = (sections: readonly Section[], lineItem: string): readonly Html[] =>
  sections.map(({ id, title, span = 12 }) =>
    place({ part: 'section', parameters: { id, lineItem }, title, lines: 5, width: WIDTHS[span] ?? '' }),
  )

/** @param argument what stands behind the page's name in the address */
export const reportPage = async (
  { maySee }: Reader,
  page: ReportPage,
  argument: string,
): Promise<PageHtml> => {
  const { id, title } = page
  const lineItem = argument || NET_SALES
  const sections = pagesFor(lineItem).find((one) => one.id === id)?.sections ?? []
  const open = sections.filter(({ sql }) => maySee(sql))
  const closed = sections.filter((section) => !open.includes(section)).map((section) => section.title)
  const refused =
    closed.length === 0
      ? html``
      : html`<p class="lead">${open.length === 0 ? 'This' : closed.join(', ')}: about the whole lake, it needs a token that may see everything.</p>\n`
  // Sections of the same rows follow where the first one has some.
  const [first] = open
  const asked = page.none !== undefined && first !== undefined ? [first] : open
  return pageHtml(
    { id: 'report', title },
    html`<h1 tabindex="-1">${title}</h1>${id === 'coverage' ? itemChoice(lineItem) : html``}<div class="grid">${places(asked, lineItem)}</div>
${refused}`,
  )
}

/** The page that a section begins, where it says for all of them that there are no rows. */
const begunBy = (id: string, lineItem: string): ReportPage | undefined =>
  pagesFor(lineItem).find(({ none, sections }) => none !== undefined && sections[0]?.id === id)

export const section = fragment(SECTION, async ({ ask, maySee }, sent) => {
  const { id, lineItem = NET_SALES } = sent
  const found = sectionOf(id, lineItem)
  const answer = await ask('section', sent)
  const { title } = found
  const page = begunBy(id, lineItem)
  if (page?.none !== undefined && answer.rows.length === 0)
    return html`<div class="whole"><p class="lead">${page.none}</p><div class="fold bare">${statement(found.sql, title)}</div></div>\n`
  const csv = csvButton('section', sent, { name: title, of: title })
  const around = { numbers, companyHref: (company: string) => `#/company/${company}`, level: 2, csv } as const
  const others = page?.sections.slice(1).filter(({ sql }) => maySee(sql)) ?? []
  return html`${renderSection(found, answer, around)}${places(others, lineItem)}`
})

export const sectionFile = csvFile(SECTION, ({ ask }, sent) => ask('section', sent))
