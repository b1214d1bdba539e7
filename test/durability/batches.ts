/** Generated batch files with some bad lines, and what an undisturbed run makes of them. */

import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { writeSample } from '../../data/sample.ts'

export interface Batches {
  readonly folder: string
  readonly paths: readonly string[]
  readonly remove: () => Promise<void>
}

export interface BatchOptions {
  readonly companies: number
  readonly files: number
  readonly seed?: number
}

/** Writes files of companies and of relations; the first of each ends with bad lines. */
export const writeBatches = async ({ companies, files, seed = 5 }: BatchOptions): Promise<Batches> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-durability-'))
  const options = { companies, seed, files, small: true, awkward: 0.1 }
  await writeSample(folder, { ...options, content: ['companies', 'relations'] }, 1)
  await rm(join(folder, 'control.json'))
  const paths = (await readdir(folder)).sort().map((name) => join(folder, name))
  const bad = brotliCompressSync(Buffer.from('{"bad"\n[]\n{"InternalId": 0.5, "BasicDetails": {}}\n'))
  for (const path of paths.filter((one) => one.includes('-0001.'))) await appendFile(path, bad)
  return { folder, paths, remove: () => rm(folder, { recursive: true }) }
}
