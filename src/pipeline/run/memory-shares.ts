/** How the memory that a command may use is shared between Node and DuckDB: of loading, compacting, querying, serving. */

import { ToolkitError } from '../../core/errors.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'

/** Peak memory of a run by default, in bytes: 1 GiB, so that it fits beside others on a small machine. */
export const DEFAULT_MEMORY_BYTES = 1024 ** 3

/** Partitions loaded side by side by default, each on one thread. */
export const DEFAULT_THREADS = 2

export interface MemoryShares {
  /** DuckDB's limit, in bytes. */
  readonly engineBytes: number
  /** Size of a block, in bytes. */
  readonly blockBytes: number
}

const MEBIBYTE = 1024 ** 2

/** What is not DuckDB's, in bytes: Node with its modules (130 MiB), and more by what it does beside DuckDB. */
const BESIDE_BYTES = {
  /** Freed memory that is not returned, and what DuckDB takes beyond its limit. */
  loading: 320 * MEBIBYTE,
  /** DuckDB's readers and writers, and freed memory that is not returned. */
  compacting: 400 * MEBIBYTE,
  /** Node only hands rows on. */
  querying: 160 * MEBIBYTE,
  /** The pages being sent, and what DuckDB takes beside its limit. */
  serving: 320 * MEBIBYTE,
} as const

/** Least that DuckDB works with, in bytes: to load a partition, to sort and write on a thread, for all queries. */
const LEAST_BYTES = {
  partition: 150 * MEBIBYTE,
  compactingThread: 100 * MEBIBYTE,
  querying: 96 * MEBIBYTE,
  serving: 128 * MEBIBYTE,
} as const

const mebibytes = (bytes: number): number => Math.floor(bytes / MEBIBYTE)

/**
 * Beside Node, of the blocks one stands decoded, one is being decoded, and one for each partition is being
 * loaded, with what is written of it; the rest is DuckDB's.
 *
 * @param threads partitions loaded side by side
 * @throws {ToolkitError} USAGE when so many partitions do not fit
 */
export const divideMemory = (totalBytes: number, threads = DEFAULT_THREADS): MemoryShares => {
  const blockBytes = Math.min(DECODE_LIMITS.blockBytes, Math.floor(totalBytes / 32))
  const engineBytes = totalBytes - BESIDE_BYTES.loading - (threads + 4) * blockBytes
  const leastBytes = threads * LEAST_BYTES.partition
  if (engineBytes >= leastBytes) return { engineBytes, blockBytes }
  const least = Math.ceil((BESIDE_BYTES.loading + leastBytes) / (1 - (threads + 4) / 32) / MEBIBYTE)
  throw new ToolkitError(
    'USAGE',
    `Cannot load ${threads} partitions side by side in ${mebibytes(totalBytes)} MiB: ` +
      `expected at least ${least} MiB, or fewer --threads`,
  )
}

/** DuckDB's limit in a compaction, in bytes. @throws {ToolkitError} USAGE when so many threads do not fit */
export const compactMemory = (totalBytes: number, threads: number): number => {
  const engineBytes = totalBytes - BESIDE_BYTES.compacting
  const leastBytes = threads * LEAST_BYTES.compactingThread
  if (engineBytes >= leastBytes) return engineBytes
  throw new ToolkitError(
    'USAGE',
    `Cannot compact with ${threads} threads in ${mebibytes(totalBytes)} MiB: ` +
      `expected at least ${mebibytes(BESIDE_BYTES.compacting + leastBytes)} MiB, or fewer --threads`,
  )
}

/** DuckDB's limit where Node only hands rows on, in bytes. @throws {ToolkitError} USAGE when it is too little */
export const queryMemory = (totalBytes: number = DEFAULT_MEMORY_BYTES): number => {
  const engineBytes = totalBytes - BESIDE_BYTES.querying
  if (engineBytes >= LEAST_BYTES.querying) return engineBytes
  throw new ToolkitError('USAGE', `Cannot work in ${totalBytes} bytes of memory: expected at least 256MiB`)
}

/** DuckDB's limit in a server, in bytes. @throws {ToolkitError} USAGE when it is too little */
export const servingMemory = (totalBytes: number): number => {
  const engineBytes = totalBytes - BESIDE_BYTES.serving
  if (engineBytes >= LEAST_BYTES.serving) return engineBytes
  throw new ToolkitError(
    'USAGE',
    `Cannot serve in --memory of ${mebibytes(totalBytes)}MiB: ` +
      `expected at least ${mebibytes(BESIDE_BYTES.serving + LEAST_BYTES.serving)}MiB`,
  )
}

/** The limit of each of two DuckDBs: one reads the lake, one loads the target at the same time. */
export const besideTarget = (engineBytes: number): number => Math.floor(engineBytes / 2)
