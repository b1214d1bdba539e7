/** The explorer's page: its frame, navigation, and the page that the address names behind its `#`. */

import { AskFailure, answerRows, ask, forgetSession, hasSession, signIn, signOut } from './api.ts'
import { brandMark } from './brand.ts'
import { stateOf } from './browse-state.ts'
import { showCompany } from './company-page.ts'
import { h } from './dom.ts'
import { showHome } from './home-page.ts'
import type { ShownPage } from './page.ts'
import { REPORT_PAGES, showReportPage } from './report-page.ts'
import { type SearchBox, searchBox } from './search-box.ts'
import { showSignIn } from './sign-in-page.ts'

/** Ids of the sections that the token may see; `undefined` while nobody is signed in. */
let open: ReadonlySet<string> | undefined
let shown = new AbortController()
let search: SearchBox | undefined

const askToSignIn = (said: string): void => {
  open = undefined
  shown.abort()
  forgetSession()
  showSignIn(said, begin)
}

/** `#/coverage/NetSales` as its parts, and what stands behind a `?`; no parts where it is not written as an address is. */
const addressParts = (): { readonly parts: readonly string[]; readonly query: string } => {
  const [path = '', ...query] = location.hash.replace(/^#\/?/, '').split('?')
  try {
    return { parts: path.split('/').map(decodeURIComponent), query: query.join('?') }
  } catch {
    return { parts: [], query: '' }
  }
}

const show = async (): Promise<void> => {
  shown.abort()
  shown = new AbortController()
  const main = document.querySelector('main')
  if (main === null || open === undefined || search === undefined) return
  search.leave()
  const page: ShownPage = { main, signal: shown.signal, onSignedOut: askToSignIn }
  const { parts, query } = addressParts()
  const [name = '', argument = ''] = parts
  for (const link of document.querySelectorAll('nav a'))
    if (link.getAttribute('href') === `#/${name}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  const reportPage = REPORT_PAGES.find(({ id }) => id === name)
  const company = name === 'company' && /^\d{1,19}$/.test(argument) ? argument : undefined
  if (reportPage === undefined && company === undefined)
    return showHome(page, search.box, stateOf(query), open.has('durations'))
  main.className = 'in'
  main.replaceChildren()
  document.querySelector('header .mini')?.replaceChildren(search.box)
  if (reportPage !== undefined) return showReportPage(page, reportPage, open, argument || 'NetSales')
  if (company !== undefined) return showCompany(page, company)
}

const showFrame = (): void => {
  const links = [{ id: '', title: 'Companies' }, ...REPORT_PAGES].map(({ id, title }) =>
    h('li', {}, h('a', { href: `#/${id}` }, title)),
  )
  const out = h('button', { type: 'button', class: 'btn' }, 'Sign out')
  out.addEventListener('click', async () => {
    const ended = signOut()
    askToSignIn('Signed out.')
    await ended.catch(() =>
      showSignIn('Signed out here. The server could not be reached: its session ends by itself.', begin),
    )
  })
  search = searchBox(askToSignIn)
  const skip = h('a', { class: 'skip', href: '#main' }, 'To the content')
  const main = h('main', { class: 'in', id: 'main', tabindex: -1 })
  // The address behind `#` names the page.
  skip.addEventListener('click', (event) => {
    event.preventDefault()
    main.focus()
  })
  document.body.replaceChildren(
    h(
      'header',
      { class: 'top' },
      h(
        'div',
        { class: 'in' },
        skip,
        h('a', { class: 'brand', href: '#/' }, brandMark(), 'firmlake'),
        h('nav', { 'aria-label': 'Pages' }, h('ul', {}, ...links)),
        h('span', { class: 'grow' }),
        h('div', { class: 'mini' }),
        out,
      ),
    ),
    main,
  )
  void show()
}

/** Shows the pages that the session may see. @throws {AskFailure} */
const begin = async (): Promise<void> => {
  const answer = await ask('sections', {}, AbortSignal.timeout(60_000))
  open = new Set(answerRows(answer).flatMap((row) => (row.is_open === true ? [String(row.id)] : [])))
  showFrame()
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
    if (hasSession()) await begin()
    else askToSignIn('')
  } catch (error) {
    if (error instanceof AskFailure && error.status === 401) askToSignIn(error.message)
    else showSignIn(error instanceof Error ? error.message : String(error), begin)
  }
}

addEventListener('hashchange', () => void show())
void start()
