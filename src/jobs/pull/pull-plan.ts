/** The plan of a pull, and what it reports while it works. */

import type { ClosingPlan } from './plan-closing.ts'
import type { WindowPlan } from './plan-windows.ts'
import type { Since } from './since-last.ts'
import type { Checkpoint } from './window-file.ts'

/** A plan as it was made for one run. */
export interface PullPlan extends WindowPlan {
  /** When the service was asked first, by its own clock; ISO 8601 in UTC. */
  readonly asOf: string
  /** Where the first day came from, when it was not given. */
  readonly since?: Since
  /** Records of the search without the date that "since last" goes by; absent where there are none. */
  readonly undated?: number
  /** How what no window covers is found; absent where nothing is missing, or nothing is to be done about it. */
  readonly closing?: ClosingPlan
}

export type PullEvent =
  | { readonly kind: 'planned'; readonly plan: PullPlan; readonly resumed: boolean }
  /** A page more is on the disk. */
  | { readonly kind: 'page'; readonly window: string; readonly checkpoint: Checkpoint }
  | { readonly kind: 'pulled'; readonly window: string; readonly checkpoint: Checkpoint }
  /** A page of companies was searched for those that no window covers. */
  | { readonly kind: 'listed'; readonly records: number }
  | { readonly kind: 'warning'; readonly text: string }

export interface PullingOptions {
  readonly nowMs: () => number
  /** Windows pulled side by side. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: PullEvent) => void) | undefined
}
