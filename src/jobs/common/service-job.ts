/** What the jobs that ask the service share. */

import { parseMaxGone, type QuarantineLimit } from '../../commit/quarantine-limit.ts'
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
