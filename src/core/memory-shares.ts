/** How the memory that a command may use is shared between Node and DuckDB: of loading, compacting, querying, serving. */

import { machineLimits } from '../support/machine-limits.ts'
import { DECODE_LIMITS } from './decode-limits.ts'
import { ToolkitError } from './errors.ts'

export interface MemoryShares {
  /** DuckDB's limit, in bytes. */
  readonly engineBytes: number
  /** Size of a block, in bytes. */
  readonly blockBytes: number
  /** Threads that check lines; none where the main thread does it. */
  readonly checkThreads: number
}

const MEBIBYTE = 1024 ** 2

/** Memory that is not DuckDB's, in bytes: Node with its modules (130 MiB), and more by what it does beside DuckDB. */
const BESIDE_BYTES = {
  /** Freed memory that is not returned, and what DuckDB takes beyond its limit. */
  loading: 220 * MEBIBYTE,
  /** A thread that checks lines. */
  checkThread: 40 * MEBIBYTE,
  /** DuckDB's metadata of the files that it reads, and freed memory that is not returned; more by the memory that it has. */
  compacting: 325 * MEBIBYTE,
  /** Node only hands rows on; more by the memory that DuckDB has. */
  querying: 140 * MEBIBYTE,
  /** The pages being sent, and what DuckDB takes beside its limit. */
  serving: 320 * MEBIBYTE,
} as const

/** Least that DuckDB works with, in bytes: to load a partition, to sort and write on a thread, for all queries. */
const MIN_BYTES = {
  partition: 120 * MEBIBYTE,
  compactingThread: 100 * MEBIBYTE,
  querying: 96 * MEBIBYTE,
  serving: 128 * MEBIBYTE,
} as const

/** The share of all memory that a compaction's DuckDB takes beyond its limit: most where it sorts companies, 0.1 to 0.2 of its limit. */
const BEYOND_LIMIT = 1 / 8

/** How many times its limit a query's DuckDB takes, most where it groups more than fits: it spills, and frees in small pieces. */
const QUERY_TIMES_LIMIT = 1.2

/** DuckDB's memory for a partition where their number is chosen here. */
const USUAL_PARTITION_BYTES = 150 * MEBIBYTE

const mebibytes = (bytes: number): number => Math.floor(bytes / MEBIBYTE)

/** @param needed for so many threads, in bytes */
const tooLittle = (work: string, totalBytes: number, needed: number, threads: number): ToolkitError =>
  new ToolkitError(
    'USAGE',
    `Cannot ${work} in ${mebibytes(totalBytes)} MiB: expected at least ${Math.ceil(needed / MEBIBYTE)}MiB` +
      (threads > 1 ? ', or fewer --threads' : ''),
  )
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Smallest block for which work is divided: with less, what each file costs by itself counts most. */
export const MIN_BLOCK_BYTES = 4 * MEBIBYTE
/** To check a block takes about a third of the time of loading it. */
const LOADS_A_CHECK = 3
/** Cores on which the main thread checks lines itself: DuckDB has the other one. */
const OWN_CHECK_CORES = 2

const checkThreadsFor = (threads: number, cores: number): number =>
  cores > OWN_CHECK_CORES ? Math.ceil(threads / LOADS_A_CHECK) : 0

/** Memory that `threads` partitions side by side leave for blocks, in bytes, and how many blocks are in memory. */
const blockRoom = (
  totalBytes: number,
  threads: number,
  checkThreads: number,
  partitionBytes: number = MIN_BYTES.partition,
) => ({
  bytes:
    totalBytes - BESIDE_BYTES.loading - checkThreads * BESIDE_BYTES.checkThread - threads * partitionBytes,
  // A block stands decoded, one is being decoded, one is being checked; each with as much for its columns.
  blocks: 2 * (threads + 2 + Math.max(checkThreads, 1)),
})

/**
 * Partitions loaded side by side by default: as many as the machine has cores, and memory for with blocks of 16 MiB; two
 * where they fit with smaller ones.
 */
export const defaultThreads = (totalBytes: number, cores = machineLimits().cpus): number => {
  for (let threads = cores; threads > 2; threads--) {
    const { bytes, blocks } = blockRoom(
      totalBytes,
      threads,
      checkThreadsFor(threads, cores),
      USUAL_PARTITION_BYTES,
    )
    if (bytes >= blocks * 16 * MEBIBYTE) return threads
  }
  return totalBytes >= minToLoad(2, checkThreadsFor(2, cores)) ? 2 : 1
}

