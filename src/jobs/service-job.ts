/** What the jobs that ask the service share. */

import type { Service } from '../source/service/service.ts'
import type { LoadOptions } from './load-job.ts'

export interface ServiceJobOptions<Done> extends LoadOptions<Done> {
  /** The service; the caller may close it afterwards. */
  readonly from: Service
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
}

export const DEFAULT_CONCURRENCY = 4
