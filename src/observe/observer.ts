/** Who watches the runs of a process from outside: each is asked for by variables of the environment, and else not loaded. */

import type { StageListener } from '../core/stages.ts'

/** Variables by name, such as `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface Observer {
  readonly listener: StageListener
  /** Sends what is left. Need not end: whoever waits has a limit. */
  readonly close: () => Promise<void>
}

export interface ObserverOptions {
  readonly env: Variables
  /** Hears in one line why nothing is sent. */
  readonly warn: (text: string) => void
}
