/** How a run's memory is shared between Node and DuckDB. */

import { ToolkitError } from '../core/errors.ts'
import { DECODE_LIMITS } from '../decode/decode-limits.ts'

/** Peak memory of a run by default, in bytes: 1 GiB, so that it fits beside others on a small machine. */
export const DEFAULT_MEMORY_BYTES = 1024 ** 3

/** Partitions loaded side by side by default, each on one thread. */
export const DEFAULT_THREADS = 2

/** Least memory a run can do with, in bytes: below it DuckDB has no room for two blocks. */
export const LEAST_MEMORY_BYTES = 384 * 1024 ** 2

export interface MemoryShares {
  /** DuckDB's limit, in bytes. */
  readonly engineBytes: number
  /** Size of a block, in bytes. */
  readonly blockBytes: number
}

const MEBIBYTE = 1024 ** 2

/**
 * Node with its modules takes about 130 MiB; of the blocks one stands decoded, one is being decoded, and one for
 * each partition is being loaded, with what is written of it; the rest is DuckDB's.
 *
 * @throws {ToolkitError} USAGE below `LEAST_MEMORY_BYTES`
 */
export const divideMemory = (totalBytes: number, threads = DEFAULT_THREADS): MemoryShares => {
  if (totalBytes < LEAST_MEMORY_BYTES) {
    throw new ToolkitError('USAGE', `Cannot work in ${totalBytes} bytes of memory: expected at least 384 MiB`)
  }
  const blockBytes = Math.min(DECODE_LIMITS.blockBytes, Math.floor(totalBytes / 32))
  return { engineBytes: totalBytes - 200 * MEBIBYTE - (threads + 4) * blockBytes, blockBytes }
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
