/** Search as one types: companies by words of their name, by number or identifier; Enter lists all that match. */

import { insert } from './fragment.ts'
import { AskFailure, asked, reasonOf } from './session.ts'

const PAUSE_MS = 150

/** @returns what empties it, for another page */
export const startSearch = (box: HTMLElement, onSignedOut: (reason: string) => void): (() => void) => {
  const input = box.querySelector('input')
  const said = box.querySelector('[role=status]')
  const list = box.querySelector<HTMLElement>('.found')
  if (input === null || said === null || list === null) return () => undefined
  let running = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  const stop = (): void => {
    running.abort()
    clearTimeout(timer)
  }
  const clear = (): void => {
    stop()
    list.replaceChildren()
    said.textContent = ''
  }
  const search = async ({ signal }: AbortController): Promise<void> => {
    const text = input.value.trim()
    if (text === '') return clear()
    try {
      const response = await asked('explorer/fragment/found', JSON.stringify({ text }), signal)
      if (!signal.aborted) await insert(list, response)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof AskFailure && error.status === 401) return onSignedOut(error.message)
      list.replaceChildren()
      said.textContent = reasonOf(error)
    }
  }
  const leave = (): void => {
    input.value = ''
    clear()
  }
  input.addEventListener('input', () => {
    stop()
    running = new AbortController()
    timer = setTimeout(search, PAUSE_MS, running)
  })
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') {
      leave()
      input.focus()
    }
    if (event.key === 'Enter' && event.target === input && input.value.trim() !== '') {
      location.hash = `#/?${new URLSearchParams({ text: input.value.trim() })}`
      leave()
    }
    if (step === undefined) return
    const stops: readonly Element[] = [input, ...list.querySelectorAll('a')]
    const at = document.activeElement === null ? -1 : stops.indexOf(document.activeElement)
    const next = stops[Math.min(stops.length - 1, Math.max(0, at + step))]
    if (next instanceof HTMLElement) next.focus()
    event.preventDefault()
  })
  // A company that is chosen takes the place of what was found.
  list.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('a') !== null) leave()
  })
  // Results close when the focus moves elsewhere.
  box.addEventListener('focusout', ({ relatedTarget }) => {
    const stays = relatedTarget instanceof Node ? box.contains(relatedTarget) : box.matches(':hover')
    if (!stays) clear()
  })
  return leave
}
