/**
 * The token in what the service says. A service that echoes it, by mistake or in its cursors, must not bring it into
 * files and messages: callers of this room never get it.
 */

import { ToolkitError } from '../../core/errors.ts'

/** Stands for the token in a cursor. No cursor of a service holds it: `readPagination` refuses that. */
export const STAND_IN = '\0'

/** A cursor as it may be stored. */
export const withoutToken = (cursor: string, token: string): string => cursor.replaceAll(token, STAND_IN)

/** The cursor as the service gave it; one of another token is refused there, and its window begins again. */
export const withToken = (cursor: string, token: string): string => cursor.replaceAll(STAND_IN, () => token)

/** Shorter tokens stand in data by chance; real ones have 20 characters and more. */
const LEAST_LENGTH = 16

/** Whether a text or body holds the token, other than by chance. */
export const holdsToken = (said: string | Buffer, token: string): boolean =>
  token.length >= LEAST_LENGTH && said.includes(token)

export const repeatsToken = (action: string): ToolkitError =>
  new ToolkitError('ANSWER_INVALID', `${action}: the answer repeats the token, nothing of it is kept`, {
    kind: 'token',
  })

/** The error without the token: hosts of redirects, names of the service's making. Its cause may hold it too. */
export const errorWithoutToken = (error: unknown, token: string): unknown => {
  if (!(error instanceof ToolkitError) || token.length < LEAST_LENGTH) return error
  // A host comes in lower case.
  const form = new RegExp(token.replaceAll(/\W/g, '\\$&'), 'gi')
  const hide = (text: string): string => text.replaceAll(form, '…')
  const context = Object.entries(error.context).map(
    ([name, value]) => [name, typeof value === 'string' ? hide(value) : value] as const,
  )
  const message = hide(error.message)
  const isSame = message === error.message && context.every(([name, value]) => value === error.context[name])
  return isSame ? error : new ToolkitError(error.code, message, Object.fromEntries(context))
}
