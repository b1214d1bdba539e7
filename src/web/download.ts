/** Saves what a page shows: a table as a CSV file, which asks nothing of the server again, and a company as a workbook. */

import { askFile } from './api.ts'
import { type CsvTable, csvOf } from './csv.ts'
import { h } from './dom.ts'
import type { ShownPage } from './page.ts'

const save = (content: Blob, name: string, suffix: string): void => {
  const url = URL.createObjectURL(content)
  h('a', { href: url, download: `${name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}.${suffix}` }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const saveCsv = (table: CsvTable, name: string): void =>
  save(new Blob([csvOf(table)], { type: 'text/csv;charset=utf-8' }), name, 'csv')

export const csvButton = (table: CsvTable, name: string): HTMLElement => {
  const button = h('button', { type: 'button', class: 'btn' }, `CSV of “${name}”`)
  button.addEventListener('click', () => saveCsv(table, name))
  return button
}

/** Says that the workbook is on its way, or why there is none. */
export const workbookButton = (id: string, page: ShownPage): HTMLElement => {
  const button = h('button', { type: 'button', class: 'btn main' }, 'Excel')
  const status = h('span', { class: 'soft', role: 'status' })
  button.addEventListener('click', async () => {
    status.textContent = 'Loading …'
    try {
      save(await askFile('workbook', { id }, page.signal), `company-${id}`, 'xlsx')
      status.textContent = ''
    } catch (error) {
      if (!page.signal.aborted) status.textContent = error instanceof Error ? error.message : String(error)
    }
  })
  return h('span', {}, button, ' ', status)
}
