/** Reads a downloaded batch file once from end to end before it is loaded: Brotli has no checksum of its own. */

import type { Block } from '../../core/block.ts'
import { ToolkitError } from '../../core/errors.ts'
import { decodeBlocks } from '../../decode/decode-blocks.ts'
import { openSourceFile } from '../../source/local-sources.ts'
import { isSpace, JSON_BYTES } from '../../support/json-bytes.ts'

const { LINE_FEED } = JSON_BYTES

export interface CheckBatchFileOptions {
  /** Name for messages. */
  readonly name: string
  readonly maxLineBytes?: number | undefined
  readonly maxRatio?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export type BatchCheck =
  | {
      readonly kind: 'sound'
      /** Lines that are not blank. */
      readonly lines: number
      readonly decodedBytes: number
    }
  | { readonly kind: 'damaged'; readonly reason: string }

/** Small: only its lines are read. */
const BLOCK_BYTES = 1024 * 1024

const linesOf = ({ bytes, overlong }: Block): number => {
  let lines = overlong.length
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, from)
    let at = from
    while (at < end && isSpace(bytes[at] ?? 0)) at += 1
    if (at < end) lines += 1
    from = end + 1
  }
  return lines
}

const DAMAGES: readonly string[] = ['DECODE_DAMAGED', 'DECODE_TRUNCATED', 'DECODE_TRAILING']

/**
 * A name whose extension shows the compression where the first bytes do not: batch files are Brotli, also where
 * their names do not say so.
 */
export const nameForDecoding = (name: string): string =>
  /\.(br|gz|gzip|zst|zstd)$/i.test(name) ? name : `${name}.br`

/** @throws {ToolkitError} DECODE_LIMIT, SOURCE_UNREADABLE */
export const checkBatchFile = async (path: string, options: CheckBatchFileOptions): Promise<BatchCheck> => {
  const { name, maxLineBytes, maxRatio, signal } = options
  let lines = 0
  let decodedBytes = 0
  const blocks = decodeBlocks(() => openSourceFile(path, { signal }), {
    name: nameForDecoding(name),
    blockBytes: BLOCK_BYTES,
    maxLineBytes,
    maxRatio,
    signal,
  })
  try {
    for await (const block of blocks) {
      lines += linesOf(block)
      decodedBytes = block.offset + block.bytes.length
    }
    return { kind: 'sound', lines, decodedBytes }
  } catch (error) {
    if (error instanceof ToolkitError && DAMAGES.includes(error.code))
      return { kind: 'damaged', reason: error.message }
    throw error
  }
}
