/** Search as one types: companies by words of their name, by number or identifier. */

import { AskFailure, answerRows, ask } from './api.ts'
import { h, untrusted } from './dom.ts'

const PAUSE_MS = 150
const LONGEST = 200
const LONGEST_NAME = 120

export const searchBox = (onSignedOut: (reason: string) => void): HTMLElement => {
  const input = h('input', {
    type: 'search',
    id: 'search',
    maxlength: LONGEST,
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const status = h('p', { class: 'soft', role: 'status' })
  const list = h('ul', { class: 'found' })
  let running = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  const clear = (): void => {
    list.replaceChildren()
    status.textContent = ''
  }
  const search = async (signal: AbortSignal): Promise<void> => {
    const text = input.value.trim()
    if (text === '') return clear()
    try {
      const rows = answerRows(await ask('search', { text }, signal))
      status.textContent =
        rows.length === 0 ? 'No company is found.' : `${rows.length} companies, the nearest first`
      list.replaceChildren(
        ...rows.map((row) =>
          h(
            'li',
            {},
            h(
              'a',
              { href: `#/company/${String(row.internal_id)}` },
              untrusted(row.company_name, LONGEST_NAME),
            ),
            ' ',
            h('small', {}, [row.org_no, row.country_code, row.status].filter(Boolean).join(', ')),
          ),
        ),
      )
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof AskFailure && error.status === 401) onSignedOut(error.message)
      status.textContent = error instanceof Error ? error.message : String(error)
    }
  }
  input.addEventListener('input', () => {
    running.abort()
    clearTimeout(timer)
    running = new AbortController()
    timer = setTimeout(() => search(running.signal), PAUSE_MS)
  })
  const box = h('search', {}, h('label', { for: 'search' }, 'Search companies '), input, status, list)
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') {
      input.value = ''
      clear()
      input.focus()
    }
    if (step === undefined) return
    const stops = [input, ...list.querySelectorAll('a')]
    const at = stops.findIndex((one) => one === document.activeElement)
    stops[Math.min(stops.length - 1, Math.max(0, at + step))]?.focus()
    event.preventDefault()
  })
  // A company that is chosen takes the place of what was found.
  list.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || event.target.closest('a') === null) return
    input.value = ''
    clear()
  })
  return box
}