/** The least memory that so many partitions side by side are loaded in, in bytes. */
const minToLoad = (threads: number, checkThreads: number): number => {
  const { bytes, blocks } = blockRoom(0, threads, checkThreads)
  return Math.max(blocks * MIN_BLOCK_BYTES - bytes, 32 * MIN_BLOCK_BYTES)
}

/**
 * Beside Node there are blocks with their columns; the rest is DuckDB's.
 *
 * @param threads partitions loaded side by side
 * @throws {ToolkitError} USAGE when so many partitions do not fit
 */
export const divideMemory = (
  totalBytes: number,
  threads = defaultThreads(totalBytes),
  cores = machineLimits().cpus,
): MemoryShares => {
  const checkThreads = checkThreadsFor(threads, cores)
  const { bytes, blocks } = blockRoom(totalBytes, threads, checkThreads)
  const blockBytes = Math.floor(Math.min(DECODE_LIMITS.blockBytes, totalBytes / 32, bytes / blocks))
  if (blockBytes >= MIN_BLOCK_BYTES) {
    const engineBytes = bytes + threads * MIN_BYTES.partition - blocks * blockBytes
    return { engineBytes, blockBytes, checkThreads }
  }
  const min = minToLoad(threads, checkThreads)
  throw tooLittle(`load ${counted(threads, 'partition')} at once`, totalBytes, min, threads)
}

const minToCompact = (threads: number): number =>
  (BESIDE_BYTES.compacting + threads * MIN_BYTES.compactingThread) / (1 - BEYOND_LIMIT)

/** The most that is used by default: it fits beside others on a small machine. */
const MOST_DEFAULT_BYTES = 1024 ** 3
/** The rest is for the system, which keeps what it read of files there. */
const SHARE_OF_LIMIT = 0.7
/** The share where some work needs more than that. */
const MOST_OF_LIMIT = 0.95

/**
 * Peak memory by default, in bytes: 1 GiB, or 70 % of what this process may use, where that is less. In a small container it is
 * what every work needs at least, with one thread, as long as there is as much.
 */
export const defaultMemory = (limitBytes: number): number => {
  const min = Math.min(minToCompact(1), limitBytes * MOST_OF_LIMIT)
  return Math.ceil(Math.min(MOST_DEFAULT_BYTES, Math.max(limitBytes * SHARE_OF_LIMIT, min)))
}

export const DEFAULT_MEMORY_BYTES = defaultMemory(machineLimits().memoryBytes)

/** Threads of queries and compactions by default: two, where both fit into the memory. */
export const threadsFor = (totalBytes: number): number => (totalBytes >= minToCompact(2) ? 2 : 1)

export const DEFAULT_THREADS = threadsFor(DEFAULT_MEMORY_BYTES)

/** DuckDB's limit in a compaction, in bytes. @throws {ToolkitError} USAGE when so many threads do not fit */
export const compactMemory = (totalBytes: number, threads: number): number => {
  const engineBytes = Math.floor(totalBytes * (1 - BEYOND_LIMIT)) - BESIDE_BYTES.compacting
  if (engineBytes >= threads * MIN_BYTES.compactingThread) return engineBytes
  throw tooLittle(`compact with ${counted(threads, 'thread')}`, totalBytes, minToCompact(threads), threads)
}

/**
 * DuckDB's limit where Node only hands rows on, in bytes.
 *
 * @param engines DuckDBs side by side, each of which has so much
 * @throws {ToolkitError} USAGE when it is too little
 */
export const queryMemory = (totalBytes: number = DEFAULT_MEMORY_BYTES, engines = 1): number => {
  const engineBytes = Math.floor((totalBytes - BESIDE_BYTES.querying) / (engines * QUERY_TIMES_LIMIT))
  if (engineBytes >= MIN_BYTES.querying) return engineBytes
  const min = BESIDE_BYTES.querying + engines * MIN_BYTES.querying * QUERY_TIMES_LIMIT
  throw tooLittle('work', totalBytes, min, 1)
}

/**
 * DuckDB's limit in a server, in bytes.
 *
 * @param indexes serving indexes that are open side by side, which share it
 * @throws {ToolkitError} USAGE when it is too little
 */
export const servingMemory = (totalBytes: number, indexes = 1): number => {
  const engineBytes = totalBytes - BESIDE_BYTES.serving
  const minBytes = indexes * MIN_BYTES.serving
  if (engineBytes >= minBytes) return engineBytes
  throw tooLittle('serve', totalBytes, BESIDE_BYTES.serving + minBytes, 1)
}

/** The limit of each of two DuckDBs: one reads the lake, one loads the target at the same time. */
export const besideTarget = (engineBytes: number): number => Math.floor(engineBytes / 2)
