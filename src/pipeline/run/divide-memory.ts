/** How a run's memory is shared between Node and DuckDB. */

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
/** Node with its modules (130 MiB), what is freed but not given back, and what DuckDB takes beside its limit. */
const NODE_BYTES = 320 * MEBIBYTE
/** Least memory in which DuckDB loads a partition. */
const PARTITION_BYTES = 150 * MEBIBYTE

/**
 * Beside Node, of the blocks one stands decoded, one is being decoded, and one for each partition is being
 * loaded, with what is written of it; the rest is DuckDB's.
 *
 * @param threads partitions loaded side by side
 * @throws {ToolkitError} USAGE when so many partitions do not fit
 */
export const divideMemory = (totalBytes: number, threads = DEFAULT_THREADS): MemoryShares => {
  const blockBytes = Math.min(DECODE_LIMITS.blockBytes, Math.floor(totalBytes / 32))
  const engineBytes = totalBytes - NODE_BYTES - (threads + 4) * blockBytes
  if (engineBytes < threads * PARTITION_BYTES) {
    const least = Math.ceil((NODE_BYTES + threads * PARTITION_BYTES) / (1 - (threads + 4) / 32) / MEBIBYTE)
    throw new ToolkitError(
      'USAGE',
      `Cannot load ${threads} partitions side by side in ${Math.floor(totalBytes / MEBIBYTE)} MiB: ` +
        `expected at least ${least} MiB, or fewer --threads`,
    )
  }
  return { engineBytes, blockBytes }
}

/** Node with its modules, where it only hands rows on. */
const HANDING_NODE_BYTES = 160 * MEBIBYTE
const LEAST_QUERY_BYTES = 96 * MEBIBYTE

/** DuckDB's part of the memory where Node only hands rows on. @throws {ToolkitError} USAGE when it is too little */
export const queryMemory = (totalBytes: number = DEFAULT_MEMORY_BYTES): number => {
  const bytes = totalBytes - HANDING_NODE_BYTES
  if (bytes >= LEAST_QUERY_BYTES) return bytes
  throw new ToolkitError('USAGE', `Cannot work in ${totalBytes} bytes of memory: expected at least 256MiB`)
}

/** Reads `1GiB`, `512MB`, `800000000`. @throws {ToolkitError} USAGE */
export const parseBytes = (text: string, option: string): number => {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]i?b?|b)?$/i.exec(text.trim())
  const unit = match?.[2]?.toLowerCase() ?? 'b'
  const power = ['b', 'k', 'm', 'g', 't'].indexOf(unit.charAt(0))
  const bytes = Number(match?.[1]) * (unit.includes('i') ? 1024 : 1000) ** power
  if (match === null || !Number.isSafeInteger(Math.round(bytes)) || bytes < 1) {
    throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected bytes such as 1GiB or 512MB`)
  }
  return Math.round(bytes)
}
