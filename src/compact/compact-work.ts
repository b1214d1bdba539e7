/**
 * Shared by a compaction and its dry run: requests, reports and progress, an engine, what is
 * superseded.
 */

import { ToolkitError } from '../core/errors.ts'
import { compactMemory } from '../core/memory-shares.ts'
import type { FileEntry, Snapshot } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { defaultLocalBytes } from '../lake/files/fetch-tables.ts'
import type { COMPACT } from '../options/compact.ts'
import type { Read } from '../options/entry.ts'
import type { CompactOptions } from '../options/interfaces.ts'
import { filesOfThisWork } from '../storage/check-files.ts'
import type { FetchOptions, KnownFiles } from '../storage/storage.ts'
import type { SortMemory } from './plan-compaction.ts'

/** The options of a compaction, read. */
export type Compaction = Read<CompactOptions, typeof COMPACT>

/** A table before and after. */
export interface CompactedTable {
  readonly table: string
  readonly before: { readonly files: number; readonly rows: number; readonly bytes: number }
  readonly after: { readonly files: number; readonly rows: number; readonly bytes: number }
}

interface ViewsWritten {
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
}

/** `nothing`: the lake is compact already. `planned`: what would be done; bytes and files of it are an estimate. */
export type CompactSummary =
  | ({ readonly kind: 'nothing'; readonly snapshot: number | null } & ViewsWritten)
  | ({
      readonly kind: 'compacted' | 'planned'
      /** The snapshot that was made; of a plan the one it is about. */
      readonly snapshot: number
      /** Partitions that were merged. */
      readonly partitions: number
      readonly tables: readonly CompactedTable[]
      /** Since when no past row is missing, ISO 8601 in UTC; absent where all are there, and of a plan. */
      readonly pastSince?: string
    } & ViewsWritten)

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
  readonly run: string
  /** Folder of this machine for what is sorted. */
  readonly spill: string
  /** Folder of this machine for copies of files, which is made and removed. */
  readonly copies: string
  readonly targetBytes: number
  /** The most bytes of files that are on this machine's disk at once. */
  readonly pieceBytes: number
  readonly memory: SortMemory
  /** Files that were hashed already. */
  readonly known: KnownFiles
  /** Begins to report how far the next fetch is. */
  readonly onFetched: () => FetchOptions['onProgress']
  readonly signal: AbortSignal | undefined
  readonly report: (event: CompactEvent) => void
}

/**
 * Disk space for one byte of a file while its rows are sorted: the copy, what is sorted (2.1 of figures), and what
 * DuckDB puts aside meanwhile (5.3 where it has 300 MiB of memory for 130 MB).
 */
const ROOM_A_BYTE = 9

/** DuckDB's database file grows by blocks of 256 KiB, and has some more while it is checkpointed. */
const DATABASE_BYTES = 2 * 256 * 1024

const pieceBytesOf = (localBytes: number, targetBytes: number): number => {
  // The written rows, and the rest that was too little for a file.
  const fixedBytes = 2 * targetBytes + DATABASE_BYTES
  const pieceBytes = Math.floor((localBytes - fixedBytes) / ROOM_A_BYTE)
  if (pieceBytes > 0) return pieceBytes
  throw new ToolkitError(
    'USAGE',
    `Cannot compact to files of ${targetBytes} bytes in ${localBytes} bytes of the local disk: expected more than ` +
      `${fixedBytes} bytes (--local-bytes), or smaller files (--target-bytes)`,
  )
}

/** @throws {ToolkitError} `USAGE` when the local disk or the memory that may be used is too small */
export const workOf = (
  options: Compaction,
  session: Session,
  snapshot: Snapshot,
  places: Pick<Work, 'run' | 'spill' | 'copies'>,
): Work => {
  const { lake, targetBytes, memoryBytes, threads, localBytes = defaultLocalBytes(lake), signal } = options
  const report = options.onEvent ?? (() => undefined)
  const inputs = [...snapshot.partitions.flatMap(({ files }) => files), ...snapshot.files]
  return {
    ...{ ...places, session, snapshot, lake, targetBytes, signal, report },
    pieceBytes: pieceBytesOf(localBytes, targetBytes),
    memory: { engineBytes: compactMemory(memoryBytes, threads), threads },
    known: filesOfThisWork(),
    onFetched: fetchProgress(sizesOf(inputs).bytes, report),
  }
}

/** Adds up the fetches of a compaction, of which some files are fetched more than once. */
const fetchProgress = (of: number, report: Work['report']): Work['onFetched'] => {
  let [done, current] = [0, 0]
  return () => {
    done += current
    current = 0
    return ({ bytes }) => {
      current = bytes
      report({ kind: 'progress', phase: 'checking', bytes: Math.min(done + bytes, of), of })
    }
  }
}

export type CompactEvent =
  | { readonly kind: 'started'; readonly run: string }
  | CompactProgress
  | { readonly kind: 'committing'; readonly partitions: number }

/** How far a phase is: bytes of files that were checked, or rows of a table. */
export type CompactProgress =
  | {
      readonly kind: 'progress'
      readonly phase: 'checking'
      readonly bytes: number
      readonly of: number
    }
  | {
      readonly kind: 'progress'
      readonly phase: 'finding' | 'cutting' | 'sorting' | 'writing'
      readonly table: string
      readonly rows: number
      readonly of: number
    }

const EVERY_MS = 250

/** Polls the progress of a session's statement while one runs. @param onShare share of it, 0 to 1 */
export const watchStatement = async <T>(
  session: Session,
  onShare: (share: number) => void,
  run: () => Promise<T>,
): Promise<T> => {
  const timer = setInterval(() => onShare(session.progress()), EVERY_MS)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}

/** The same of a sort in ranges. @param sort calls back after each range */
export const watchSort = <T>(
  session: Session,
  { length }: readonly string[],
  onShare: (share: number) => void,
  sort: (onRange: () => void) => Promise<T>,
): Promise<T> => {
  let [sorted, most] = [0, 0]
  const onRange = (): void => {
    sorted += 1
  }
  return watchStatement(
    session,
    (share) => {
      // DuckDB lowers it where a part of a statement turns out to be larger.
      most = Math.max(most, Math.min(1, (sorted + share) / length))
      onShare(most)
    },
    () => sort(onRange),
  )
}
