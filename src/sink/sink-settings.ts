/** What a database is loaded with: the options of its sink, else what the caller provides with the run. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SinkContext } from '../core/sink.ts'
import { temporaryName } from '../support/process-identity.ts'

export interface SinkSettings extends SinkContext {
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
})
