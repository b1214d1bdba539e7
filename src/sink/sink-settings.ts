/** What a database is loaded with: what its sink was made with, else what whoever opens the run lends. */

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
})
