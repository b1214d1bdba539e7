/** Parts of a page, which the server makes as HTML: each is fetched with the session, and put into its place. */

import { AskFailure, asked } from './api.ts'
import { h } from './dom.ts'
import { replaceContent, type ShownPage } from './page.ts'

const TYPE = 'text/html; charset=utf-8'

/**
 * The one function by which HTML becomes a part of the page. It is the answer of our server to a question of ours, and says so;
 * texts in it were escaped there.
 *
 * @throws {AskFailure}
 */
const insert = async (place: HTMLElement, response: Response): Promise<void> => {
  const { origin } = new URL(response.url)
  if (origin !== location.origin || response.headers.get('content-type') !== TYPE)
    throw new AskFailure(response.status, 'The server answers with something else than a part of this page.')
  const parsed = new DOMParser().parseFromString(await response.text(), 'text/html')
  replaceContent(place, [...parsed.body.childNodes])
}

/** Fills a place, which keeps its content until then; nothing is asked where it has the answer already. Never fails. */
const fill = async (page: ShownPage, place: HTMLElement): Promise<void> => {
  const { part = '', ask = '', title = '' } = place.dataset
  place.dataset.filled = ask
  place.setAttribute('aria-busy', 'true')
  try {
    const response = await asked(`explorer/fragment/${part}`, ask, page.signal)
    if (!page.signal.aborted) await insert(place, response)
  } catch (error) {
    if (page.signal.aborted) return
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof AskFailure && error.status === 401) page.onSignedOut(reason)
    place.replaceChildren(
      h('div', { class: 'card' }, h('p', { class: 'bad', role: 'alert' }, `✖ ${title}: ${reason}`)),
    )
  } finally {
    if (!page.signal.aborted) place.removeAttribute('aria-busy')
  }
}

/** Fills the places in an element one after the other, those too that come with a part. Never fails. */
export const fillPlaces = async (page: ShownPage, within: HTMLElement): Promise<void> => {
  const next = [...within.querySelectorAll<HTMLElement>('[data-part]')].find(
    ({ dataset }) => dataset.filled !== dataset.ask,
  )
  if (next === undefined || page.signal.aborted) return
  await fill(page, next)
  await fillPlaces(page, within)
}
