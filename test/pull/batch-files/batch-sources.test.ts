/** Batch files of a service, over loopback, into a lake. */

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type BatchPull, type BatchPullOptions, pullBatches } from '../../../src/jobs/pull-batch-files.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { type BatchSelection, chooseBatchFiles } from '../../../src/pull/batch-files/choose-batch-files.ts'
import { checkBatchFile } from '../../../src/pull/batch-files/fetch-batch.ts'
import { createService, type ListedBatchFile } from '../../../src/source/service/service.ts'
import { summariseSnapshot } from '../../manifest/summarise-snapshot.ts'
import {
  companyLine,
  companyLines,
  hashLake,
  openBench,
  queryLake,
  runIn,
  sha256,
  textOf,
  verify,
} from '../../run/batch-bench.ts'
import { type BatchService, type Offered, offer, startBatchService, TOKEN } from '../../run/batch-service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const serving = async (...files: readonly Offered[]): Promise<BatchService> => {
  const service = await startBatchService(files)
  onTestFinished(service.close)
  return service
}

const ALL: BatchSelection = { kind: 'all' }

const pull = async (
  { url }: BatchService,
  lake: string,
  options: Partial<BatchPullOptions> & { readonly selection?: BatchSelection } = {},
): Promise<BatchPull> => {
  const timing = { now: Date.now, random: () => 0, sleep: async () => undefined }
  const service = createService({ url, token: TOKEN, timing })
  const { selection = ALL, ...rest } = options
  try {
    const limit = { kind: 'count', lines: 0 } as const
    return await pullBatches(url, selection, false, {
      lake,
      maxQuarantined: limit,
      service,
      concurrency: 2,
      ...rest,
    })
  } finally {
    await service.close()
  }
}

const countOf = async (lake: string): Promise<unknown> =>
  (await queryLake(lake, 'SELECT count(*) FROM companies'))[0]?.[0]

const flipped = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}

test('batch files make the lake that converting them makes, and say where they came from', async () => {
  const folder = await temporaryFolder()
  const files = [offer('b-1', companyLines(50)), offer('b-2', companyLines(50, 40))]
  const service = await serving(...files)
  const lake = join(folder, 'pulled')
  await pull(service, lake)
  const { partitions } = await readSnapshot(lake)
  expect(partitions.map(({ source }) => [source.kind, source.name, source.bytes, source.batch])).toEqual(
    files.map(({ id, bytes }) => [
      'batch',
      `${id}.jsonl.br`,
      bytes.length,
      { service: service.url, id, etag: expect.any(String), announced: 50 },
    ]),
  )
  for (const { id, bytes } of files) await writeFile(join(folder, `${id}.jsonl.br`), bytes)
  const converted = join(folder, 'converted')
  await runIn(folder, converted, ['b-1.jsonl.br', 'b-2.jsonl.br'])
  expect(await hashLake(lake)).toEqual(await hashLake(converted))
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})

test('of a company in two files the one that was made later counts, however they are listed', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const version = (id: string, name: string, day: number): Offered =>
    offer(id, [companyLine(1, { LinkedIn: { Name: name } })], { listed: { CreatedAt: `2026-02-0${day}` } })
  const service = await serving(version('b-new', 'new', 2), version('b-old', 'old', 1))
  await pull(service, lake)
  expect(await queryLake(lake, 'SELECT linkedin.name FROM companies')).toEqual([['new']])
})

test.each(['b-new', 'b-old', 'both'])(
  'where the listing has no date of %s, the stamps of the file say as of when it is',
  async (undated) => {
    const lake = join(await temporaryFolder(), 'lake')
    const made = (id: string, day: number): Offered => {
      const CreatedAt = undated === 'both' || undated === id ? undefined : `2026-01-0${day}T05:00:00Z`
      const MetaData = { ContentUpdatedAt: `2026-01-0${day}T00:00:00Z` }
      return offer(id, [companyLine(1, { LinkedIn: { Name: id }, MetaData })], { listed: { CreatedAt } })
    }
    const service = await serving(made('b-new', 9), made('b-old', 8))
    await pull(service, lake)
    const [newer, older] = ['b-new', 'b-old'].map((id, at) =>
      undated === 'both' || undated === id
        ? `2026-01-0${9 - at} 00:00:00+00`
        : `2026-01-0${9 - at} 05:00:00+00`,
    )
    expect(
      await queryLake(
        lake,
        'SELECT linkedin.name, as_of::VARCHAR, is_current FROM companies_history ORDER BY as_of',
      ),
    ).toEqual([
      ['b-old', older, false],
      ['b-new', newer, true],
    ])
  },
)

const LINES = companyLines(200)
const WHOLE = offer('b-1', LINES)

