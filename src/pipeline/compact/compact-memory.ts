/** How much of a compaction's memory is DuckDB's. */

import { ToolkitError } from '../../core/errors.ts'

const MEBIBYTE = 1024 ** 2
/** Node with its modules (130 MiB), and what DuckDB takes beside its limit: readers, writers, what is not given back. */
const BESIDE_BYTES = 400 * MEBIBYTE
/** Least memory in which a thread sorts and writes. */
const THREAD_BYTES = 100 * MEBIBYTE

/** DuckDB's limit, in bytes. @throws {ToolkitError} `USAGE` when so many threads do not fit */
export const compactMemory = (totalBytes: number, threads: number): number => {
  const bytes = totalBytes - BESIDE_BYTES
  if (bytes >= threads * THREAD_BYTES) return bytes
  const least = (BESIDE_BYTES + threads * THREAD_BYTES) / MEBIBYTE
  throw new ToolkitError(
    'USAGE',
    `Cannot compact with ${threads} threads in ${Math.floor(totalBytes / MEBIBYTE)} MiB: ` +
      `expected at least ${least} MiB, or fewer --threads`,
  )
}
