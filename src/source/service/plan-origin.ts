/** Where a run's plan may send the token of whoever works on it. */

import { ToolkitError } from '../../core/errors.ts'

/** Scheme, host and port, which is what a token is for; `undefined` where the text is no address. */
const originOf = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  return host === '' ? undefined : `${protocol}//${host}`
}

/**
 * Refuses an address of a plan that is not of the origin which the token's owner names. A plan lies in the lake, where others
 * may write.
 *
 * @param own the owner's setting: `--url`, `FIRMLAKE_URL` or `url` of `firmlake.toml`
 * @param planned the address in the plan
 * @throws {ToolkitError} `USAGE` where the owner names none; `PLAN_ORIGIN`
 */
export const checkPlanOrigin = (own: string | undefined, planned: string): void => {
  const origin = originOf(planned)
  if (origin === undefined)
    throw new ToolkitError(
      'PLAN_ORIGIN',
      'Cannot call the service: the plan of the run has no address of one',
    )
  if (own === undefined || own === '')
    throw new ToolkitError(
      'USAGE',
      `Cannot call "${origin}", for which the run was planned: the token may go only where you say, set FIRMLAKE_URL or give --url`,
    )
  const ownOrigin = originOf(own)
  if (ownOrigin === undefined)
    throw new ToolkitError('USAGE', 'Cannot read the address of the service: expected https://host')
  if (ownOrigin !== origin)
    throw new ToolkitError(
      'PLAN_ORIGIN',
      `Cannot call "${origin}", for which the run was planned: the token is for "${ownOrigin}"; ` +
        'give --url where that is right, else cancel the run and plan it anew',
    )
}
