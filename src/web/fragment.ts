/** Parts of a page, which the server makes as HTML: each is fetched with the session, and put into its place. */

import { AskFailure, asked, reasonOf } from './session.ts'

/** A page while it is shown: its signal fires when the reader leaves, and the server stops what it is at. */
export interface ShownPage {
  readonly signal: AbortSignal
  /** Called when the session is not accepted any more. */
  readonly onSignedOut: (reason: string) => void
}

const TYPE = 'text/html; charset=utf-8'

const elements = (within: ParentNode, selector: string): readonly HTMLElement[] => [
  ...within.querySelectorAll<HTMLElement>(selector),
]

/** Replaces what a place shows. The same thing as before has the focus again and is unfolded; where it is gone, the heading of the list. */
const replaceContent = (place: HTMLElement, content: Iterable<Node>): void => {
  const focused = document.activeElement
  const key = focused instanceof HTMLElement && place.contains(focused) ? focused.dataset.key : undefined
  const open = new Set(elements(place, 'details[data-keep][open]').map(({ dataset }) => dataset.keep))
  const from = place.querySelector<HTMLElement>('[data-from]')?.dataset.from
  place.replaceChildren(...content)
  for (const one of elements(place, 'details[data-keep]'))
    if (open.has(one.dataset.keep)) one.setAttribute('open', '')
  // The rows that follow are read from the first one on.
  const list = place.querySelector<HTMLElement>('[data-from]')
  if (list !== null && from !== undefined && from !== list.dataset.from) {
    list.focus({ preventScroll: true })
    list.scrollIntoView()
  } else if (key !== undefined) {
    const same = elements(place, '[data-key]').find((one) => one.dataset.key === key)
    const found = same ?? document.querySelector<HTMLElement>('#list')
    found?.focus({ preventScroll: true })
  }
}

/** A page that is shown already keeps its content: its places alone are asked for what the new one asks. */
const isMerged = (place: HTMLElement, content: HTMLElement): boolean => {
  const page = content.querySelector<HTMLElement>('[data-page]')?.dataset.page
  if (page !== 'home' || place.querySelector(`:scope > [data-page=${page}]`) === null) return false
  for (const next of elements(content, '[data-part]')) {
    const shown = elements(place, '[data-part]').find(({ dataset }) => dataset.part === next.dataset.part)
    if (shown !== undefined) shown.dataset.ask = next.dataset.ask
  }
  return true
}

/**
 * The one function by which HTML becomes a part of the page. It is the answer of our server to a request of ours, and says so;
 * texts in it were escaped there.
 *
 * @throws {AskFailure}
 */
export const insert = async (place: HTMLElement, response: Response): Promise<void> => {
  const { origin } = new URL(response.url)
  if (origin !== location.origin || response.headers.get('content-type') !== TYPE)
    throw new AskFailure(response.status, 'The server answers with something else than a part of this page.')
  const { body } = new DOMParser().parseFromString(await response.text(), 'text/html')
  // Some of it belongs elsewhere in the page.
  for (const part of elements(body, '[data-for]')) {
    part.remove()
    const slot = document.querySelector<HTMLElement>(`[data-slot="${part.dataset.for}"]`)
    if (slot !== null) replaceContent(slot, part.childNodes)
  }
  if (!isMerged(place, body)) replaceContent(place, body.childNodes)
}

/** Fills a place, which keeps its content until then. Never fails. */
export const fill = async (page: ShownPage, place: HTMLElement): Promise<void> => {
  const { part = '', ask = '', title = '' } = place.dataset
  place.setAttribute('aria-busy', 'true')
  try {
    const response = await asked(`explorer/fragment/${part}`, ask, page.signal)
    if (page.signal.aborted) return
    await insert(place, response)
    place.dataset.filled = ask
  } catch (error) {
    if (page.signal.aborted) return
    if (error instanceof AskFailure && error.status === 401) return page.onSignedOut(reasonOf(error))
    const said = document.createElement('p')
    said.className = 'bad failed'
    said.role = 'alert'
    said.textContent = `✖ ${title}: ${reasonOf(error)}`
    place.replaceChildren(said)
    delete place.dataset.filled
  } finally {
    if (!page.signal.aborted) place.removeAttribute('aria-busy')
  }
}

/** Fills the places in an element one after the other, those too that come with a part: the server answers one at a time. Never fails. */
export const fillPlaces = async (page: ShownPage, within: HTMLElement): Promise<void> => {
  const tried = new Set<HTMLElement>()
  for (;;) {
    const waiting = elements(within, '[data-part]').filter(
      (one) => !tried.has(one) && one.dataset.filled !== one.dataset.ask,
    )
    const next = waiting.find(({ dataset }) => dataset.last === undefined) ?? waiting[0]
    if (next === undefined || page.signal.aborted) return
    tried.add(next)
    await fill(page, next)
  }
}
