/** Copies of a bucket's files on this machine: checked, trusted, bounded, shared by processes. */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { FetchProgress, FileFacts, Storage } from '../../src/storage/storage.ts'
import { listTree, statPath } from '../../src/support/list-files.ts'
import { temporaryName, thisProcess } from '../../src/support/process-identity.ts'
import { startChild } from '../support/children.ts'
import { smallDisk } from '../support/small-disk.ts'
import { type Fate, firstTime, type Passing, s3Error } from './loopback-proxy.ts'
import { factsOf, LAKE, s3Bench } from './s3-bench.ts'

const isRead = ({ method, url }: Passing): boolean => method === 'GET' && url.includes('x-id=GetObject')

const partPath = (number: number): string => `companies/load=1/p-${number}.parquet`

/** Puts files of the given contents into the bucket. */
const stored = async (
  storage: Storage,
  ...contents: readonly (string | Buffer)[]
): Promise<readonly FileFacts[]> => {
  for (const [at, data] of contents.entries()) await storage.replace(partPath(at), data)
  return contents.map((data, at) => factsOf(partPath(at), data))
}

/** Names of all files of the work folder, those of unfinished work too. */
const localFiles = async (storage: Storage): Promise<readonly string[]> =>
  (await listTree(storage.local))
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => path.slice(storage.local.length + 1))
    .filter((path) => !path.startsWith('_readers/'))

/** As if a copy was last asked for that many hours ago. */
const usedBefore = async (storage: Storage, path: string, hours: number): Promise<void> => {
  const time = Date.now() / 1000 - hours * 3600
  await utimes(join(storage.local, path), time, time)
}

