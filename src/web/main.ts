/** The explorer's page: sign-in, navigation, and the page that the address names behind its `#`. */

import { answerRows, ask, signIn } from './api.ts'
import { showCompany } from './company-page.ts'
import { h } from './dom.ts'
import { showOverview } from './overview-page.ts'
import type { ShownPage } from './page.ts'
import { REPORT_PAGES, showReportPage } from './report-page.ts'
import { searchBox } from './search-box.ts'

/** Ids of the sections that the token may see; `undefined` while nobody is signed in. */
let open: ReadonlySet<string> | undefined
let shown = new AbortController()

const signedOut = (reason: string): void => {
  open = undefined
  signIn('')
  showSignIn(reason)
}

/** `#/coverage/NetSales` as its parts; none where it is not written as an address is. */
const hashParts = (): readonly string[] => {
  try {
    return location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent)
  } catch {
    return []
  }
}

const show = async (): Promise<void> => {
  shown.abort()
  if (open === undefined) return showSignIn('')
  shown = new AbortController()
  const main = document.querySelector('main')
  if (main === null) return
  main.replaceChildren()
  const page: ShownPage = { main, signal: shown.signal, onSignedOut: signedOut }
  const [name = '', argument = ''] = hashParts()
  for (const link of document.querySelectorAll('nav a'))
    if (link.getAttribute('href') === `#/${name}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  const reportPage = REPORT_PAGES.find(({ id }) => id === name)
  if (reportPage !== undefined) return showReportPage(page, reportPage, open, argument || 'NetSales')
  if (name === 'company' && /^\d{1,15}$/.test(argument)) return showCompany(page, Number(argument))
  return showOverview(page, open.has('durations'))
}

const showPages = (): void => {
  const links = [{ id: '', title: 'Overview' }, ...REPORT_PAGES].map(({ id, title }) =>
    h('li', {}, h('a', { href: `#/${id}` }, title)),
  )
  const out = h('button', { type: 'button' }, 'Sign out')
  out.addEventListener('click', () => signedOut('Signed out.'))
  document.body.replaceChildren(
    h('header', {}, h('nav', { 'aria-label': 'Pages' }, h('ul', {}, ...links), out), searchBox(signedOut)),
    h('main', {}),
  )
  void show()
}

const showSignIn = (said: string): void => {
  document.title = 'Sign in – firmlake'
  const token = h('input', { type: 'password', id: 'token', autocomplete: 'off', required: true })
  const status = h('p', { role: 'status' }, said)
  const form = h(
    'form',
    {},
    h('p', {}, h('label', { for: 'token' }, 'Token of this server '), token),
    h('p', {}, h('button', { type: 'submit' }, 'Sign in')),
    status,
    h(
      'p',
      { class: 'soft' },
      'The token stays in the memory of this page: it is stored nowhere, and asked for again when the page is loaded again.',
    ),
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    signIn(token.value.trim())
    status.textContent = 'Signing in …'
    try {
      const answer = await ask('sections', {}, AbortSignal.timeout(60_000))
      open = new Set(answerRows(answer).flatMap((row) => (row.is_open === true ? [String(row.id)] : [])))
      showPages()
    } catch (error) {
      signIn('')
      status.textContent = error instanceof Error ? error.message : String(error)
      token.focus()
    }
  })
  document.body.replaceChildren(h('main', { class: 'sign-in' }, h('h1', {}, 'firmlake explorer'), form))
  token.focus()
}

addEventListener('hashchange', () => void show())
showSignIn('')
