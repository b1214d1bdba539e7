/**
 * A database as a target is one object of this in `targets.ts`, which loads its sink; and the settings its
 * sink works with.
 */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OptionalPartName } from '../core/optional-parts.ts'
import type { DeliverySink, SinkContext } from '../core/sink.ts'
import { temporaryName } from '../support/process-identity.ts'

export interface DatabaseTarget {
  /** How its addresses look, for messages. */
  readonly form: string
  /** End of the name of its file, for messages; absent of a server. */
  readonly suffix?: string
  /** Whether it is a file of this machine: it is loaded in this process, within the same memory. */
  readonly isFile: boolean
  /** The optional part that its packages are. @default none */
  readonly part?: OptionalPartName
  /** The database's place, by an address of a person; `undefined` where the address is none of its own. */
  readonly read: (address: string) => string | undefined
  /** Whether an address holds a password, and the variable that should hold it; absent where there is none. */
  readonly password?: { readonly isIn: (address: string) => boolean; readonly variable: string }
  readonly load: () => Promise<DatabaseSink>
}

/** The sink of a database, by the address or path that was read. */
export interface DatabaseSink {
  readonly sink: (at: string) => DeliverySink
  /**
   * Looks at what an address says, and asks no server; absent of a file.
   *
   * @throws {ToolkitError} `TARGET_REFUSED`
   */
  readonly check?: (at: string) => Promise<unknown>
  /**
   * Asks a server whether a delivery could begin, and changes nothing; absent of a file.
   *
   * @returns what answered, without a secret
   * @throws {ToolkitError} as a delivery would
   */
  readonly probe?: (at: string, limitMs: number) => Promise<string>
}

interface SinkSettings extends SinkContext {
  readonly staging: string
}

/** Without a folder from either the rows wait in a new one for temporary files. */
export const sinkSettings = (own: SinkContext, lent: SinkContext = {}): SinkSettings => ({
  staging: own.staging ?? lent.staging ?? join(tmpdir(), temporaryName()),
  memoryBytes: own.memoryBytes ?? lent.memoryBytes,
  signal: own.signal ?? lent.signal,
  what: own.what ?? lent.what,
  taken: own.taken ?? lent.taken,
  layer: own.layer ?? lent.layer,
  anew: lent.anew,
})
