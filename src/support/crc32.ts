/** CRC-32 of files. Node takes 2 ms to load its compression, which few commands need. */

import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'

/** CRC-32 of the first bytes of a file. */
export const crc32Of = async (path: string, bytes: number): Promise<number> => {
  let sum = 0
  if (bytes === 0) return sum
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) sum = crc32(chunk, sum)
  return sum
}
