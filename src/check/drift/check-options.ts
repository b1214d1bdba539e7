/** How strictly records are checked. */

import type { UnknownLimits } from './drift-log.ts'

/** Nesting allowed by default: a `History` 40 deep is 85 levels of JSON. */
export const DEFAULT_MAX_DEPTH = 256

export interface CheckOptions extends UnknownLimits {
  /** Deepest nesting of a record in JSON levels. @default 256 */
  readonly maxDepth?: number | undefined
  /** Stamps of records that are later are no dates, in milliseconds since 1970. @default none */
  readonly stampsUntil?: number | undefined
  /** Leaves the quick way through figures out, to compare it with the careful one. @default false */
  readonly isCareful?: boolean | undefined
}
