/** Search as one types: companies by words of their name, by number or identifier; Enter lists all that match. */

import { statusName } from '../report/shown.ts'
import { AskFailure, answerRows, ask } from './api.ts'
import { linkOf } from './browse-state.ts'
import { h, svg, untrusted } from './dom.ts'

const PAUSE_MS = 150
const LONGEST = 200
const LONGEST_NAME = 120

const magnifier = (): SVGElement =>
  svg(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', 'stroke-width': 2, 'aria-hidden': 'true' },
    svg('circle', { cx: 10.5, cy: 10.5, r: 6.5 }),
    svg('path', { d: 'M15.5 15.5 21 21' }),
  )

export interface SearchBox {
  readonly box: HTMLElement
  /** Empties it, for another page. */
  readonly leave: () => void
}

export const searchBox = (onSignedOut: (reason: string) => void): SearchBox => {
  const input = h('input', {
    ...{ type: 'search', id: 'search', maxlength: LONGEST, autocomplete: 'off', spellcheck: 'false' },
    placeholder: 'Name, number or identifier',
  })
  const status = h('p', { class: 'soft', role: 'status' })
  const list = h('ul', { class: 'found' })
  let running = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  const clear = (): void => {
    running.abort()
    clearTimeout(timer)
    list.replaceChildren()
    status.textContent = ''
  }
  const search = async (signal: AbortSignal): Promise<void> => {
    const text = input.value.trim()
    if (text === '') return clear()
    try {
      const rows = answerRows(await ask('search', { text }, signal))
      status.textContent = rows.length === 0 ? 'No company is found.' : 'The nearest first'
      const found = rows.map((row) =>
        h(
          'a',
          { href: `#/company/${String(row.internal_id)}` },
          untrusted(row.company_name, LONGEST_NAME),
          h(
            'small',
            {},
            [row.org_no, row.country_code, statusName(String(row.status ?? ''))].filter(Boolean).join(', '),
          ),
        ),
      )
      const all = h('a', { href: linkOf({ text }) }, 'List all that match')
      list.replaceChildren(...[...found, ...(rows.length > 0 ? [all] : [])].map((one) => h('li', {}, one)))
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
  const box = h(
    'search',
    { class: 'search' },
    h('label', { class: 'vh', for: 'search' }, 'Search companies by name, organisation number or identifier'),
    magnifier(),
    input,
    h('div', { class: 'panel' }, status, list),
  )
  const leave = (): void => {
    input.value = ''
    clear()
  }
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') {
      leave()
      input.focus()
    }
    if (event.key === 'Enter' && event.target === input && input.value.trim() !== '') {
      location.hash = linkOf({ text: input.value.trim() })
      leave()
    }
    if (step === undefined) return
    const stops = [input, ...list.querySelectorAll('a')]
    const at = stops.findIndex((one) => one === document.activeElement)
    stops[Math.min(stops.length - 1, Math.max(0, at + step))]?.focus()
    event.preventDefault()
  })
  // A company that is chosen takes the place of what was found.
  list.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('a') !== null) leave()
  })
  // Results close when the focus moves elsewhere.
  box.addEventListener('focusout', (event) => {
    const { relatedTarget } = event
    const stays = relatedTarget instanceof Node ? box.contains(relatedTarget) : box.matches(':hover')
    if (!stays) clear()
  })
  return { box, leave }
}
