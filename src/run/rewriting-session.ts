/** DuckDB for work that writes files of a lake anew: rows in their order, memory bounded, stopped by a signal. */

import { Engine, type Session } from '../lake/duckdb/engine.ts'
import { interruptOn } from '../lake/duckdb/stoppable.ts'
import { keepOrder } from '../lake/tables/sort-rows.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import { discard } from '../support/durable-files.ts'
import { compactMemory, DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from './memory-shares.ts'

export interface RewritingOptions {
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** @param spill folder of this machine for what DuckDB puts aside, which is removed at the end */
export const withRewritingSession = async <T>(
  { memoryBytes = DEFAULT_MEMORY_BYTES, threads = DEFAULT_THREADS, signal }: RewritingOptions,
  spill: string,
  use: (session: Session, engine: Engine) => Promise<T>,
): Promise<T> => {
  const engine = await Engine.open({
    memoryBytes: compactMemory(memoryBytes, threads),
    threads,
    spillFolder: spill,
  })
  try {
    const session = await engine.connect()
    const useEnded = interruptOn(session, signal)
    try {
      await keepOrder(session)
      await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
      return await use(session, engine)
    } finally {
      useEnded()
    }
  } finally {
    engine.close()
    await discard(spill)
  }
}
