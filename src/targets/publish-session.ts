/** The session of publishing: DuckDB with the memory that it may use, and a folder that is removed after the work. */

import { rm } from 'node:fs/promises'
import { queryMemory } from '../core/memory-shares.ts'
import { Engine } from '../lake/duckdb/engine.ts'
import { interruptOn } from '../lake/duckdb/stoppable.ts'
import { defaultLocalBytes } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { listManifest } from '../manifest/snapshots/snapshots.ts'
import type { PublishOptions } from '../options/interfaces.ts'
import type { PublishContext } from '../publish/publication.ts'
import { SupersededRows } from '../publish/superseded-rows.ts'
import { makeFolder } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'

/** Options of `publish` that its session needs, or another's that publishes. */
export type PublishSessionOptions = Pick<
  PublishOptions,
  'lake' | 'memoryBytes' | 'localBytes' | 'threads' | 'signal' | 'now'
>

/** Works with DuckDB, stopped by the signal. While the folder is there, its name says that somebody publishes. */
export const withPublishContext = async <T>(
  {
    lake,
    memoryBytes,
    localBytes = defaultLocalBytes(lake),
    threads,
    signal,
    now = () => new Date(),
  }: PublishSessionOptions,
  use: (context: PublishContext) => Promise<T>,
): Promise<T> => {
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  try {
    await makeFolder(scratch, { within: inLake(lake, '') })
    const engine = await Engine.open({
      memoryBytes: queryMemory(memoryBytes),
      ...(threads !== undefined && { threads }),
      spillFolder: scratch,
    })
    const session = await engine.connect()
    const useEnded = interruptOn(session, signal)
    try {
      const { oldest } = await listManifest(lake)
      const work = { lake, session, scratch, localBytes, signal }
      return await use({ ...work, oldest, superseded: new SupersededRows(work), now })
    } finally {
      useEnded()
      session.close()
      engine.close()
    }
  } finally {
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined)
  }
}
