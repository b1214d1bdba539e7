/** A small lake with a file of every kind, and what a case does to one of them. Knows nothing of vitest. */

import { cp, mkdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertFiles } from '../../src/jobs/convert.ts'
import { PARTS_FOLDER } from '../../src/lake/files/layout.ts'
import { addLakeRates } from '../../src/lake/rates/lake-rates.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { publish } from '../../src/targets/publish.ts'
import { filesOf, flipBit } from '../manifest/damage.ts'
import { companyLine, relationsLine, runIn, textOf } from '../run/batch-bench.ts'

export const MEMORY_BYTES = 256 * 1024 ** 2
/** What the unfinished run was begun with. */
export const RESUMED = ['more.jsonl']
export const BLOCKS = { limits: { blockBytes: 1200 } }

const rich = (id: number): string =>
  companyLine(id, {
    MetaData: {
      ...{ CurrentCurrencyCode: 'SEK', LocalCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands' },
      ContentUpdatedAt: `2025-01-${String((id % 27) + 1).padStart(2, '0')}T00:00:00`,
    },
    EnhancedDetails: { Description: `What company ${id} makes is number ${id * 7919}` },
  })

/** The kinds of files, and which files are of each. */
export const KINDS: Readonly<Record<string, (path: string) => boolean>> = {
  data: (path) => /^[^_].*\/load=.*\.parquet$/.test(path),
  quarantine: (path) => path.startsWith('quarantine/'),
  snapshots: (path) => path.startsWith('_manifest/') && !path.startsWith(PARTS_FOLDER),
  parts: (path) => path.startsWith(PARTS_FOLDER),
  journal: (path) => /^_runs\/.*(journal\.jsonl|plan\.json|owner-\d+\.json)$/.test(path),
  // The dictionary of a run is written anew at its end.
  staging: (path) => /^_runs\/.*\/staging\//.test(path) && !path.includes('line_items'),
  'serving index': (path) => path.startsWith('_serve/'),
  'batch files': (path) => path.startsWith('_batches/'),
  rates: (path) => path.startsWith('_rates/'),
  publications: (path) => /^[^_]\w*\/(_delta_log|metadata)\//.test(path),
}

export interface DamagedLake {
  readonly folder: string
  readonly lake: string
  readonly files: Readonly<Record<string, readonly string[]>>
  /** Puts the lake back as it was made. */
  readonly restore: () => Promise<void>
}

/** Begins a run and stops it when half of its blocks are staged. */
const leaveUnfinished = async (folder: string, lake: string): Promise<void> => {
  const stop = new AbortController()
  const run = runIn(folder, lake, RESUMED, {
    ...BLOCKS,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind === 'progress' && event.progress.records >= 6) stop.abort()
    },
  })
  await run.then(
    () => {
      throw new Error('The run was to be stopped')
    },
    () => undefined,
  )
}

export const makeDamagedLake = async (folder: string): Promise<DamagedLake> => {
  const [lake, kept] = [join(folder, 'lake'), join(folder, 'kept')]
  const write = async (name: string, lines: readonly string[]): Promise<void> => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, name), textOf(lines))
  }
  const limit = { kind: 'count', lines: 5 } as const
  await write('first.jsonl', [1, 2, 3, 4, 5, 6].map(rich))
  await write('second.jsonl', [...[4, 5, 7].map(rich), '{"broken'])
  await write('relations.jsonl', [1, 2, 3].map(relationsLine))
  await write(
    'more.jsonl',
    Array.from({ length: 18 }, (_, at) => rich(20 + at)),
  )
  for (const inputs of [['first.jsonl'], ['second.jsonl', 'relations.jsonl']])
    await convertFiles({ inputs, cwd: folder, again: false, limits: {} }, { lake, maxQuarantined: limit })
  await addLakeRates(lake, 'currency,year,units_per_usd\nSEK,2023,10.61\nSEK,2024,10.57\n')
  await publish({ lake, formats: ['delta', 'iceberg'], memoryBytes: MEMORY_BYTES })
  const index = await currentIndex({ lake, embedder: await chooseEmbedder({}), memoryBytes: MEMORY_BYTES })
  await makeBatchFiles({ lake, index })
  await index.close()
  await leaveUnfinished(folder, lake)
  await cp(lake, kept, { recursive: true })
  const names = await filesOf(lake)
  const sized = await Promise.all(
    names.map(async (name) => ({ name, size: (await stat(join(lake, name))).size })),
  )
  const some = sized.flatMap(({ name, size }) => (size > 0 ? [name] : []))
  return {
    folder,
    lake,
    files: Object.fromEntries(Object.entries(KINDS).map(([kind, is]) => [kind, some.filter(is)])),
    restore: async () => {
      await rm(lake, { recursive: true, force: true })
      await cp(kept, lake, { recursive: true })
    },
  }
}

export type Damage =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number; readonly timesKept: boolean }
  | { readonly kind: 'cut'; readonly to: number }
  | { readonly kind: 'swap'; readonly with: string; readonly sameLength: boolean }

/** An unrelated Parquet file made as long as another: bytes between its data and its footer are read by nobody. */
const padded = (other: Buffer, length: number): Buffer | null => {
  const footer = other.length - 8 - other.readUInt32LE(other.length - 8)
  return other.length > length
    ? null
    : Buffer.concat([other.subarray(0, footer), Buffer.alloc(length - other.length), other.subarray(footer)])
}

/** @returns whether anything is another than before */
export const inflict = async (path: string, damage: Damage, lake: string): Promise<boolean> => {
  const { atime, mtime } = await stat(path)
  switch (damage.kind) {
    case 'flip':
      await flipBit(path, damage.at, damage.bit)
      if (damage.timesKept) await utimes(path, atime, mtime)
      return true
    case 'cut':
      await truncate(path, damage.to)
      return true
    case 'swap': {
      const [own, other] = [await readFile(path), await readFile(join(lake, damage.with))]
      const bytes = damage.sameLength ? padded(other, own.length) : other
      if (bytes === null || bytes.equals(own)) return false
      await writeFile(path, bytes)
      return true
    }
  }
}