describe('fetch', () => {
  test('tells how far it is, and asks nothing for files that are there', async (context) => {
    const { open, proxy } = await s3Bench(context)
    const storage = open()
    const files = await stored(storage, 'one', 'two!', '')
    const told: FetchProgress[] = []
    await storage.fetch(files, { onProgress: (progress) => told.push(progress) })
    expect(told.at(-1)).toEqual({ phase: 'fetching', files: 3, filesTotal: 3, bytes: 7, bytesTotal: 7 })
    for (const [at, { files: done, bytes }] of told.entries()) {
      expect(done).toBeGreaterThanOrEqual(told[at - 1]?.files ?? 0)
      expect(bytes).toBeGreaterThanOrEqual(told[at - 1]?.bytes ?? 0)
    }
    const requests = proxy.requests.length
    const again: FetchProgress[] = []
    await open().fetch(files, { onProgress: (progress) => again.push(progress) })
    expect(proxy.requests).toHaveLength(requests)
    expect(new Set(again.map(({ phase }) => phase))).toEqual(new Set(['checking']))
    await open().fetch(files, { known: 'all', onProgress: () => expect.unreachable() })
  })

  test('brings anew a copy that was damaged on this machine', async (context) => {
    const { open } = await s3Bench(context)
    const storage = open()
    const files = await stored(storage, 'one', 'two!')
    await storage.fetch(files)
    const copy = join(storage.local, files[1]?.path ?? '')
    await writeFile(copy, 'twO!')
    await open().fetch(files)
    expect(await readFile(copy, 'utf8')).toBe('two!')
  })

  test('names the file that is damaged, cut, too long or missing, and keeps nothing of it', async (context) => {
    const { open } = await s3Bench(context)
    const storage = open()
    const [good] = await stored(storage, 'good')
    for (const [now, was] of [
      ['changed', 'CHANGED'],
      ['cut', 'cut off'],
      ['too long', 'too'],
      ['', 'emptied'],
    ] as const) {
      await storage.replace(partPath(1), now)
      const damaged = storage.fetch([...(good ? [good] : []), factsOf(partPath(1), was)])
      await expect(damaged, now).rejects.toMatchObject({
        code: 'LAKE_DAMAGED',
        message: expect.stringContaining(`${LAKE}/${partPath(1)}`),
        context: { path: partPath(1) },
      })
    }
    await expect(storage.fetch([factsOf(partPath(2), 'missing')])).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
    })
    expect(await localFiles(storage)).toEqual([partPath(0)])
  })

  test('fetches a file again that came damaged once', async (context) => {
    const { open, proxy } = await s3Bench(
      context,
      firstTime(isRead, { kind: 'answered', status: 200, body: 'xxxx' }),
    )
    const files = await stored(open(), 'good')
    await open().fetch(files)
    expect(await readFile(join(open().local, partPath(0)), 'utf8')).toBe('good')
    expect(proxy.requests.filter((one) => one.startsWith('GET'))).toHaveLength(2)
  })

  test('fetches a copy again whose length has changed', async (context) => {
    const { open } = await s3Bench(context)
    const storage = open()
    const files = await stored(storage, 'good rows')
    await storage.fetch(files)
    await truncate(join(storage.local, partPath(0)), 4)
    await storage.fetch(files)
    expect(await readFile(join(storage.local, partPath(0)), 'utf8')).toBe('good rows')
  })

  test('takes a body up again that was cut', async (context) => {
    const data = randomBytes(3_000_000)
    const { open } = await s3Bench(context, firstTime(isRead, { kind: 'body cut' }))
    const files = await stored(open(), data)
    await open().fetch(files)
    expect(data.equals(await readFile(join(open().local, partPath(0))))).toBe(true)
  })

  test('fails where bodies are cut each time, and leaves nothing half', async (context) => {
    const { open } = await s3Bench(context, (passing) => (isRead(passing) ? { kind: 'body cut' } : undefined))
    const files = await stored(open(), randomBytes(3_000_000))
    await expect(open().fetch(files)).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect(await localFiles(open())).toEqual([])
  })

  test('comes to its end through a server that was killed in its midst and started again', async (context) => {
    let reads = 0
    const { open } = await s3Bench(context, async (passing, server): Promise<Fate> => {
      if (!isRead(passing)) return undefined
      reads += 1
      if (reads === 3) await server.kill()
      if (reads === 20) await server.start()
      return undefined
    })
    const contents = Array.from({ length: 12 }, () => randomBytes(200_000))
    const files = await stored(open(), ...contents)
    await open().fetch(files)
    for (const [at, data] of contents.entries())
      expect(data.equals(await readFile(join(open().local, partPath(at))))).toBe(true)
    expect(await localFiles(open())).toHaveLength(contents.length)
  })

  test('stops when it is aborted, with the reason and nothing half', async (context) => {
    const abort = new AbortController()
    const { open } = await s3Bench(context, (passing) => {
      if (isRead(passing)) abort.abort(new RangeError('enough'))
      return undefined
    })
    const files = await stored(open(), randomBytes(1_000_000), 'small')
    await expect(open().fetch(files, { signal: abort.signal })).rejects.toThrow('enough')
    await expect(open().examine(partPath(0), { signal: abort.signal }, async () => 0)).rejects.toThrow(
      'enough',
    )
    expect((await localFiles(open())).filter((path) => path.includes('.tmp-'))).toEqual([])
  })

  test('by several processes at once gives each the whole files', async (context) => {
    const { open } = await s3Bench(context)
    const storage = open()
    const contents = Array.from({ length: 30 }, () => randomBytes(100_000))
    const files = await stored(storage, ...contents)
    const children = ['one', 'two'].map(() =>
      startChild(new URL('child-fetch.ts', import.meta.url), LAKE, JSON.stringify(files)),
    )
    await storage.fetch(files)
    for (const child of children) {
      expect(await child.nextLine()).toBe('fetched')
      expect(await child.ended()).toBe(0)
    }
    for (const [at, data] of contents.entries())
      expect(data.equals(await readFile(join(storage.local, partPath(at))))).toBe(true)
    expect(await localFiles(storage)).toHaveLength(contents.length)
  })
})

