/** The explorer's page: sign-in, the frame, and in it the page that the address names behind its `#`. */

import { fill, fillPlaces, type ShownPage } from './fragment.ts'
import { stepAlongLine, toggleProof } from './proof-row.ts'
import { saveFile } from './save-file.ts'
import { startSearch } from './search-box.ts'
import { AskFailure, forgetSession, hasSession, reasonOf, signIn, signOut } from './session.ts'

let shown = new AbortController()
/** Empties the search; nothing while nobody is signed in. */
let leaveSearch = (): void => undefined

/** An element that the document has. */
const found = <E extends HTMLElement>(selector: string): E => {
  const one = document.body.querySelector<E>(selector)
  if (one === null) throw new TypeError(`Cannot show the page: there is no "${selector}"`)
  return one
}

/** Puts a template of the document in the place of its content. */
const showTemplate = (id: string): void => {
  const { content } = found<HTMLTemplateElement>(`template#${id}`)
  document.body.replaceChildren(content.cloneNode(true), ...document.querySelectorAll('body > template'))
}

/** @param said why it is shown, such as that a session has ended */
const showSignIn = (said: string): void => {
  shown.abort()
  document.title = 'Sign in – firmlake'
  showTemplate('sign-in')
  const [status, token] = [found('.said'), found<HTMLInputElement>('#token')]
  const button = found<HTMLButtonElement>('form button')
  status.textContent = said
  found('.lead').textContent = location.host
  token.focus()
  found('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    status.className = 'said'
    status.textContent = 'Signing in …'
    try {
      await signIn(token.value.trim())
      showFrame()
    } catch (error) {
      status.className = 'said bad'
      status.textContent = `✖ ${reasonOf(error)}`
      button.disabled = false
      token.select()
    }
  })
}

const askToSignIn = (said: string): void => {
  forgetSession()
  showSignIn(said)
}

let searchBox: HTMLElement | undefined

/** The search stands large where a page has room for it. */
const placeSearch = (main: HTMLElement): void => {
  const place = main.querySelector('[data-search]') ?? found('.mini')
  if (searchBox !== undefined && searchBox.parentElement !== place) place.append(searchBox)
}

/** Marks the link of the page, which is seen where the navigation is wider than the screen. */
const markCurrent = (link: Element): void => {
  link.setAttribute('aria-current', 'page')
  const nav = link.closest('nav')
  if (nav !== null)
    nav.scrollLeft += link.getBoundingClientRect().left - nav.getBoundingClientRect().left - 16
}

/** How far down the reader left each entry of the history, for the back button; a browser without its keys begins at the top. */
const tops = new Map<string, number>()
let shownEntry = ''

/** Shows the page of the address; where it is another state of the one that is shown, that keeps its content. */
const show = async (): Promise<void> => {
  shown.abort()
  shown = new AbortController()
  const main = document.querySelector('main')
  if (main === null || !hasSession()) return
  leaveSearch()
  const page: ShownPage = { signal: shown.signal, onSignedOut: askToSignIn }
  const address = location.hash.replace(/^#\/?/, '')
  const name = address.split(/[/?]/)[0]
  tops.set(shownEntry, scrollY)
  shownEntry = 'navigation' in window ? (navigation.currentEntry?.key ?? '') : ''
  const top = shownEntry === '' ? 0 : (tops.get(shownEntry) ?? 0)
  for (const link of document.querySelectorAll('nav a'))
    if (link.getAttribute('href') === `#/${name}`) markCurrent(link)
    else link.removeAttribute('aria-current')
  const before = main.firstElementChild
  Object.assign(main.dataset, { part: 'page', title: 'The page', ask: JSON.stringify({ address }) })
  await fill(page, main)
  if (page.signal.aborted) return
  placeSearch(main)
  const isOther = main.firstElementChild !== before
  if (isOther) {
    const title = main.querySelector<HTMLElement>('[data-title]')?.dataset.title
    if (title !== undefined) document.title = `${title} – firmlake`
    scrollTo(0, 0)
    main.querySelector('h1')?.focus({ preventScroll: true })
  }
  await fillPlaces(page, main)
  if (isOther && top > 0 && scrollY === 0 && !page.signal.aborted) scrollTo(0, top)
}

const showFrame = (): void => {
  showTemplate('frame')
  found('.out').addEventListener('click', async () => {
    const ended = signOut()
    showSignIn('Signed out.')
    await ended.catch(() =>
      showSignIn('Signed out here. The server could not be reached: its session ends by itself.'),
    )
  })
  searchBox = found('.search')
  leaveSearch = startSearch(searchBox, askToSignIn)
  // The address behind `#` names the page.
  found('.skip').addEventListener('click', (event) => {
    event.preventDefault()
    found('main').focus()
  })
  void show()
}

/** A token that the address brings, as `firmlake demo --open` gives it; it does not stay there, nor in the tab's history. */
const tokenOfAddress = (): string | undefined => {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (token !== undefined) history.replaceState(null, '', location.pathname)
  return token
}

const start = async (): Promise<void> => {
  const token = tokenOfAddress()
  try {
    if (token !== undefined) await signIn(token)
    if (hasSession()) showFrame()
    else askToSignIn('')
  } catch (error) {
    if (error instanceof AskFailure && error.status === 401) askToSignIn(error.message)
    else showSignIn(reasonOf(error))
  }
}

history.scrollRestoration = 'manual'
addEventListener('hashchange', () => void show())
addEventListener('click', (event) => {
  const { target } = event
  const button = target instanceof Element ? target.closest<HTMLElement>('[data-file]') : null
  if (button !== null) void saveFile(button, shown.signal)
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[data-proof]') : null
  // With a key held it is a link to a page of its own.
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  toggleProof({ signal: shown.signal, onSignedOut: askToSignIn }, link)
})
addEventListener('keydown', (event) => {
  const { target, key } = event
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[data-proof]') : null
  if (link !== null && stepAlongLine(link, key)) event.preventDefault()
})
addEventListener('change', ({ target }) => {
  if (target instanceof HTMLSelectElement && target.dataset.go !== undefined)
    location.hash = target.dataset.go + encodeURIComponent(target.value)
})
void start()