test.each<[string, Buffer]>([
  ['a changed byte', flipped(WHOLE.bytes, 20)],
  ['its end missing', WHOLE.bytes.subarray(0, -10)],
  ['bytes behind its end', Buffer.concat([WHOLE.bytes, Buffer.from('no Brotli')])],
  ['fewer lines than the listing counts', brotliCompressSync(textOf(LINES.slice(1)))],
])('a file that comes with %s is fetched again', async (_, bytes) => {
  const lake = join(await temporaryFolder(), 'lake')
  const answer = (attempt: number): object => (attempt === 1 ? { bytes } : {})
  const service = await serving({ ...WHOLE, answer })
  const { summary } = await pull(service, lake)
  expect(service.requests).toHaveLength(2)
  expect(summary?.partitions[0]?.counts).toMatchObject({ records: 200, quarantined: 0 })
})

test('a file that is damaged each time fails the run before a line of it is loaded', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const bytes = WHOLE.bytes.subarray(0, -10)
  const service = await serving(offer('b-0', companyLines(5, 900)), { ...WHOLE, answer: () => ({ bytes }) })
  await expect(pull(service, lake)).rejects.toMatchObject({
    code: 'DOWNLOAD_DAMAGED',
    context: { batch: 'b-1', tries: 3 },
  })
  expect(service.requests.filter(({ id }) => id === 'b-1')).toHaveLength(3)
  await expect(readSnapshot(lake)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })

  // The service mends it: the next call goes on with the run, and fetches only what is missing.
  service.files[1] = WHOLE
  const [run] = await listRunIds(lake)
  expect((await pull(service, lake)).summary?.run).toBe(run)
  expect(service.requests.filter(({ id }) => id === 'b-0')).toHaveLength(1)
  expect(await countOf(lake)).toBe(205)
})

test('a count of the listing that never fits is recorded, not refused', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const service = await serving(offer('b-1', companyLines(5), { listed: { Count: 6 } }))
  await pull(service, lake)
  expect(service.requests).toHaveLength(2)
  const { differences } = summariseSnapshot(await readSnapshot(lake))
  expect(differences).toMatchObject([{ kind: 'batch', name: 'b-1.jsonl.br', announced: 6, received: 5 }])
})

test('a length that is not the listed one is damage, unless the listing has changed too', async () => {
  const [bad, good] = [join(await temporaryFolder(), 'bad'), join(await temporaryFolder(), 'good')]
  const service = await serving(offer('b-1', companyLines(5), { listed: { SizeInBytes: 7 } }))
  await expect(pull(service, bad)).rejects.toMatchObject({ code: 'DOWNLOAD_DAMAGED' })

  const replaced = offer('b-2', companyLines(9))
  service.files[0] = {
    ...offer('b-2', companyLines(5)),
    answer: () => {
      service.files[0] = replaced
      return { bytes: replaced.bytes }
    },
  }
  const { summary } = await pull(service, good)
  expect(summary?.partitions[0]).toMatchObject({
    source: { batch: { announced: 9 } },
    counts: { records: 9 },
  })
})

test('a file that changes in the middle of its download is fetched from its start', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const after = offer('b-1', companyLines(200, 5000))
  const service = await serving({
    ...after,
    answer: (attempt) =>
      attempt === 1 ? { bytes: WHOLE.bytes, etag: '"one"', cutAfter: 500 } : { etag: '"two"' },
  })
  await pull(service, lake)
  expect(service.requests.map(({ range }) => range)).toEqual([undefined, 'bytes=500-'])
  expect(await queryLake(lake, 'SELECT count(*), min(internal_id) FROM companies')).toEqual([[200, 5000]])
})

test('a body that is said to be encoded with Brotli in transfer is the same file', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const { summary } = await pull(await serving({ ...WHOLE, answer: () => ({ encoding: 'br' }) }), lake)
  expect(summary?.partitions[0]).toMatchObject({
    source: { bytes: WHOLE.bytes.length, sha256: sha256(WHOLE.bytes) },
    counts: { records: 200 },
  })
})

test('a file whose name does not tell its compression is Brotli', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const answer = (attempt: number): object => (attempt === 1 ? { bytes: flipped(WHOLE.bytes, 0) } : {})
  const service = await serving({ ...WHOLE, listed: { ...WHOLE.listed, FileName: 'export 17' }, answer })
  const { summary } = await pull(service, lake)
  expect(summary?.partitions[0]).toMatchObject({ source: { name: 'export 17' }, counts: { records: 200 } })
})

