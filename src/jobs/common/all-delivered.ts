/** A sync that found companies which the service then did not give: it is told as an error, when all else is done. */

import { ToolkitError } from '../../core/errors.ts'
import type { NotDelivered } from '../../run/opened-job.ts'

export const notDeliveredError = (missing: readonly NotDelivered[]): ToolkitError => {
  const sum = (name: keyof NotDelivered): number => missing.reduce((all, one) => all + one[name], 0)
  const [asked, came] = [sum('asked'), sum('came')]
  return new ToolkitError(
    'COMPANIES_MISSING',
    `Cannot fetch all companies that are new or changed: ${asked} are, ${came} came when asked for by their ids, expected ` +
      'all; what came is committed, and the next sync finds the others again',
    { asked, came },
  )
}

/** What jobs have reported, where all came. @throws {ToolkitError} COMPANIES_MISSING */
export const allDelivered = <Done>(
  done: Done,
  reports: readonly { readonly missing?: readonly NotDelivered[] }[],
): Done => {
  const missing = reports.flatMap((one) => one.missing ?? [])
  if (missing.length > 0) throw notDeliveredError(missing)
  return done
}
