/** Companies that a search finds as one types: by words of their name, by number or identifier; the nearest names where nothing has them. */

import { type Html, html } from '../../../report/html.ts'
import { cellText, type ReportRow } from '../../../report/rows.ts'
import { statusName, textOrDash } from '../../../report/shown.ts'
import { objectOf } from '../../../support/json-form.ts'
import { askedText } from '../company-questions.ts'
import { linkOf } from './browse-state.ts'
import { fragment } from './fragment.ts'

const LONGEST_NAME = 120

const foundItem = (row: ReportRow): Html => {
  const about = [row.org_no, row.country_code, statusName(cellText(row.status))].map(cellText).filter(Boolean)
  return html`<li><a href="#/company/${cellText(row.internal_id)}">${textOrDash(row.company_name, LONGEST_NAME)}<small>${about.join(', ')}</small></a></li>\n`
}

export const found = fragment(objectOf({ text: askedText }), async ({ ask }, { text }) => {
  const { rows } = await ask('search', { text })
  if (rows.length > 0)
    return html`<span data-for="said">The nearest first</span><ul>
${rows.map(foundItem)}<li><a href="${linkOf({ text: text.trim() })}">List all that match</a></li></ul>`
  const similar = (await ask('similar', { text })).rows
  return similar.length === 0
    ? html`<span data-for="said">No company is found.</span>`
    : html`<span data-for="said">No name has this. Did you mean one of these?</span><ul>\n${similar.map(foundItem)}</ul>`
})
