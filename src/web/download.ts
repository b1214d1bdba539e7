/** Saves a table as a CSV file; nothing is asked of the server again. */

import { type CsvTable, csvOf } from './csv.ts'
import { h } from './dom.ts'

export const saveCsv = (table: CsvTable, name: string): void => {
  const url = URL.createObjectURL(new Blob([csvOf(table)], { type: 'text/csv;charset=utf-8' }))
  h('a', { href: url, download: `${name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}.csv` }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const csvButton = (table: CsvTable, name: string): HTMLElement => {
  const button = h('button', { type: 'button' }, `CSV of “${name}”`)
  button.addEventListener('click', () => saveCsv(table, name))
  return button
}
