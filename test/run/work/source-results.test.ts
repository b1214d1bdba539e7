/** What a run says and records of its sources, with a loader that writes nothing. */

import { expect, test } from 'vitest'
import { openCheckers } from '../../../src/check/block-checker.ts'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { SinkRun } from '../../../src/core/sink.ts'
import type { Source } from '../../../src/core/source.ts'
import { decodeBlocks } from '../../../src/decode/decode-blocks.ts'
import type { Loader } from '../../../src/load/loader.ts'
import type { JournalEntry } from '../../../src/manifest/runs/journal-lines.ts'
import { type LoadSourcesOptions, loadSources } from '../../../src/run/work/load-sources.ts'
import type { RunEvent } from '../../../src/run/work/progress.ts'
import { sha256Of } from '../../../src/support/hash.ts'

const unused = (): Promise<never> => Promise.reject(new TypeError('Cannot be used here'))

const loader: Loader = {
  load: async ({ part }) => ({ kept: part, receipts: [], observed: null }),
  ...{ withSession: unused, withRows: unused, rows: unused, close: unused, take: undefined },
}
const sink: SinkRun = { write: unused, commit: unused, abort: unused, stagedRows: unused }

/** A file of some companies, with 100 bytes for each of them where it is stored. */
const fileOf = (name: string, ids: readonly number[], more: Partial<Source> = {}): Source => {
  const lines = ids.map(
    (id) => `${JSON.stringify({ BasicDetails: { InternalId: id, CountryCode: 'SE' } })}\n`,
  )
  const sizeBytes = 100 * ids.length
  return {
    ...{ kind: 'file', name, content: 'companies', sizeBytes },
    fingerprint: async () => ({ bytes: sizeBytes, sha256: sha256Of(ids.join()) }),
    open: async function* () {
      yield Buffer.from(lines.join(''))
    },
    ...more,
  }
}

/** Loads sources one partition at a time, each line a block. @returns what was said and done, in its order */
const loaded = async (
  sources: readonly Source[],
  options: Partial<LoadSourcesOptions> & { readonly finished?: readonly JournalEntry[] } = {},
) => {
  const said: (string | RunEvent)[] = []
  const kept: JournalEntry[] = []
  const watched = sources.map((source) => ({
    ...source,
    release: async () => void said.push(`${source.name} is released`),
  }))
  const parts = {
    decode: (source: Source, onInput?: (bytes: number) => void) =>
      source.blocks?.() ?? decodeBlocks(() => source.open(), { name: source.name, blockBytes: 1, onInput }),
    ...{ checkers: openCheckers(), loader, sink, sources: watched, inLake: null },
  }
  const keep = async (entry: JournalEntry): Promise<void> => {
    kept.push(entry)
    said.push(`${entry.partition.source.name} ${entry.partition.source.block} is recorded`)
  }
  const results = await loadSources(parts, {
    ...{ run: '20250101T000000000Z-000000', sideBySide: 1, onEvent: (event) => void said.push(event) },
    ...options,
    record: { finished: options.finished ?? [], keep },
  })
  return { results, said, kept }
}

const states = (said: readonly (string | RunEvent)[]) =>
  said.flatMap((one) =>
    typeof one === 'object' && one.kind === 'progress'
      ? [[one.progress.sourcesDone, one.progress.sources, one.progress.records, one.progress.bytesTotal]]
      : [],
  )

const withoutProgress = (said: readonly (string | RunEvent)[]) =>
  said.filter((one) => typeof one === 'string' || one.kind !== 'progress')

/** Two companies, longer than what is read to detect a compression, and then no more. */
const damaged: Partial<Source> = {
  open: async function* () {
    for (const id of [7, 8]) {
      const BasicDetails = { InternalId: id, CompanyName: 'x'.repeat(100_000), CountryCode: 'SE' }
      yield Buffer.from(`${JSON.stringify({ BasicDetails })}\n`)
    }
    throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "c": EIO', {})
  },
}

