/** The proof of a figure, below the line of the statement that it stands in. */

import { fillPlaces, type ShownPage } from './fragment.ts'

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Goes along a line of a statement by arrow keys. @returns whether it did */
export const stepAlongLine = (link: HTMLAnchorElement, key: string): boolean => {
  const numbers = [...(link.closest('tr')?.querySelectorAll<HTMLAnchorElement>('a[data-proof]') ?? [])]
  const next = numbers[numbers.indexOf(link) + (STEPS[key] ?? 0)]
  if (STEPS[key] === undefined || next === undefined) return false
  next.focus()
  return true
}

/** Opens the proof that a link leads to, or folds it up again: one at a time in a table. */
export const toggleProof = (page: ShownPage, link: HTMLAnchorElement): void => {
  const [row, table] = [link.closest('tr'), link.closest('table')]
  if (row === null || table === null) return
  const isOpen = link.ariaExpanded === 'true'
  table.querySelector('tr.proof-row')?.remove()
  for (const other of table.querySelectorAll('[aria-expanded]')) other.removeAttribute('aria-expanded')
  if (isOpen) return
  link.ariaExpanded = 'true'
  const below = document.createElement('tr')
  below.className = 'proof-row'
  const cell = below.insertCell()
  cell.colSpan = row.cells.length
  const [around, place] = [document.createElement('div'), document.createElement('div')]
  around.className = 'proof-place'
  const address = link.hash.replace(/^#\/?/, '')
  Object.assign(place.dataset, { part: 'proof', title: 'The proof', ask: JSON.stringify({ address }) })
  around.append(place)
  cell.append(around)
  row.after(below)
  void fillPlaces(page, cell)
}
