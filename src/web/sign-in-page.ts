/** The page before all others: it asks for a token, and says where that comes from. */

import { signIn } from './api.ts'
import { brandMark } from './brand.ts'
import { h } from './dom.ts'

/** @param said why it is shown, such as that a session has ended @param onSignedIn called with a session */
export const showSignIn = (said: string, onSignedIn: () => Promise<void>): void => {
  document.title = 'Sign in – firmlake'
  const token = h('input', {
    ...{ type: 'password', id: 'token', autocomplete: 'off', spellcheck: 'false', required: true },
    'aria-describedby': 'token-hint',
  })
  const status = h('p', { class: 'said', role: 'status' }, said)
  const button = h('button', { class: 'btn main', type: 'submit' }, 'Sign in')
  const code = (text: string): HTMLElement => h('code', {}, text)
  const form = h(
    'form',
    {},
    h('label', { for: 'token' }, 'Token'),
    token,
    h(
      'p',
      { class: 'hint', id: 'token-hint' },
      'It comes from the operator of this server: an entry of the file of ',
      code('--tokens'),
      ', ',
      code('FIRMLAKE_SERVE_TOKEN'),
      ', or the one that ',
      code('firmlake serve'),
      ' showed at its start.',
    ),
    button,
    status,
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    status.className = 'said'
    status.textContent = 'Signing in …'
    try {
      await signIn(token.value.trim())
      await onSignedIn()
    } catch (error) {
      status.className = 'said bad'
      status.textContent = `✖ ${error instanceof Error ? error.message : String(error)}`
      button.disabled = false
      token.select()
    }
  })
  const page = h(
    'div',
    {},
    h('span', { class: 'brand' }, brandMark(), 'firmlake'),
    h('h1', {}, 'Sign in to this lake'),
    h('p', { class: 'lead' }, location.host),
    form,
    h('hr', {}),
    h(
      'p',
      { class: 'hint' },
      'The token is exchanged for a session of this tab, which survives a reload and ends when you sign out, when it is not used for an hour, or after twelve hours. The token itself is stored nowhere.',
    ),
  )
  document.body.replaceChildren(h('main', { class: 'solo' }, page))
  token.focus()
}
