/** Many small awkward files to be loaded by many machines, and the rows that one machine makes of them. */

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { writeSample } from '../../data/sample.ts'
import {
  COMPRESSIONS,
  type Compression,
  companyLine,
  companyLines,
  hashLake,
  runIn,
  textOf,
} from '../run/batch-bench.ts'

/** Loaded first, so that a lake has a snapshot: without one gc must take nothing for garbage. */
export const FIRST = 'first.jsonl'
/** The folder of all that many machines load. */
export const INPUTS = 'inputs'
/** Larger than any unit: ranges of its blocks are loaded where blocks are small. */
const LARGE = 'large.jsonl'
const LIMIT = { kind: 'share', share: 0.5 } as const

type Hashes = Readonly<Record<string, string>>

export interface ManyFiles {
  readonly folder: string
  /** Rows of a lake of these files alone, and of one that had the first file. */
  readonly expected: { readonly alone: Hashes; readonly onFirst: Hashes }
}

/** One content as files are found: cut anywhere, with other line ends, blank and bad lines, in every compression. */
const CHANGES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/\n$/, ''),
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => `\n\n${text}   \n`,
  (text) => `${text}{"bad"\n[]\n{"InternalId": 0.5, "BasicDetails": {}}\n`,
]
const ENDINGS: Readonly<Record<Compression, string>> = { plain: '', gzip: '.gz', zstd: '.zst', brotli: '.br' }
const KINDS = Object.keys(ENDINGS) as readonly Compression[]

const rewrite = async (folder: string, name: string, at: number): Promise<void> => {
  const text = brotliDecompressSync(await readFile(join(folder, name))).toString()
  const change = CHANGES[at % CHANGES.length] ?? String
  const kind = KINDS[at % KINDS.length] ?? 'plain'
  await rm(join(folder, name))
  const bytes = await COMPRESSIONS[kind](Buffer.from(change(text)))
  await writeFile(join(folder, name.replace(/\.br$/, ENDINGS[kind])), bytes)
}

const writeInputs = async (folder: string, files: number, seed: number): Promise<void> => {
  const each = Math.max(2, Math.floor((files - 6) / 2))
  const options = { companies: 2 * each, seed, files: each, small: true, awkward: 0.2 }
  await writeSample(folder, { ...options, content: ['companies', 'relations'] }, 1)
  await rm(join(folder, 'control.json'))
  for (const [at, name] of (await readdir(folder)).sort().entries()) await rewrite(folder, name, at)
  const write = (name: string, lines: readonly string[]): Promise<void> =>
    writeFile(join(folder, name), textOf(lines))
  await write(LARGE, companyLines(150, 1))
  await write('a twin of large.jsonl', companyLines(150, 1))
  await write('companies without a line.jsonl', [])
  await write('relations of nothing.jsonl', ['', ''])
  // Older and newer versions of companies of other files; a name that the contract does not know.
  await write(
    'zz-newer å.jsonl',
    [1, 50, 99].map((id) => companyLine(id, { Strange: 1 }, 9)),
  )
  await write('zz-older.jsonl', [companyLine(2, { MetaData: { ContentUpdatedAt: '2024-01-01T00:00:00' } })])
}

/** @param folder exists and is empty */
export const writeManyFiles = async (folder: string, files: number, seed: number): Promise<ManyFiles> => {
  await mkdir(join(folder, INPUTS), { recursive: true })
  await writeInputs(join(folder, INPUTS), files, seed)
  // Companies of other files, some of them newer.
  await writeFile(join(folder, FIRST), textOf([1, 2, 500].map((id) => companyLine(id, {}, 5))))
  const rowsOf = async (name: string, ...inputs: readonly string[]): Promise<Hashes> => {
    const lake = join(folder, name)
    for (const input of inputs) await runIn(folder, lake, [input], { maxQuarantined: LIMIT })
    return hashLake(lake)
  }
  const alone = await rowsOf('.alone', INPUTS)
  return { folder, expected: { alone, onFirst: await rowsOf('.on-first', FIRST, INPUTS) } }
}
