/** Rows as a table of GitHub-flavoured Markdown: every value is shown as the text that it is. */

import { printable, type TextColumn } from './text-table.ts'

/** What begins or ends markup; a line within a word (`company_name`) is none. */
const MARKUP = /[\\`*[\]<>&|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu

const cell = (text: string): string =>
  text
    .split(/\r\n|[\r\n]/)
    .map((line) => printable(line).replace(MARKUP, '\\$&'))
    .join('<br>')

export const markdownLine = (texts: readonly string[]): string => `| ${texts.map(cell).join(' | ')} |\n`

/** The titles, and the line below them that says which columns stand to the right. */
export const markdownHead = (columns: readonly TextColumn[]): string =>
  `${markdownLine(columns.map(({ title }) => title))}| ${columns.map(({ right }) => (right ? '--:' : '---')).join(' | ')} |\n`
