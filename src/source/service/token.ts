/** Bearer tokens: where they come from and what they may hold. */

import { ToolkitError } from '../../core/errors.ts'
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
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
      throw new ToolkitError('TOKEN_MISSING', `Cannot read the token file "${file}": ${reason}`, {}, error)
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
