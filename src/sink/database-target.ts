/** What a database has to do to be a target: one object of this, and one line in `targets.ts`. */

import type { DeliverySink } from '../core/sink.ts'

export interface DatabaseTarget {
  /** How its addresses look, for messages. */
  readonly form: string
  /** What the name of its file ends with, for messages; absent of a server. */
  readonly suffix?: string
  /** Where the database is, by an address of a person; `undefined` where the address is none of its own. */
  readonly read: (address: string) => string | undefined
  readonly sink: (at: string) => DeliverySink
  /** Whether it is a file of this machine: it is loaded in this process, within the same memory. */
  readonly isFile: boolean
  /**
   * Asks a server whether a delivery could begin, and changes nothing; absent of a file.
   *
   * @returns what answered, without a secret
   * @throws {ToolkitError} as a delivery would
   */
  readonly probe?: (at: string, limitMs: number) => Promise<string>
}