test('a run that is stopped in a download resumes where it stood', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const controller = new AbortController()
  const held = Promise.withResolvers<void>()
  onTestFinished(() => held.resolve())
  const service = await serving(offer('b-0', companyLines(5, 900)), {
    ...WHOLE,
    answer: (attempt) => (attempt === 1 ? { cutAfter: 400, hold: held.promise } : {}),
  })
  let [records, received] = [0, 0]
  const stopWhenBegun = (): void => {
    if (records >= 5 && received >= (service.files[0]?.bytes.length ?? 0) + 400) controller.abort()
  }
  const run = pull(service, lake, {
    signal: controller.signal,
    onBytes: (bytes) => {
      received = bytes
      stopWhenBegun()
    },
    onEvent: (event) => {
      if (event.kind === 'progress') records = event.progress.records
      stopWhenBegun()
    },
  })
  await expect(run).rejects.toMatchObject({ code: 'INTERRUPTED' })
  await pull(service, lake)
  expect(service.requests.filter(({ id }) => id === 'b-1').map(({ range }) => range)).toEqual([
    undefined,
    'bytes=400-',
  ])
  expect(service.requests.filter(({ id }) => id === 'b-0')).toHaveLength(1)
  expect(await countOf(lake)).toBe(205)
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('as many files as allowed are downloaded side by side, and few wait on the disk', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const two = Promise.withResolvers<void>()
  const begun = new Set<number>()
  const files = Array.from({ length: 9 }, (_, at) =>
    offer(`b-${at}`, companyLines(3, 1 + at * 10), {
      // The first two wait for each other: they come side by side or never.
      answer: () => {
        if (at < 2 && begun.add(at).size === 2) two.resolve()
        return at < 2 ? { hold: two.promise } : {}
      },
    }),
  )
  const service = await serving(...files)
  const spooled: number[] = []
  await pull(service, lake, {
    onEvent: async ({ kind }) => {
      const [run] = kind === 'source' ? await listRunIds(lake) : []
      if (run === undefined) return
      const names = await readdir(join(lake, '_runs', run, 'spool')).catch(() => [])
      spooled.push(names.filter((name) => /^batch-.*\.br(\.part)?$/.test(name)).length)
    },
  })
  expect(service.load.most).toBeGreaterThanOrEqual(2)
  // Besides those ahead: the ones being loaded, and the one that is asked for meanwhile. Not all nine.
  expect(Math.max(...spooled)).toBeLessThanOrEqual(6)
  expect(await countOf(lake)).toBe(27)
})

test('a file whose bytes were converted before is downloaded, and not loaded', async () => {
  const one = openBench(await temporaryFolder())
  const service = await serving(WHOLE)
  await one.write('local.jsonl.br', WHOLE.bytes)
  await one.run(['local.jsonl.br'])
  const { summary } = await pull(service, one.lake)
  expect(summary).toMatchObject({ snapshot: undefined, skipped: [{ source: 'b-1.jsonl.br' }] })
  expect((await one.snapshot()).snapshot).toBe(1)
})

test('what the lake holds is not downloaded again, unless its size has changed', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const service = await serving(WHOLE)
  await pull(service, lake)
  expect(await pull(service, lake)).toMatchObject({ summary: undefined, held: [{ id: 'b-1' }] })
  expect(service.requests).toHaveLength(1)
  service.files[0] = offer('b-1', companyLines(300))
  await pull(service, lake)
  expect(await countOf(lake)).toBe(300)
})

const listed = (id: string, more: Partial<ListedBatchFile> = {}): ListedBatchFile => ({
  id,
  name: id,
  ...more,
})
const EMPTY = { snapshot: null, service: 'https://localhost:1', again: false }
const idsOf = (selection: BatchSelection, files: readonly ListedBatchFile[]): string[] =>
  chooseBatchFiles(files, selection, EMPTY).files.map(({ id }) => id)

test('chooseBatchFiles names every id that is not listed', () => {
  const ids = ['b-1', 'b-9', 'b-8']
  expect(() => idsOf({ kind: 'ids', ids }, [listed('b-1')])).toThrow(
    expect.objectContaining({ code: 'SERVICE_NOT_FOUND', message: expect.stringContaining('"b-9", "b-8"') }),
  )
})

test('chooseBatchFiles filters by content and country, and leaves out what does not say', () => {
  const files = [
    listed('a', { content: 'companies', countryCode: 'SE' }),
    listed('b', { content: 'relations', countryCode: 'se' }),
    listed('c', { content: 'companies', countryCode: 'NO' }),
    listed('d'),
  ]
  expect(idsOf({ kind: 'all' }, files)).toEqual(['a', 'b', 'c', 'd'])
  expect(idsOf({ kind: 'all', content: 'companies' }, files)).toEqual(['a', 'c'])
  expect(idsOf({ kind: 'all', countries: ['SE', 'FI'] }, files)).toEqual(['a', 'b'])
})

test('chooseBatchFiles puts the oldest first where all are dated, and takes an id once', () => {
  const [old, young] = [
    listed('old', { createdAt: '2025-01-01' }),
    listed('young', { createdAt: '2026-01-01' }),
  ]
  expect(idsOf({ kind: 'ids', ids: ['young', 'old', 'old'] }, [young, old, old])).toEqual(['old', 'young'])
  expect(idsOf(ALL, [young, old, listed('undated')])).toEqual(['young', 'old', 'undated'])
})

test('checkBatchFile counts lines that are not blank, also one too long and one without its end', async () => {
  const path = join(await temporaryFolder(), 'x.br')
  const text = `{"a":1}\n\n \r\n{"b":"${'x'.repeat(5000)}"}\r\n\t{}\n{"last":1}`
  await writeFile(path, brotliCompressSync(Buffer.from(text)))
  const check = await checkBatchFile(path, { name: 'x', maxLineBytes: 1000 })
  expect(check).toMatchObject({ kind: 'sound', lines: 4 })
})
