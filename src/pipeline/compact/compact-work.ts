/** What a compaction and its dry run share: what is requested and reported, an engine, what is superseded. */

import type { FileEntry, Snapshot } from '../../core/partition.ts'
import { Engine, type Session } from '../../lake/duckdb/engine.ts'
import { interruptOn } from '../../lake/duckdb/stoppable.ts'
import { HIDDEN_SCHEMA, makeSuperseded } from '../../lake/lake/current-versions.ts'
import { diskError, keepOrder } from '../../lake/lake/sort-rows.ts'
import { mainTables } from '../../lake/tables/tables.ts'
import { discard } from '../../support/durable-files.ts'
import { compactMemory, DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../run/memory-shares.ts'
import type { CompactContent } from './plan-compaction.ts'
import { type CompactEvent, watchStatement } from './watch-statement.ts'

export interface CompactionOptions {
  readonly lake: string
  /** Size of a file, in bytes. @default 256 MiB */
  readonly targetBytes?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: CompactEvent) => void) | undefined
  /** Changes nothing and reports what would be done. @default false */
  readonly dryRun?: boolean | undefined
}

/** A table before and after. */
export interface CompactedTable {
  readonly table: string
  readonly before: { readonly files: number; readonly rows: number; readonly bytes: number }
  readonly after: { readonly files: number; readonly rows: number; readonly bytes: number }
}

/** `nothing`: the lake is compact already. `planned`: what would be done; bytes and files of it are an estimate. */
export type CompactSummary =
  | { readonly kind: 'nothing'; readonly snapshot: number | null }
  | {
      readonly kind: 'compacted' | 'planned'
      /** The snapshot that was made; of a plan the one it is about. */
      readonly snapshot: number
      /** Partitions that were merged. */
      readonly partitions: number
      readonly tables: readonly CompactedTable[]
      /** Why the views in `lake.duckdb` were not written; absent where they were, or the lake is in a bucket. */
      readonly noViews?: string
    }

/** Files, rows and bytes in all. */
export const sizesOf = (files: readonly Pick<FileEntry, 'rows' | 'bytes'>[]): CompactedTable['before'] => ({
  files: files.length,
  rows: files.reduce((sum, { rows }) => sum + rows, 0),
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})

/** Everything that one compaction works with. */
export interface Work {
  readonly session: Session
  readonly snapshot: Snapshot
  readonly lake: string
  readonly targetBytes: number
  readonly signal: AbortSignal | undefined
  readonly report: (event: CompactEvent) => void
}

/** An engine for one compaction, stopped by the signal. */
export const withSession = async <T>(
  options: CompactionOptions,
  spill: string,
  use: (session: Session) => Promise<T>,
): Promise<T> => {
  const { memoryBytes = DEFAULT_MEMORY_BYTES, threads = DEFAULT_THREADS, signal } = options
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
      return await use(session)
    } finally {
      useEnded()
    }
  } finally {
    engine.close()
    await discard(spill)
  }
}

/** Makes the table of what is superseded; without a record there is nothing to make it of. */
export const findSuperseded = async (work: Work, { content, files }: CompactContent): Promise<boolean> => {
  const { session, snapshot, lake, report } = work
  const main = mainTables().find((table) => table.content === content)
  const rows = files.filter(({ table }) => table === content).reduce((sum, one) => sum + one.rows, 0)
  if (main === undefined || rows === 0) return false
  const onShare = (share: number): void =>
    report({ kind: 'progress', phase: 'finding', table: content, rows: Math.round(share * rows), of: rows })
  await watchStatement(session, onShare, async () => {
    try {
      await session.run(makeSuperseded(snapshot, lake, main))
    } catch (error) {
      throw diskError(`Cannot find what is superseded in "${content}"`, error)
    }
  })
  return true
}