describe('the bound of the copies', () => {
  test('removes what was not used for longest, and nothing that is at work or was just asked for', async (context) => {
    const { open } = await s3Bench(context, undefined, { FIRMLAKE_CACHE_BYTES: '25B' })
    const storage = open()
    const files = await stored(storage, 'aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd')
    const [a, b, c, d] = files
    if (!a || !b || !c || !d) throw new TypeError('Four files were stored')
    const staged = join(storage.local, '_runs/run-1/staging/part-0')
    await storage.fetch([a, b])
    await mkdir(dirname(staged), { recursive: true })
    await writeFile(staged, 'staged rows of a run that waits')
    await utimes(staged, 1, 1)
    await usedBefore(storage, a.path, 2)
    await usedBefore(storage, b.path, 3)
    // Asking for it is using it, also when it is there.
    await storage.fetch([b])
    await storage.fetch([c])
    expect(await localFiles(storage)).toEqual(['_runs/run-1/staging/part-0', b.path, c.path])
    await usedBefore(storage, b.path, 2)
    await usedBefore(storage, c.path, 3)
    await storage.fetch([b, c, d])
    expect(await localFiles(storage)).toEqual(['_runs/run-1/staging/part-0', b.path, c.path, d.path])
  })

  test('leaves what this process asked for within the last hour', async (context) => {
    const { open } = await s3Bench(context, undefined, { FIRMLAKE_CACHE_BYTES: '1' })
    const files = await stored(open(), 'aaaaaaaaaa', 'bbbbbbbbbb')
    for (const file of files) await open().fetch([file])
    expect(await localFiles(open())).toHaveLength(2)
  })

  test('holds within the hour too, but for what a process that still runs may have open', async (context) => {
    const { open } = await s3Bench(context, undefined, { FIRMLAKE_CACHE_BYTES: '1' })
    const storage = open()
    const [a, b, c] = await stored(storage, 'aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc')
    if (!a || !b || !c) throw new TypeError('Three files were stored')
    const reader = startChild(
      new URL('child-fetch.ts', import.meta.url),
      ...[LAKE, JSON.stringify([a]), 'stay'],
    )
    expect(await reader.nextLine()).toBe('fetched')
    await storage.fetch([b])
    expect(await localFiles(storage)).toEqual([a.path, b.path])
    await reader.kill()
    await storage.fetch([c])
    expect(await localFiles(storage)).toEqual([b.path, c.path])
  })

  test('removes what killed processes left, and not what others work on', async (context) => {
    const { open } = await s3Bench(context)
    const storage = open()
    const files = await stored(storage, 'rows')
    const folder = dirname(join(storage.local, partPath(0)))
    await mkdir(folder, { recursive: true })
    const dead = temporaryName({ ...thisProcess(), pid: 2 ** 30 })
    const live = temporaryName()
    for (const place of [folder, storage.local])
      for (const name of [dead, live]) await writeFile(join(place, name), 'half')
    await storage.fetch(files)
    expect(await localFiles(storage)).toEqual(
      [live, join(dirname(partPath(0)), live), partPath(0)].toSorted(),
    )
  })

  test('makes room on a full disk, and fails with DISK_FULL where that is not enough', async (context) => {
    const folder = await smallDisk(context, 1_500_000)
    const { open } = await s3Bench(context, undefined, { FIRMLAKE_WORK_DIR: folder })
    const storage = open()
    const [a, b, c] = await stored(
      storage,
      randomBytes(800_000),
      randomBytes(900_000),
      randomBytes(2_000_000),
    )
    if (!a || !b || !c) throw new TypeError('Three files were stored')
    await storage.fetch([a])
    await storage.fetch([b])
    expect(await localFiles(storage)).toEqual([b.path])
    await expect(storage.fetch([c])).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await localFiles(storage)).toEqual([])
    await expect(storage.examine(c.path, {}, async () => 0)).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(await localFiles(storage)).toEqual([])
  })

  test.for(['much', '-5', '5 parsecs', '1e9'])('of %s is refused', async (text, context) => {
    const { open } = await s3Bench(context, undefined, { FIRMLAKE_CACHE_BYTES: text })
    await expect(open().fetch([])).rejects.toMatchObject({ code: 'USAGE' })
  })
})

test('fetchTo keeps nothing beside its folder, takes a copy that is there, and fetches a damaged one', async (context) => {
  const { open, proxy } = await s3Bench(context)
  const storage = open()
  const [there, damaged, missing] = await stored(storage, 'rows', 'more', 'other')
  if (!there || !damaged || !missing) throw new TypeError('Three files were stored')
  await storage.fetch([there, damaged])
  await writeFile(join(storage.local, damaged.path), 'MORE')
  const before = proxy.requests.length
  const folder = join(storage.local, '_runs/run-1/files')
  await storage.fetchTo(folder, [there, damaged, missing])
  expect(proxy.requests.slice(before)).toHaveLength(2)
  expect(await readFile(join(folder, damaged.path), 'utf8')).toBe('more')
  await rm(folder, { recursive: true })
  expect(await localFiles(storage)).toEqual([there.path, damaged.path])
})

test('fetch to a place that cannot be written is a failure to write', async (context) => {
  const { open } = await s3Bench(context)
  const files = await stored(open(), 'rows')
  const file = join(open().local, '..', 'file')
  await writeFile(file, '')
  vi.stubEnv('FIRMLAKE_WORK_DIR', file)
  await expect(open().fetch(files)).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  expect(await statPath(open().local)).toBeNull()
})

test('a refusal in the midst of a fetch is told as such', async (context) => {
  const { open } = await s3Bench(context, (passing) =>
    isRead(passing) ? s3Error(403, 'AccessDenied') : undefined,
  )
  const files = await stored(open(), 'rows')
  await expect(open().fetch(files)).rejects.toMatchObject({ code: 'STORAGE_REFUSED' })
})
