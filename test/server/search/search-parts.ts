/** Parts of a search for tests: callers, small rates, a small embedder, and copies of small lakes. */

import { AREAS, type Area } from '../../../src/contract/authorization.ts'
import { ratesOf } from '../../../src/lake/rates/rates.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { NOBODY } from '../../../src/server/persons/protected-parts.ts'
import type { Embedder } from '../../../src/server/ranking/embedder.ts'
import type { Answer, SearchParts } from '../../../src/server/search/shared/answer.ts'
import { namedCountries } from '../../../src/server/search/shared/visible-records.ts'
import { buildIndex, indexFolder } from '../../../src/server/serving-index/build/build-index.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import type { ServingIndex } from '../../../src/server/serving-index/session-pool.ts'
import type { Batch, Workbench } from '../../load/loaded-lake.ts'

const MEMORY_BYTES = 256 * 1024 * 1024

/** SEK: 10 for a dollar in 2020, 8 from 2021 on; EUR: 0.5 in all years. */
export const RATES = ratesOf(
  new Map([
    [
      'SEK',
      new Map([
        [2020, 10],
        [2021, 8],
      ]),
    ],
    ['EUR', new Map([[2020, 0.5]])],
  ]),
)

const WORDS = ['ship', 'bank', 'fish']

/** Counts three words; a text with none of them is near nothing. */
export const wordEmbedder: Embedder = {
  name: 'words',
  dimensions: WORDS.length,
  minSimilarity: 0.5,
  embed: async (strings) =>
    strings.map((text) => {
      const counts = WORDS.map((word) => text.toLowerCase().split(word).length - 1)
      const length = Math.hypot(...counts) || 1
      return Float32Array.from(counts, (count) => count / length)
    }),
}

/** An index with nothing behind it, for what is checked before a query. */
const emptyCopy = (snapshot: number): ServingIndex => ({
  description: {
    version: 1,
    contract: 'c'.repeat(64),
    snapshot,
    snapshotTime: '2025-01-01T00:00:00Z',
    snapshotAsOf: '2025-01-01T00:00:00Z',
    snapshotSha256: 'f'.repeat(64),
    records: { companies: 0, relations: 0 },
    segments: [],
    embedder: { name: wordEmbedder.name, dimensions: wordEmbedder.dimensions },
  },
  persons: { ...NOBODY, companies: new Set(), named: new Set(), digest: '' },
  query: () => Promise.reject(new Error('No query expected')),
  documents: () => Promise.reject(new Error('No documents expected')),
  close: () => Promise.resolve(),
})

export const partsOf = (index: ServingIndex, more: Partial<SearchParts> = {}): SearchParts => ({
  index,
  rates: RATES,
  embedder: wordEmbedder,
  countries: namedCountries([]),
  cursorKey: Buffer.alloc(32, 7),
  cursorCap: 100_000,
  queryTimeoutMs: 30_000,
  ...more,
})
export const emptyParts = (more: Partial<SearchParts> = {}, snapshot = 1): SearchParts =>
  partsOf(emptyCopy(snapshot), more)

export const EVERYTHING: Caller = { name: 'all', rights: 'everything' }

/** A caller with areas by country; `''` is for records without a country. */
export const callerOf = (areas: Readonly<Record<string, readonly Area[]>>): Caller => ({
  name: 'some',
  rights: {
    countries: new Map(
      Object.entries(areas)
        .filter(([country]) => country !== '')
        .map(([country, list]) => [country, new Set(list)]),
    ),
    withoutCountry: areas[''] === undefined ? null : new Set(areas['']),
  },
})
export const allAreasBut = (...areas: readonly Area[]): readonly Area[] =>
  AREAS.filter((area) => !areas.includes(area))

/** Loads batches into a lake and opens its index; the bench removes the lake. */
export const searchedLake = async (bench: Workbench, ...batches: readonly Batch[]): Promise<SearchParts> => {
  const { lake, snapshot } = await bench.load(...batches)
  await buildIndex({
    lake,
    snapshot,
    snapshotSha256: 'f'.repeat(64),
    memoryBytes: MEMORY_BYTES,
    embedder: wordEmbedder,
  })
  return partsOf(await openIndex({ folder: indexFolder(lake, snapshot.snapshot), memoryBytes: MEMORY_BYTES }))
}

/** The pagination and body of a page; throws where the search was refused. */
export const pageOf = (answer: Answer) => {
  if (answer.kind === 'refused') throw new Error(`Refused: ${answer.messages.join(' ')}`)
  return { pagination: answer.pagination, text: Buffer.concat(answer.body).toString() }
}
export const messagesOf = (answer: { kind: string; messages?: readonly string[] }): readonly string[] =>
  answer.messages ?? []
