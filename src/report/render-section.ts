/** A section of a page as a card: its drawing, its numbers as a table, its statement. */

import { type Html, html, untrustedText } from './html.ts'
import { type Numbers, numbersIn } from './numbers.ts'
import { cellText, type ReportRow } from './rows.ts'
import type { Section, SectionAnswer, Surroundings } from './section.ts'
import { instantTime, isInstant } from './words.ts'

/** Rows that stand open; the others are one click away. */
export const TOP = 10

const titleOf = (column: string): string => column.replaceAll('_', ' ')

/** From here on a text may be broken anywhere. */
const LONG = 40

/** Names among the numbers: they are never grouped. */
const NAMES = /^(snapshot|version)$|(^|_)(id|years?)$/

const cell = (value: unknown, column: string, numbers: Numbers): Html => {
  if (typeof value === 'number' || typeof value === 'bigint')
    return html`<td class="n">${NAMES.test(column) ? String(value) : numbers.exact(value)}</td>`
  const text = cellText(value)
  if (isInstant(text)) return html`<td>${instantTime(text)}</td>`
  return text.length > LONG
    ? html`<td class="l">${untrustedText(text)}</td>`
    : html`<td>${untrustedText(text)}</td>`
}

/** Every cell of an answer. @param caption what the rows are */
export const dataTable = (
  { columns, rows }: SectionAnswer,
  caption: string,
  numbers: Numbers = numbersIn('en'),
): Html => {
  const isNumber = (column: string): boolean => typeof rows[0]?.[column] === 'number'
  const heads = columns.map(
    (column) => html`<th scope="col"${isNumber(column) ? html` class="n"` : html``}>${titleOf(column)}</th>`,
  )
  const lines = rows.map(
    (row) => html`<tr>${columns.map((column) => cell(row[column], column, numbers))}</tr>\n`,
  )
  return html`<div class="wide" tabindex="0" role="group" aria-label="${`Table: ${caption}`}"><table class="data"><caption class="vh">${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines}</tbody></table></div>`
}

/** A summary that names its subject for those who hear it alone. */
const folded = (word: string, title: string, inner: Html): Html =>
  html`<details><summary>${word}<span class="vh"> of “${title}”</span></summary>${inner}</details>`

/** The statement; one click selects it. */
export const statement = (sql: string, title: string): Html =>
  folded('SQL', title, html`<pre tabindex="0"><code>${sql}</code></pre>`)

const cut = ({ most }: Section, rows: readonly ReportRow[], numbers: Numbers): Html =>
  most !== undefined && rows.length >= most
    ? html`<p class="soft">The first ${numbers.whole(most)} rows: the statement without its LIMIT gives all.</p>`
    : html``

const drawing = (section: Section, answer: SectionAnswer, around: Surroundings): Html => {
  const { rows } = answer
  if (section.draw) return section.draw(rows, around)
  return dataTable({ ...answer, rows: rows.slice(0, TOP) }, `${section.title}, the first`, around.numbers)
}

const numbersWord = (section: Section, rows: readonly ReportRow[], numbers: Numbers): string =>
  section.draw && rows.length <= TOP ? 'Numbers' : `Show all ${numbers.whole(rows.length)}`

/** A section without its heading. */
export const sectionBody = (section: Section, answer: SectionAnswer, around: Surroundings): Html => {
  const { title, about, sql, none } = section
  const { numbers } = around
  if (answer.rows.length === 0)
    return html`<p class="soft">${none}</p>\n<div class="fold">${statement(sql, title)}</div>`
  const table = html`${cut(section, answer.rows, numbers)}${dataTable(answer, title, numbers)}`
  // A table of few rows is all there is.
  const isWhole = section.draw === undefined && answer.rows.length <= TOP
  const open = isWhole ? table : drawing(section, answer, around)
  return html`<p class="about">${about}</p>
${open}
<div class="fold">${isWhole ? html`` : folded(numbersWord(section, answer.rows, numbers), title, table)}${statement(sql, title)}${around.csv ?? html``}</div>`
}

/** A section as a card. */
export const renderSection = (section: Section, answer: SectionAnswer, around: Surroundings): Html => {
  const level = around.level ?? 3
  return html`<div class="card${section.span ? ` c${section.span}` : ''}"><h${level} id="${section.id}">${section.title}</h${level}>
${sectionBody(section, answer, around)}</div>
`
}

/** A section that is folded up: its name alone is shown. */
export const renderFolded = (section: Section, answer: SectionAnswer, around: Surroundings): Html =>
  html`<details><summary><h3 id="${section.id}">${section.title}</h3></summary><div class="card">
${sectionBody(section, answer, around)}</div></details>
`
