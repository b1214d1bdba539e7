/**
 * Bearer tokens: where they come from, what they may hold, and how a token that the service echoes is kept out of
 * files and messages.
 */

import { readReason, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'

/** `b64token` of RFC 6750: what may stand behind `Bearer`. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/** @throws {ToolkitError} TOKEN_INVALID */
export const checkToken = (token: string, where: string): string => {
  if (TOKEN.test(token)) return token
  throw new ToolkitError(
    'TOKEN_INVALID',
    `Cannot use the token of ${where}: it holds a character that no bearer token may (RFC 6750), ` +
      'expected letters, digits and -._~+/ with = at the end',
  )
}

/** The file takes precedence over the environment: it is the more deliberate of the two. */
export interface TokenPlaces {
  /** Value of FIRMLAKE_TOKEN. */
  readonly env?: string | undefined
  /** Path given with --token-file. */
  readonly file?: string | undefined
}

/**
 * Reads the token from a file (white space around it is dropped) or from the environment.
 *
 * @throws {ToolkitError} TOKEN_MISSING, TOKEN_INVALID, TEXT_NOT_UTF8
 */
export const readToken = async ({ env, file }: TokenPlaces): Promise<string> => {
  if (file !== undefined) {
    const text = await readUserText(file).catch((error: unknown) => {
      if (error instanceof ToolkitError) throw error
      const text = `Cannot read the token file "${file}": ${readReason(error)}`
      throw new ToolkitError('TOKEN_MISSING', text, {}, error)
    })
    if (text.trim() === '') {
      throw new ToolkitError('TOKEN_MISSING', `Cannot use the token file "${file}": it is empty`)
    }
    return checkToken(text.trim(), `file "${file}"`)
  }
  if (env === undefined || env === '') {
    throw new ToolkitError(
      'TOKEN_MISSING',
      'Cannot call the service: no token, set FIRMLAKE_TOKEN or give --token-file',
    )
  }
  return checkToken(env, 'FIRMLAKE_TOKEN')
}

/** Stands for the token in a cursor. No cursor of a service holds it: `readPagination` refuses that. */
export const STAND_IN = '\0'

/** A cursor as it may be stored. */
export const withoutToken = (cursor: string, token: string): string => cursor.replaceAll(token, STAND_IN)

/** The cursor as the service gave it; one of another token is refused there, and its window begins again. */
export const withToken = (cursor: string, token: string): string => cursor.replaceAll(STAND_IN, () => token)

/** Shorter tokens stand in data by chance; real ones have 20 characters and more. */
const MIN_LENGTH = 16

/** Whether a text or body holds the token, other than by chance. */
export const holdsToken = (said: string | Buffer, token: string): boolean =>
  token.length >= MIN_LENGTH && said.includes(token)

export const repeatsToken = (action: string): ToolkitError =>
  new ToolkitError('ANSWER_INVALID', `${action}: the answer repeats the token, nothing of it is kept`, {
    kind: 'token',
  })

/** A text of the service's making without the token. */
export const textWithoutToken = (text: string, token: string): string =>
  // A host comes in lower case.
  token.length < MIN_LENGTH ? text : text.replaceAll(new RegExp(token.replaceAll(/\W/g, '\\$&'), 'gi'), '…')

/** The error without the token: hosts of redirects, names of the service's making. Its cause may hold it too. */
export const errorWithoutToken = (error: unknown, token: string): unknown => {
  if (!(error instanceof ToolkitError)) return error
  const hide = (text: string): string => textWithoutToken(text, token)
  const context = Object.entries(error.context).map(
    ([name, value]) => [name, typeof value === 'string' ? hide(value) : value] as const,
  )
  const message = hide(error.message)
  const isSame = message === error.message && context.every(([name, value]) => value === error.context[name])
  return isSame ? error : new ToolkitError(error.code, message, Object.fromEntries(context))
}
