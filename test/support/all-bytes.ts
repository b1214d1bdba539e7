/** Every byte below a folder, as it stands and decompressed: what a search for something that must not be there looks at. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib'

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** What comes before the end of the data, or before what is no such data any more. */
const decompressed = async (
  bytes: Buffer,
  decoder: NodeJS.ReadWriteStream & { end: (bytes: Buffer) => unknown },
): Promise<Buffer> => {
  const chunks: Buffer[] = []
  decoder.on('data', (chunk: Buffer) => chunks.push(chunk))
  decoder.end(bytes)
  await buffer(decoder as unknown as AsyncIterable<Buffer>).catch(() => undefined)
  return Buffer.concat(chunks)
}

/** The pages of a Parquet file are frames of zstd, one after the other. */
const framesIn = async (bytes: Buffer): Promise<readonly Buffer[]> => {
  const frames: Buffer[] = []
  for (let at = bytes.indexOf(ZSTD); at >= 0; at = bytes.indexOf(ZSTD, at + ZSTD.length))
    frames.push(await decompressed(bytes.subarray(at), createZstdDecompress()))
  return frames
}

const stringsOf = async (path: string): Promise<readonly Buffer[]> => {
  const bytes = await readFile(path)
  if (path.endsWith('.br')) return [bytes, await decompressed(bytes, createBrotliDecompress())]
  if (path.endsWith('.gz')) return [bytes, await decompressed(bytes, createGunzip())]
  return [bytes, ...(await framesIn(bytes))]
}

/** Those of the texts that stand somewhere below a folder, in names of files too. */
export const stringsBelow = async (
  folder: string,
  strings: readonly string[],
): Promise<readonly string[]> => {
  const found = new Set<string>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const places = [Buffer.from(path), ...(entry.isFile() ? await stringsOf(path) : [])]
    for (const text of strings) if (places.some((bytes) => bytes.includes(text))) found.add(text)
  }
  return strings.filter((text) => found.has(text))
}
