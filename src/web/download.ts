/** A button that saves a table as a CSV file; nothing is asked of the server again. */

import type { ExplorerAnswer } from './api.ts'
import { csvOf } from './csv.ts'
import { h } from './dom.ts'

export const csvButton = (answer: ExplorerAnswer, name: string): HTMLElement => {
  const button = h('button', { type: 'button' }, `CSV of “${name}”`)
  button.addEventListener('click', () => {
    const url = URL.createObjectURL(new Blob([csvOf(answer)], { type: 'text/csv;charset=utf-8' }))
    h('a', { href: url, download: `${name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}.csv` }).click()
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  })
  return button
}
