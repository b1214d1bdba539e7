/** The explorer's page: sign-in, the frame, and in it the page that the address names behind its `#`. */

import { fill, fillPlaces, type ShownPage } from './fragment.ts'
import { stepAlongLine, toggleProof } from './proof-row.ts'
import { saveFile } from './save-file.ts'
import { startSearch } from './search-box.ts'
import { AskFailure, forgetSession, hasSession, reasonOf, signIn, signOut } from './session.ts'

let shown = new AbortController()
/** Empties the search; nothing while nobody is signed in. */
let leaveSearch = (): void => undefined

/** Puts a template of the document in the place of its content. @returns what finds elements in it */
const showTemplate = (
  id: string,
): (<E extends HTMLElement>(selector: string, work: (one: E) => void) => void) => {
  const template = document.querySelector<HTMLTemplateElement>(`template#${id}`)
  const kept = [...document.querySelectorAll('body > template')]
  if (template !== null) document.body.replaceChildren(template.content.cloneNode(true), ...kept)
  return (selector, work) => {
    for (const one of document.body.querySelectorAll<HTMLElement>(selector)) work(one as never)
  }
}

/** @param said why it is shown, such as that a session has ended */
const showSignIn = (said: string): void => {
  shown.abort()
  document.title = 'Sign in – firmlake'
  const within = showTemplate('sign-in')
  const say = (text: string, isBad = false): void =>
    within('.said', (status) => {
      status.classList.toggle('bad', isBad)
      status.textContent = text
    })
  say(said)
  within('.lead', (lead) => {
    lead.textContent = location.host
  })
  within<HTMLInputElement>('#token', (token) => {
    token.focus()
    within('form', (form) =>
      form.addEventListener('submit', async (event) => {
        event.preventDefault()
        within<HTMLButtonElement>('form button', (button) => {
          button.disabled = true
        })
        say('Signing in …')
        try {
          await signIn(token.value.trim())
          showFrame()
        } catch (error) {
          say(`✖ ${reasonOf(error)}`, true)
          within<HTMLButtonElement>('form button', (button) => {
            button.disabled = false
          })
          token.select()
        }
      }),
    )
  })
}

const askToSignIn = (said: string): void => {
  forgetSession()
  showSignIn(said)
}

/** The search stands large where a page has room for it. */
const placeSearch = (main: HTMLElement): void => {
  const [box, mini] = [document.querySelector('.search') ?? searchBox, document.querySelector('.mini')]
  const place = main.querySelector('[data-search]') ?? mini
  if (box !== undefined && box.parentElement !== place) place?.append(box)
}
let searchBox: HTMLElement | undefined

/** Marks the link of the page, which is seen where the navigation is wider than the screen. */
const markCurrent = (link: Element): void => {
  link.setAttribute('aria-current', 'page')
  const nav = link.closest('nav')
  if (nav !== null)
    nav.scrollLeft += link.getBoundingClientRect().left - nav.getBoundingClientRect().left - 16
}

/** How far down the reader left each address, for the back button. */
const tops = new Map<string, number>()
let shownAddress = ''

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
  tops.set(shownAddress, scrollY)
  shownAddress = address
  // An entry of the history that was seen before is come back to.
  const top = (history.state === null ? undefined : tops.get(address)) ?? 0
  history.replaceState('seen', '')
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
  const within = showTemplate('frame')
  within('.out', (out) =>
    out.addEventListener('click', async () => {
      const ended = signOut()
      showSignIn('Signed out.')
      await ended.catch(() =>
        showSignIn('Signed out here. The server could not be reached: its session ends by itself.'),
      )
    }),
  )
  within('.search', (box) => {
    searchBox = box
    leaveSearch = startSearch(box, askToSignIn)
  })
  // The address behind `#` names the page.
  within('.skip', (skip) =>
    skip.addEventListener('click', (event) => {
      event.preventDefault()
      within('main', (main) => main.focus())
    }),
  )
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
