/** An engine for one step of making an index: what is current in the lake stands in its views. */

import type { Snapshot } from '../../../core/partition.ts'
import { Engine, type EngineOptions } from '../../../lake/duckdb/engine.ts'
import { interruptOn } from '../../../lake/duckdb/stoppable.ts'
import { fetchTables } from '../../../lake/files/fetch-tables.ts'
import { prepareRestore, type SessionRequest } from '../../../lake/slices/slices.ts'
import { LISTINGS, TABLES } from '../../../lake/tables/tables.ts'
import { currentRows, filesOf, readTable } from '../../../lake/views/current-versions.ts'
import { filesOfThisWork } from '../../../storage/check-files.ts'
import { CURRENT } from './search-tables.ts'

export interface Reading extends Pick<EngineOptions, 'memoryBytes' | 'spillFolder'> {
  readonly lake: string
  readonly snapshot: Snapshot
  readonly threads: number | undefined
  readonly signal: AbortSignal | undefined
}

/** Opens an engine, makes its views, and closes it when the step has ended. The signal stops its statement. */
export const readCurrent = async <T>(
  { threads, memoryBytes, spillFolder, ...what }: Reading,
  step: (engine: Engine, request: SessionRequest) => Promise<T>,
): Promise<T> => {
  const { lake, snapshot, signal } = what
  const known = filesOfThisWork()
  await fetchTables(lake, snapshot, [...Object.keys(CURRENT), LISTINGS.name], { signal, known })
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    ...(spillFolder !== undefined && { spillFolder }),
  })
  try {
    const session = await engine.connect()
    const stepEnded = interruptOn(session, signal)
    try {
      await prepareRestore({ session, lake, snapshot, known })
      for (const [name, view] of Object.entries(CURRENT)) {
        const table = TABLES.find((one) => one.name === name)
        if (table === undefined) throw new TypeError(`Cannot find the declaration of table "${name}"`)
        const rows = readTable(table, filesOf(snapshot, lake, name), 'with-version')
        await session.run(`CREATE VIEW ${view} AS ${currentRows(table, rows)}`)
      }
      return await step(engine, { ...what, known, session })
    } finally {
      stepEnded()
    }
  } finally {
    engine.close()
  }
}
