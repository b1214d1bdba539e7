/** Small lakes with their serving indexes, and what of a record a test compares. Knows nothing of vitest. */

import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { byteFeed } from '../../../src/decode/byte-feed.ts'
import { decodeZstd } from '../../../src/decode/compressed-streams.ts'
import type { Row } from '../../../src/lake/duckdb/engine.ts'
import { makeLake } from '../../../src/manifest/runs/runs.ts'
import type { Embedder } from '../../../src/server/ranking/embedder.ts'
import { buildIndex, indexFolder } from '../../../src/server/serving-index/build/build-index.ts'
import type { BuildIndexRequest } from '../../../src/server/serving-index/build/build-request.ts'
import {
  type DocumentKind,
  type DocumentPlace,
  type PlacePrefix,
  placeIn,
} from '../../../src/server/serving-index/index-form.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import type { ServingIndex } from '../../../src/server/serving-index/session-pool.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { SAMPLE } from '../../cli/run-cli.ts'
import type { Batch, LoadedLake, Workbench } from '../../load/loaded-lake.ts'
import { createSnapshot } from '../../manifest/write-snapshot.ts'

export const MEMORY_BYTES = 256 * 1024 * 1024
export const LIMIT = { timeoutMs: 30_000 }

/** A vector that says how long the text was. */
export const lengthEmbedder: Embedder = {
  name: 'length',
  dimensions: 2,
  minSimilarity: 0,
  embed: (strings) => Promise.resolve(strings.map((text) => Float32Array.of(text.length, 1))),
}

/** The first lines of a batch file of the sample. */
export const sampleLines = async (content: Batch['content'], count: number): Promise<string[]> => {
  const bytes = brotliDecompressSync(await readFile(join(SAMPLE, `${content}-0001.jsonl.br`)))
  return bytes.toString('utf8').split('\n').slice(0, count)
}

/** A lake with its one snapshot in the manifest. */
export const loadServed = async (bench: Workbench, ...batches: readonly Batch[]): Promise<LoadedLake> => {
  const loaded = await bench.load(...batches)
  await makeLake(loaded.lake)
  const partitions = loaded.snapshot.partitions.map((partition, at) =>
    partition.source.kind === 'file'
      ? { ...partition, source: { ...partition.source, sha256: sha256Of(String(at)) } }
      : partition,
  )
  await createSnapshot(loaded.lake, { ...loaded.snapshot, partitions })
  return loaded
}

export const requestOf = (
  { lake, snapshot }: Pick<LoadedLake, 'lake' | 'snapshot'>,
  more: Partial<BuildIndexRequest> = {},
): BuildIndexRequest => ({
  lake,
  snapshot,
  snapshotSha256: 'f'.repeat(64),
  memoryBytes: MEMORY_BYTES,
  embedder: lengthEmbedder,
  ...more,
})

export interface MadeIndex {
  readonly folder: string
  readonly index: ServingIndex
  readonly rows: (sql: string) => Promise<Row[]>
}

/** Makes and opens the index of a lake. */
export const madeIndex = async (loaded: LoadedLake): Promise<MadeIndex> => {
  await buildIndex(requestOf(loaded))
  const folder = indexFolder(loaded.lake, loaded.snapshot.snapshot)
  const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
  return { folder, index, rows: (sql) => index.query((session) => session.rows(sql), LIMIT) }
}

/** Places out of rows with their columns. */
export const placesOf = (rows: readonly Row[], prefix: PlacePrefix = ''): DocumentPlace[] =>
  rows.map((row) => placeIn(row, prefix))

/** The file of a kind of documents, or of the tables, of an index with one segment. */
export const fileOf = async (folder: string, kind: DocumentKind | 'search'): Promise<string> => {
  const found = (await readdir(folder)).find((name) => name.startsWith(`${kind}-`))
  if (found === undefined) throw new Error(`No file of ${kind} in ${folder}`)
  return found
}

/** The lines of a file of documents. */
export const documentsIn = async (path: string): Promise<readonly string[]> => {
  const pieces: Buffer[] = []
  for await (const piece of decodeZstd(byteFeed(createReadStream(path)))) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString('utf8').split('\n').slice(0, -1)
}
