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

/** Asks, and shows the answer in a part that stands where it is called; never fails. */
export const part = async (
  page: ShownPage,
  question: string,
  parameters: object,
  show: (answer: ExplorerAnswer) => readonly Node[],
): Promise<void> => {
  const place = h('div', { 'aria-busy': 'true' }, h('p', { class: 'soft' }, 'Loading …'))
  page.main.append(place)
  try {
    const answer = await ask(question, parameters, page.signal)
    place.replaceChildren(...show(answer))
  } catch (error) {
    if (page.signal.aborted) return
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof AskFailure && error.status === 401) page.onSignedOut(reason)
    place.replaceChildren(h('p', { class: 'bad', role: 'alert' }, `✖ ${reason}`))
  } finally {
    place.removeAttribute('aria-busy')
  }
}
