/** Common to the pages: a heading, parts that are asked for one after the other, and the message where that fails. */

import { AskFailure, ask, type ExplorerAnswer } from './api.ts'
import { h } from './dom.ts'

/** A page while it is shown: its signal fires when the reader leaves, and the server stops what it is at. */
export interface ShownPage {
  readonly main: HTMLElement
  readonly signal: AbortSignal
  /** Called where the token is not accepted any more. */
  readonly onSignedOut: (reason: string) => void
}

/** The heading stands before all else of the page. */
export const heading = (page: ShownPage, text: string | Node, title: string): void => {
  document.title = `${title} – firmlake`
  const found = h('h1', { tabindex: -1 }, text)
  page.main.prepend(found)
  found.focus({ preventScroll: true })
}

type Show = (answer: ExplorerAnswer) => readonly Node[]

/** Replaces what a place shows. The same thing as before has the focus again; where it is gone, the heading of the list. */
export const replaceContent = (place: HTMLElement, nodes: readonly Node[]): void => {
  const focused = document.activeElement
  const key = focused instanceof HTMLElement && place.contains(focused) ? focused.dataset.key : undefined
  place.replaceChildren(...nodes)
  if (key === undefined) return
  const next = [...place.querySelectorAll<HTMLElement>('[data-key]')].find((one) => one.dataset.key === key)
  const found = next ?? document.querySelector<HTMLElement>('#list')
  found?.focus({ preventScroll: true })
}

/** The newest answer of each place. */
const answers = new WeakMap<HTMLElement, { readonly asked: string; readonly answer: ExplorerAnswer }>()

/**
 * Asks, and shows the answer in a place that keeps its content until then; nothing is asked where the place has the answer already.
 * Never fails.
 *
 * @param look changes where the same answer is shown in another way @default always in the same one
 */
export const fillPlace = async (
  page: ShownPage,
  place: HTMLElement,
  [question, parameters, look = '']: readonly [question: string, parameters: object, look?: string],
  show: Show,
): Promise<void> => {
  const asked = JSON.stringify([question, parameters])
  const shown = `${asked} ${look}`
  if (place.dataset.shown === shown) return
  place.setAttribute('aria-busy', 'true')
  if (!place.hasChildNodes()) place.append(h('p', { class: 'soft' }, 'Loading …'))
  try {
    const known = answers.get(place)
    const answer = known?.asked === asked ? known.answer : await ask(question, parameters, page.signal)
    answers.set(place, { asked, answer })
    replaceContent(place, show(answer))
    place.dataset.shown = shown
  } catch (error) {
    if (page.signal.aborted) return
    delete place.dataset.shown
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof AskFailure && error.status === 401) page.onSignedOut(reason)
    place.replaceChildren(h('p', { class: 'bad', role: 'alert' }, `✖ ${reason}`))
  } finally {
    if (!page.signal.aborted) place.removeAttribute('aria-busy')
  }
}

/** Asks, and shows the answer in a part that stands where it is called; never fails. */
export const part = async (
  page: ShownPage,
  question: string,
  parameters: object,
  show: Show,
): Promise<void> => {
  const place = h('div')
  page.main.append(place)
  await fillPlace(page, place, [question, parameters], show)
}
