/**
 * What the jobs that ask the service share: options, and the error of a sync that did not get all companies that it
 * found.
 */

import { parseMaxGone, type QuarantineLimit } from '../../commit/quarantine-limit.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { NotDelivered } from '../../run/opened-job.ts'
import type { Service } from '../../source/service/service.ts'
import type { LoadOptions } from './load-job.ts'

export interface MaxGoneOption {
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that the lake has of
   * it, such as `'5%'`. Of more it marks none, and says so. @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
}

/** @throws {ToolkitError} USAGE */
export const maxGoneOf = ({ maxGone }: MaxGoneOption): QuarantineLimit | undefined =>
  maxGone === undefined || typeof maxGone === 'object' ? maxGone : parseMaxGone(String(maxGone))

export interface ServiceJobOptions<Done> extends LoadOptions<Done>, MaxGoneOption {
  /** The service; the caller may close it afterwards. */
  readonly from: Service
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
}

export const DEFAULT_CONCURRENCY = 4

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
