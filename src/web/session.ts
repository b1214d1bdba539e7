/**
 * Requests in the name of a session. The token is exchanged for a session of this tab: only that is kept, in the tab's session
 * storage, so that a page that is loaded again need not ask for the token.
 */

/** Why there is no answer, in words for the reader. */
export class AskFailure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const WORDS: Readonly<Record<number, string>> = {
  401: 'The session has ended. Sign in again.',
  403: 'This is about the whole lake: it needs a token that may see everything.',
  429: 'Too many requests for this token: wait a moment and try again.',
  501: 'The server has too little memory for the explorer: it needs a larger --memory.',
  503: 'This took too long. Try again, or ask the lake with “firmlake query”.',
}
const NOT_ACCEPTED = 'Not a token of this server. Check that it was copied whole.'

const KEY = 'firmlake-session'

/** Kept here too: a browser may refuse to store anything. */
let session = ''
const stored = <T>(work: (storage: Storage) => T): T | undefined => {
  try {
    return work(sessionStorage)
  } catch {
    return undefined
  }
}

const keep = (text: string): void => {
  session = text
  stored((storage) => (text === '' ? storage.removeItem(KEY) : storage.setItem(KEY, text)))
}

/** Whether the tab has a session, which may have ended meanwhile. */
export const hasSession = (): boolean => {
  if (session === '') session = stored((storage) => storage.getItem(KEY)) ?? ''
  return session !== ''
}

/** Leaves nothing of a session that the server has ended. */
export const forgetSession = (): void => keep('')

const SESSION_ADDRESS = 'explorer/api/session'

const send = async (
  address: string,
  method: string,
  bearer: string,
  more: Pick<RequestInit, 'body' | 'signal'>,
): Promise<Response> => {
  try {
    return await fetch(address, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...{ cache: 'no-store', credentials: 'omit', redirect: 'error', ...more },
    })
  } catch (error) {
    if (more.signal?.aborted) throw error
    throw new AskFailure(0, 'The server cannot be reached. Check the network, then try again.')
  }
}

const failureOf = (status: number): AskFailure =>
  new AskFailure(status, WORDS[status] ?? `The server answers ${status}.`)

/** Exchanges a token for a session. @throws {AskFailure} */
export const signIn = async (token: string): Promise<void> => {
  const response = await send(SESSION_ADDRESS, 'POST', token, { body: '{}' })
  if (response.status === 401) throw new AskFailure(401, NOT_ACCEPTED)
  if (!response.ok) throw failureOf(response.status)
  const answer: unknown = await response.json()
  if (typeof answer === 'object' && answer !== null && 'session' in answer) keep(String(answer.session))
}

/** Ends the session, at the server too. @throws {AskFailure} where the server cannot be reached */
export const signOut = async (): Promise<void> => {
  const ended = session
  forgetSession()
  const { ok, status } = await send(SESSION_ADDRESS, 'DELETE', ended, {})
  // A session that has ended before is ended.
  if (!ok && status !== 401) throw failureOf(status)
}

/** The answer to a request in the session's name. @param body JSON @throws {AskFailure} */
export const asked = async (address: string, body: string, signal: AbortSignal): Promise<Response> => {
  const response = await send(address, 'POST', session, { body, signal })
  if (response.ok) return response
  throw failureOf(response.status)
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
