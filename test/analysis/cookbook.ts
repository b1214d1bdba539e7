/** The questions of a page: their SQL and their answers, as cells of text. */

import { readPage } from '../support/page.ts'

export interface Question {
  readonly title: string
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

const QUESTION = /### (.+)\n\n```sql\n([\s\S]*?)\n```\n\n```text\n([\s\S]*?)\n```/g

/** Cells of a line; a column ends where the next one begins. */
const cellsOf = (line: string, starts: readonly number[]): string[] =>
  starts.map((start, at) => line.slice(start, starts[at + 1]).trim())

export const questions = (page = 'docs/analysis.md'): readonly Question[] => {
  const [, section = ''] = readPage(page).split('\n## Questions and answers\n')
  return [...section.matchAll(QUESTION)].map(([, title = '', sql = '', answer = '']) => {
    const [head = '', ...lines] = answer.split('\n')
    const starts = [...head.matchAll(/\S+/g)].map(({ index }) => index)
    return { title, sql, columns: cellsOf(head, starts), rows: lines.map((line) => cellsOf(line, starts)) }
  })
}

/** A value as the page writes it; NULL is nothing. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined ? '' : String(value)
