/** How large the blocks of an input are. */

import type { Source } from '../core/source.ts'
import { compressionOfName } from '../decode/detect-compression.ts'
import { LEAST_BLOCK_BYTES } from './memory-shares.ts'

/** Decoded bytes for a compressed one: data of companies has 4 to 30. */
const LEAST_RATIO = 5

type Sized = Pick<Source, 'name' | 'decodeName' | 'sizeBytes'>

const decodedBytes = ({ name, decodeName = name, sizeBytes = Number.POSITIVE_INFINITY }: Sized): number =>
  sizeBytes * (compressionOfName(decodeName) === undefined ? 1 : LEAST_RATIO)

/**
 * The size of blocks for sources, in bytes: of a small input it is smaller, so that its blocks are loaded side by side, too.
 *
 * @param most what there is memory for, and how many partitions are loaded side by side
 */
export const inputBlockBytes = (
  sources: readonly Sized[],
  { mostBytes, threads }: { readonly mostBytes: number; readonly threads: number },
): number => {
  const inputBytes = sources.reduce((sum, source) => sum + decodedBytes(source), 0)
  // With twice as many a small input would take a tenth more CPU: each file costs something by itself.
  const share = Math.ceil(inputBytes / threads)
  return Math.min(mostBytes, Math.max(share, LEAST_BLOCK_BYTES))
}