test('loadSources says of each source in turn what becomes of it, and takes back what it loaded of a bad file', async () => {
  const sources = [
    fileOf('a', [1, 2, 3]),
    fileOf('notes', [4], { excluded: 'it is no batch file' }),
    fileOf('twin', [1, 2, 3], { notice: 'it is old' }),
    fileOf('c', [7, 8], damaged),
    fileOf('d', [9]),
  ]
  const { results, said } = await loaded(sources, { skipBadFiles: true })
  const equal = { kind: 'skipped', source: 'twin', reason: 'it is equal to "a"' }
  const bad = { kind: 'left-out', source: 'c', code: 'SOURCE_UNREADABLE', reason: 'Cannot read "c": EIO' }
  const other = { kind: 'skipped', source: 'notes', reason: 'it is no batch file' }
  // The last block of a source may be recorded, and the source released, while the next one is looked at.
  const ofSources = withoutProgress(said).filter((one) => typeof one === 'object')
  expect(ofSources).toEqual([
    { kind: 'source', source: 'a', content: 'companies' },
    other,
    { kind: 'notice', source: 'twin', text: 'it is old' },
    equal,
    { kind: 'source', source: 'c', content: 'companies' },
    bad,
    { kind: 'source', source: 'd', content: 'companies' },
  ])
  for (const { name } of sources) expect(said.filter((one) => one === `${name} is released`)).toHaveLength(1)
  expect(said.indexOf('a is released')).toBeGreaterThan(said.indexOf('a 2 is recorded'))
  expect(results.sources.map((unit) => ('partitions' in unit ? unit.partitions.length : unit))).toEqual([
    3,
    other,
    equal,
    bad,
    1,
  ])
  expect(results.read).toEqual(['1,2,3', '1,2,3', '7,8', '9'].map((ids) => sha256Of(ids)))
  // Four sources count, of 900 bytes, and four companies.
  expect(states(said).at(-1)).toEqual([4, 4, 4, 900])
  const counts = states(said).map(([, , records]) => records)
  expect(counts.filter((count, at) => count !== counts[at - 1])).toEqual([0, 1, 2, 3, 4, 3, 4])
})

test('loadSources records a source that can be read only once at its end, under its hash', async () => {
  const { fingerprint: _, sizeBytes: __, ...stream } = fileOf('stdin', [5, 6], { kind: 'stdin' })
  const { said, kept, results } = await loaded([fileOf('a', [1]), stream, fileOf('b', [2])])
  expect(withoutProgress(said).filter((one) => typeof one === 'string')).toEqual([
    'a 0 is recorded',
    'a is released',
    'stdin 0 is recorded',
    'stdin 1 is recorded',
    'stdin is released',
    'b 0 is recorded',
    'b is released',
  ])
  // Both of its companies were counted before the first of them was recorded.
  const before = said.slice(0, said.indexOf('stdin 0 is recorded'))
  expect(states(before).at(-1)).toEqual([1, 3, 3, undefined])
  const text = [5, 6].map((id) => `{"BasicDetails":{"InternalId":${id},"CountryCode":"SE"}}\n`).join('')
  expect(kept.slice(1, 3).map(({ partition }) => partition.source)).toMatchObject(
    [0, 1].map((block) => ({ block, bytes: text.length, sha256: sha256Of(text), last: block === 1 })),
  )
  expect(results.read).toEqual(['1', '2'].map((ids) => sha256Of(ids)))
})

test('loadSources records nothing of a source that can be read only once and turns out to be loaded', async () => {
  const text = '{"BasicDetails":{"InternalId":5,"CountryCode":"SE"}}\n'
  const { fingerprint: _, ...stream } = fileOf('stdin', [5], { kind: 'stdin' })
  const file = fileOf('a', [5], { fingerprint: async () => ({ bytes: text.length, sha256: sha256Of(text) }) })
  const { kept, results } = await loaded([file, stream])
  expect(kept.map(({ partition }) => partition.source.name)).toEqual(['a'])
  expect(results.sources.at(1)).toEqual({ kind: 'skipped', source: 'stdin', reason: 'it is equal to "a"' })
})

test('loadSources takes over a source that an earlier attempt has loaded whole, and opens it no more', async () => {
  const { kept, results } = await loaded([fileOf('a', [1, 2]), fileOf('b', [3])])
  const closed = {
    open: () => {
      throw new TypeError('Cannot open it again')
    },
  }
  const again = await loaded([fileOf('a', [1, 2], closed), fileOf('b', [3], closed)], { finished: kept })
  expect([again.kept, again.results]).toEqual([[], results])
  expect(withoutProgress(again.said)).toEqual(['a is released', 'b is released'])
  expect(states(again.said).at(-1)).toEqual([2, 2, 3, 300])
})
