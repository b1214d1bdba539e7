/** Where the tokens come from: a file, one token of the environment, or a fresh one on loopback. */

import { ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import { isOpenToOthers, readTokens } from './read-tokens.ts'
import { newTokenRegistry, TOKEN_FORM, type TokenRegistry, tokenHash } from './token-registry.ts'

export interface TokensRequest {
  /** File of tokens; it takes precedence over `token`. */
  readonly file?: string | undefined
  /** The one token of FIRMLAKE_SERVE_TOKEN. */
  readonly token?: string | undefined
  /** Where the server will listen. */
  readonly host: string
  readonly random: RandomBytes
}

export interface ChosenTokens {
  readonly registry: TokenRegistry
  /** A token made just now: it must be shown once. */
  readonly fresh?: string
  readonly warning?: string
}

const FRESH_BYTES = 32

/** One token that may see everything. */
const soleToken = (name: string, token: string): TokenRegistry =>
  newTokenRegistry([{ caller: { name, rights: 'everything' }, sha256: tokenHash(token) }])

/**
 * @throws {ToolkitError} TOKENS_UNREADABLE; TOKEN_INVALID when the token holds other characters than a bearer
 *   token may; USAGE when there is none and others could reach the server
 */
export const chooseTokens = async ({ file, token, host, random }: TokensRequest): Promise<ChosenTokens> => {
  if (file !== undefined) {
    const registry = newTokenRegistry(await readTokens(file))
    if (!(await isOpenToOthers(file))) return { registry }
    return { registry, warning: `Others on this machine may read "${file}": chmod 600 closes it` }
  }
  if (token !== undefined && token !== '') {
    if (TOKEN_FORM.test(token)) return { registry: soleToken('FIRMLAKE_SERVE_TOKEN', token) }
    throw new ToolkitError(
      'TOKEN_INVALID',
      'Cannot use the token of FIRMLAKE_SERVE_TOKEN: it holds other characters than A-Z a-z 0-9 -._~+/',
    )
  }
  if (!isLoopback(host))
    throw new ToolkitError(
      'USAGE',
      `Cannot serve at --host "${host}" without tokens: expected --tokens FILE or FIRMLAKE_SERVE_TOKEN`,
    )
  const fresh = Buffer.from(random(FRESH_BYTES)).toString('base64url')
  return { registry: soleToken('fresh', fresh), fresh }
}
