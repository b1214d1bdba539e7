/** A table as CSV (RFC 4180), as `firmlake export` writes it: what would be a formula gets an apostrophe before it. */

import { neutralise, neutraliseJson } from '../../support/formula-text.ts'

export interface CsvTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

const quoted = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return quoted(neutralise(value))
  return typeof value === 'object' ? quoted(neutraliseJson(JSON.stringify(value))) : String(value)
}

export const csvOf = ({ columns, rows }: CsvTable): string =>
  [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
