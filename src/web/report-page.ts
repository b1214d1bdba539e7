/** Pages of the report, live: the same sections, charts and statements as in `firmlake report`, over what the token may see. */

import { numbersIn } from '../report/numbers.ts'
import { pagesOf } from '../report/pages.ts'
import { renderSection } from '../report/render-section.ts'
import type { ReportPage, Surroundings } from '../report/section.ts'
import { answerRows } from './api.ts'
import { fromHtml, h } from './dom.ts'
import { csvButton } from './download.ts'
import { heading, part, type ShownPage } from './page.ts'

/** The overview is the explorer's own. */
export const REPORT_PAGES: readonly ReportPage[] = pagesOf({ lineItems: ['NetSales'], rules: [] }).slice(1)

const AROUND: Surroundings = {
  numbers: numbersIn('en'),
  companyHref: (id) => `#/company/${id}`,
}

/** A section of the report stands below the title of its page, here right below that of all. */
const raised = (section: DocumentFragment): DocumentFragment => {
  for (const old of section.querySelectorAll('h3'))
    old.replaceWith(h('h2', { id: old.id }, ...old.childNodes))
  return section
}

const itemChoice = (page: ShownPage, chosen: string): HTMLElement => {
  const label = h('label', { for: 'line-item' }, 'Line item of the map ')
  const select = h('select', { id: 'line-item' }, h('option', { value: chosen, selected: true }, chosen))
  select.addEventListener('change', () => {
    location.hash = `#/coverage/${encodeURIComponent(select.value)}`
  })
  const place = h('p', {}, label, select)
  void part({ ...page, main: h('div') }, 'line-items', {}, (answer) => {
    for (const [item] of answer.rows) if (item !== chosen) select.append(h('option', {}, String(item)))
    return []
  })
  return place
}

/** @param open ids of the sections that the token may see */
export const showReportPage = async (
  page: ShownPage,
  { id, title }: ReportPage,
  open: ReadonlySet<string>,
  lineItem: string,
): Promise<void> => {
  heading(page, title, title)
  const sections = pagesOf({ lineItems: [lineItem], rules: [] }).find((one) => one.id === id)?.sections ?? []
  if (id === 'coverage') page.main.append(itemChoice(page, lineItem))
  const grid = h('div', { class: 'grid' })
  page.main.append(grid)
  for (const section of sections) {
    if (page.signal.aborted) return
    if (!open.has(section.id)) {
      grid.append(
        h(
          'div',
          { class: 'card' },
          h('h2', {}, section.title),
          h(
            'p',
            { class: 'soft' },
            'This is about the whole lake: it needs a token that may see everything.',
          ),
        ),
      )
      continue
    }
    await part({ ...page, main: grid }, 'section', { id: section.id, lineItem }, (answer) => {
      const card = raised(
        fromHtml(
          renderSection(
            { ...section, sql: answer.sql ?? section.sql },
            { columns: answer.columns, rows: answerRows(answer) },
            AROUND,
          ),
        ),
      )
      if (answer.rows.length > 0)
        card.querySelector('.fold:last-of-type')?.append(csvButton(answer, section.title))
      return [card]
    })
  }
}
