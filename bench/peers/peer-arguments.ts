/** What the peers in TypeScript share: their arguments, and batch files decoded. */

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import type { Shape } from './shape.ts'

export const TABLES = ['companies', 'financials', 'employees'] as const

export interface PeerArguments {
  readonly shape: Shape
  readonly out: string
  readonly files: readonly string[]
}

/** `SHAPE.json OUT FILE.jsonl.br …`; makes the folders of the tables. */
export const peerArguments = async (): Promise<PeerArguments> => {
  const [path = '', out = '', ...files] = process.argv.slice(2)
  for (const table of TABLES) await mkdir(join(out, table), { recursive: true })
  return { shape: JSON.parse(await readFile(path, 'utf8')), out, files }
}

/** Decodes files side by side into a folder. @returns their paths there */
export const decompress = async (files: readonly string[], folder: string): Promise<readonly string[]> => {
  await mkdir(folder, { recursive: true })
  return Promise.all(
    files.map(async (file) => {
      const path = join(folder, basename(file, '.br'))
      await pipeline(
        createReadStream(file, { highWaterMark: 1 << 20 }),
        createBrotliDecompress({ chunkSize: 1 << 20 }),
        createWriteStream(path, { highWaterMark: 1 << 20 }),
      )
      return path
    }),
  )
}
