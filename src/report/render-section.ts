/** One section of a page: its chart, its numbers as a table, its statement. */

import { chartFigure } from './chart-figure.ts'
import { type Html, html, untrustedText } from './html.ts'
import { cellText } from './rows.ts'
import type { Section, SectionAnswer } from './section.ts'

const titleOf = (column: string): string => column.replaceAll('_', ' ')

/** From here on a text may be broken anywhere. */
const LONG = 40

const cell = (value: unknown): Html => {
  if (typeof value === 'number' || typeof value === 'bigint') return html`<td class="n">${String(value)}</td>`
  const text = cellText(value)
  return text.length > LONG
    ? html`<td class="l">${untrustedText(text)}</td>`
    : html`<td>${untrustedText(text)}</td>`
}

/** @param caption what the rows are */
export const dataTable = ({ columns, rows }: SectionAnswer, caption: string): Html => {
  const heads = columns.map((column) => html`<th scope="col">${titleOf(column)}</th>`)
  const lines = rows.map((row) => html`<tr>${columns.map((column) => cell(row[column]))}</tr>\n`)
  return html`<div class="wide" tabindex="0" role="group" aria-label="${`Table: ${caption}`}"><table><caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines}</tbody></table></div>`
}

const cut = ({ most }: Section, { rows }: SectionAnswer): Html =>
  most !== undefined && rows.length >= most
    ? html`<p class="soft">The first ${most} rows: the statement without its LIMIT gives all.</p>`
    : html``

/** A table stands open where there is no chart. */
const numbers = (section: Section, answer: SectionAnswer): Html => {
  const table = dataTable(answer, section.title)
  return section.chart
    ? html`<details><summary>Numbers of “${section.title}”</summary>${table}</details>`
    : table
}

/** The statement; one click selects it. */
export const statement = (sql: string, title: string): Html =>
  html`<details><summary>SQL of “${title}”</summary><pre tabindex="0"><code>${sql}</code></pre></details>`

export const renderSection = (section: Section, answer: SectionAnswer): Html => {
  const { id, title, about, sql, chart, none } = section
  const shown =
    answer.rows.length === 0
      ? html`<p class="soft">${none}</p>`
      : html`${chart ? chartFigure(chart(answer.rows), title, id) : html``}
${cut(section, answer)}${numbers(section, answer)}`
  return html`<h3 id="${id}">${title}</h3>
<p>${about}</p>
${shown}
${statement(sql, title)}
`
}
