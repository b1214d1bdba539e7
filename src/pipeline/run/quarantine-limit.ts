/** How many bad lines a run may have and still commit. */

import { ToolkitError } from '../../core/errors.ts'

/** A number of lines, or a share of all lines. */
export type QuarantineLimit =
  | { readonly kind: 'count'; readonly lines: number }
  | { readonly kind: 'share'; readonly share: number }

/** One in a hundred: more than stray bad lines means that the source or the contract has changed. */
export const DEFAULT_MAX_QUARANTINED = '1%'

/** Reads `25` or `0.5%`. @throws {ToolkitError} USAGE */
export const parseQuarantineLimit = (text: string): QuarantineLimit => {
  const share = /^(\d+(?:\.\d+)?)%$/.exec(text)
  if (share && Number(share[1]) <= 100) return { kind: 'share', share: Number(share[1]) / 100 }
  if (/^\d+$/.test(text)) return { kind: 'count', lines: Number(text) }
  throw new ToolkitError(
    'USAGE',
    `Cannot read --max-quarantined "${text}": expected a count such as 25 or a share such as 5%`,
  )
}

/** Whether so many quarantined lines are still allowed. */
export const withinLimit = (limit: QuarantineLimit, quarantined: number, lines: number): boolean =>
  limit.kind === 'count' ? quarantined <= limit.lines : quarantined <= limit.share * lines
