/** What every storage must do, as one suite: the interface of `src/storage/storage.ts`, method by method. */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import type { FileFacts, Storage } from '../../src/storage/storage.ts'
import { sha256Of } from '../../src/support/hash.ts'

export interface StorageUnderTest {
  /** A new, empty place. `open` gives a new storage object on it, as another process would make it. */
  readonly make: (context: TestContext) => Promise<{ readonly open: () => Storage }>
}

const PATHS = [
  'plain.txt',
  'a/b/c/deep.txt',
  'with space/and  two.txt',
  'ünï/cödé—日本.txt',
  '100%/%20/%2F.txt',
  'plus+and&and=and;.txt',
  'quotes\'and"and<>.txt',
  '_runs/20261121T094500123Z-1f9a2c/owner-1.json',
  'companies/load=20261121T094500123Z-1f9a2c/p-0.parquet',
  '#hash?question.txt',
]

const text = async (storage: Storage, path: string): Promise<string | undefined> =>
  (await storage.read(path))?.toString()

const lines = async (storage: Storage, path: string): Promise<readonly string[] | undefined> => {
  const found = await storage.readLines(path)
  return found === null ? undefined : Array.fromAsync(found, String)
}

const paths = async (storage: Storage, folder: string): Promise<readonly string[]> =>
  (await storage.list(folder)).map(({ path }) => path)

const factsOf = (path: string, data: string | Uint8Array): FileFacts => ({
  path,
  bytes: Buffer.byteLength(data),
  sha256: sha256Of(data),
})

/** Writes a staged file, as a sink does. */
const stage = async (storage: Storage, data: string | Uint8Array, name = 'part-0'): Promise<string> => {
  const path = join(storage.local, '_runs', 'run-1', 'staging', name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, data)
  return path
}

export const describeStorage = (name: string, { make }: StorageUnderTest): void => {
  const opened = async (context: TestContext): Promise<Storage> => {
    const storage = (await make(context)).open()
    await storage.prepare([])
    return storage
  }

  describe(name, () => {
    test('prepare makes folders that can be seen, and may be called again', async (context) => {
      const storage = await opened(context)
      expect(await storage.hasFolder('_manifest')).toBe(false)
      await storage.prepare(['_manifest', '_runs'])
      await storage.prepare(['_manifest', '_runs'])
      expect(await storage.hasFolder('_manifest')).toBe(true)
      expect(await storage.entries('')).toEqual([
        { name: '_manifest', kind: 'folder' },
        { name: '_runs', kind: 'folder' },
      ])
      expect(await storage.list('')).toEqual([])
      expect(await storage.entries('_runs')).toEqual([])
    })

    test('what is not there is told as such', async (context) => {
      const storage = await opened(context)
      expect(await storage.stat('none')).toBeNull()
      expect(await storage.read('none/at/all')).toBeNull()
      expect(await storage.list('none')).toEqual([])
      expect(await storage.entries('none')).toEqual([])
      expect(await storage.hasFolder('none')).toBe(false)
      expect(await storage.readLines('none')).toBeNull()
      expect(await storage.examine('none', {}, async () => 'used')).toBeNull()
      await storage.remove(['none', 'none/at/all'])
      await storage.removeFolder('none')
    })

    test('create makes files of any name, which then are read, looked at, listed and removed', async (context) => {
      const storage = await opened(context)
      for (const path of PATHS) {
        expect(await storage.create(path, `content of ${path}`)).toBe(true)
        expect(await text(storage, path)).toBe(`content of ${path}`)
        const bytes = Buffer.byteLength(`content of ${path}`)
        expect(await storage.stat(path)).toEqual({ path, bytes, changedMs: expect.any(Number) })
        expect(await paths(storage, '')).toEqual([path])
        expect(await paths(storage, dirname(path).replace(/^\.$/, ''))).toEqual([path])
        await storage.remove([path])
        expect(await storage.read(path)).toBeNull()
        expect(await paths(storage, '')).toEqual([])
      }
    })

    test('create leaves the file that is there as it is', async (context) => {
      const storage = await opened(context)
      expect(await storage.create('a/one', 'first')).toBe(true)
      expect(await storage.create('a/one', 'second')).toBe(false)
      expect(await storage.create('a/one', 'first')).toBe(false)
      expect(await text(storage, 'a/one')).toBe('first')
    })

    test('create keeps an empty file and one of 20 MB as they are', async (context) => {
      const storage = await opened(context)
      const large = randomBytes(20_000_000)
      expect(await storage.create('empty', '')).toBe(true)
      expect(await storage.create('large', large)).toBe(true)
      expect(await storage.create('large', randomBytes(20_000_000))).toBe(false)
      expect(await storage.read('empty')).toEqual(Buffer.alloc(0))
      expect(large.equals((await storage.read('large')) ?? Buffer.alloc(0))).toBe(true)
      expect((await storage.list('')).map(({ bytes }) => bytes)).toEqual([0, 20_000_000])
    })

    test('of 16 that create one path at once exactly one wins, and readers see all of it or nothing', async (context) => {
      const { open } = await make(context)
      const contents = Array.from({ length: 16 }, (_, at) => `${at}-`.repeat(50_000))
      const reader = open()
      await reader.prepare([])
      let over = false
      const seen = new Set<string>()
      const reading = (async () => {
        while (!over) seen.add((await text(reader, '_manifest/1.json')) ?? '')
      })()
      const created = await Promise.all(contents.map((data) => open().create('_manifest/1.json', data)))
      over = true
      await reading
      const winner = contents[created.indexOf(true)]
      expect(created.filter(Boolean)).toHaveLength(1)
      expect(await text(reader, '_manifest/1.json')).toBe(winner)
      expect([...seen].filter((content) => content !== '' && content !== winner)).toEqual([])
      expect(await paths(reader, '')).toEqual(['_manifest/1.json'])
    })

    test('replace writes a file, and over an older one', async (context) => {
      const storage = await opened(context)
      await storage.replace('a/one', 'a long first text')
      await storage.replace('a/one', 'short')
      expect(await text(storage, 'a/one')).toBe('short')
      expect(await paths(storage, '')).toEqual(['a/one'])
    })

    test('list and entries tell what is in a folder and not what only begins like it', async (context) => {
      const storage = await opened(context)
      const all = ['a.txt', 'a/Z', 'a/b/one', 'a/b/two', 'a/z', 'a/é', 'ab/three', 'b']
      for (const path of all.toReversed()) await storage.create(path, path)
      expect(await paths(storage, '')).toEqual(all)
      expect(await paths(storage, 'a')).toEqual(['a/Z', 'a/b/one', 'a/b/two', 'a/z', 'a/é'])
      expect(await paths(storage, 'a/b')).toEqual(['a/b/one', 'a/b/two'])
      expect(await storage.entries('')).toEqual([
        { name: 'a', kind: 'folder' },
        { name: 'a.txt', kind: 'file' },
        { name: 'ab', kind: 'folder' },
        { name: 'b', kind: 'file' },
      ])
      expect(await storage.entries('a')).toEqual([
        { name: 'Z', kind: 'file' },
        { name: 'b', kind: 'folder' },
        { name: 'z', kind: 'file' },
        { name: 'é', kind: 'file' },
      ])
      expect(await storage.hasFolder('a/b')).toBe(true)
      expect(await storage.hasFolder('a/z')).toBe(false)
      expect(await storage.stat('a')).toBeNull()
    })

    test('createFolder makes all its files, and only where there is no such folder', async (context) => {
      const { open } = await make(context)
      const storage = open()
      await storage.prepare(['_runs'])
      const files = (owner: string) =>
        new Map([
          ['plan.json', '{}'],
          ['journal.jsonl', ''],
          ['owner-1', owner],
        ])
      const made = await Promise.all(
        ['a', 'b', 'c', 'd'].map((own) => open().createFolder('_runs/one', files(own))),
      )
      expect(made.filter(Boolean)).toHaveLength(1)
      expect(await paths(storage, '_runs')).toEqual(
        ['journal.jsonl', 'owner-1', 'plan.json'].map((n) => `_runs/one/${n}`),
      )
      expect(await text(storage, '_runs/one/owner-1')).toBe(['a', 'b', 'c', 'd'][made.indexOf(true)])
      expect(await storage.createFolder('_runs/one', files('e'))).toBe(false)
      expect(await storage.createFolder('_runs/two', files('e'))).toBe(true)
    })

    test('remove takes away what is named, twice without an error, and nothing else', async (context) => {
      const storage = await opened(context)
      for (const path of ['a/one', 'a/two', 'b/one']) await storage.create(path, path)
      await storage.remove(['a/one', 'b/one', 'a/none'])
      await storage.remove(['a/one', 'b/one'])
      await storage.remove([])
      expect(await paths(storage, '')).toEqual(['a/two'])
      expect(await storage.create('a/one', 'again')).toBe(true)
    })

    test('removeFolder takes away all below it, twice without an error, and nothing else', async (context) => {
      const storage = await opened(context)
      await storage.prepare(['_runs', '_runs/one/empty'])
      for (const path of ['one', 'one/a', 'one/b/c', 'one/owner', 'one-more/a'].map(
        (name) => `_runs/${name}`,
      ))
        if (path !== '_runs/one') await storage.create(path, path)
      await storage.removeFolder('_runs/one', 'owner')
      await storage.removeFolder('_runs/one', 'owner')
      expect(await storage.hasFolder('_runs/one')).toBe(false)
      expect(await storage.hasFolder('_runs')).toBe(true)
      expect(await paths(storage, '')).toEqual(['_runs/one-more/a'])
      expect(await storage.createFolder('_runs/one', new Map([['owner', 'next']]))).toBe(true)
    })

    test('a staged file that is staged, published and synced stands whole in its place', async (context) => {
      const storage = await opened(context)
      const large = randomBytes(20_000_000)
      const placements = [
        {
          from: await stage(storage, 'rows', 'p-0'),
          to: 'companies/load=1/p-0.parquet',
          data: Buffer.from('rows'),
        },
        { from: await stage(storage, '', 'p-1'), to: 'companies/load=1/p-1.parquet', data: Buffer.alloc(0) },
        { from: await stage(storage, large, 'p-2'), to: 'financials/load=1/p-0.parquet', data: large },
      ]
      await Promise.all(placements.map(({ from, to, data }) => storage.stage(from, factsOf(to, data))))
      await storage.publish(placements)
      await storage.sync(placements.map(({ to }) => to))
      for (const { to, data } of placements)
        expect(data.equals((await storage.read(to)) ?? Buffer.from('none')), to).toBe(true)
      // As after a crash in the midst of it, by another process.
      for (const { from, to, data } of placements) await storage.stage(from, factsOf(to, data))
      await storage.publish(placements)
      expect((await paths(storage, '')).filter((path) => !path.startsWith('_runs/'))).toEqual(
        placements.map(({ to }) => to),
      )
      expect(await storage.stat('_runs/run-1/staging/p-0')).toBeNull()
    })

    test('stage of the same path again replaces what was staged', async (context) => {
      const storage = await opened(context)
      const to = 'companies/load=1/p-0.parquet'
      for (const data of ['first rows', 'second']) {
        const from = await stage(storage, data)
        await storage.stage(from, factsOf(to, data))
        if (data === 'second') await storage.publish([{ from, to }])
      }
      expect(await text(storage, to)).toBe('second')
    })

    test('fetchTo brings files to where it says, checks them and leaves the storage as it is', async (context) => {
      const storage = await opened(context)
      const [one, two] = [factsOf('companies/load=1/p.parquet', 'rows'), factsOf('a/b.parquet', 'more')]
      await storage.replace(one.path, 'rows')
      await storage.replace(two.path, 'more')
      await storage.fetch([two])
      const folder = join(storage.local, '_runs', 'run-1', 'files')
      const above = await storage.fetchTo(folder, [one, two])
      expect(await readFile(join(above, one.path), 'utf8')).toBe('rows')
      expect(await readFile(join(above, two.path), 'utf8')).toBe('more')
      await rm(folder, { recursive: true, force: true })
      expect(await readFile(join(storage.local, two.path), 'utf8')).toBe('more')
      expect(await text(storage, one.path)).toBe('rows')
      await expect(storage.fetchTo(folder, [factsOf(one.path, 'rowS')])).rejects.toMatchObject({
        code: 'LAKE_DAMAGED',
        context: { path: one.path },
      })
      await expect(storage.fetchTo(folder, [factsOf('a/none.parquet', 'rows')])).rejects.toMatchObject({
        code: 'LAKE_DAMAGED',
      })
    })

    test('fetch brings files to the local folder', async (context) => {
      const storage = await opened(context)
      const files = Array.from({ length: 20 }, (_, at) =>
        factsOf(`companies/load=ü ${at}/p%20.parquet`, `rows ${at}`),
      )
      for (const [at, { path }] of files.entries()) await storage.replace(path, `rows ${at}`)
      await storage.fetch(files)
      await storage.fetch([])
      await storage.fetch([...files, ...files])
      for (const [at, { path }] of files.entries())
        expect(await readFile(join(storage.local, path), 'utf8')).toBe(`rows ${at}`)
    })

    test('examine reads what is stored now, to its end', async (context) => {
      const storage = await opened(context)
      const path = 'companies/load=1/p-0.parquet'
      await storage.replace(path, 'first')
      await storage.fetch([factsOf(path, 'first')])
      await storage.replace(path, 'a\nb\nc')
      const found = await storage.examine(path, { countLines: true }, async (hash, local) => ({
        ...hash,
        text: await readFile(local, 'utf8'),
      }))
      expect(found).toEqual({ bytes: 5, lines: 3, sha256: sha256Of('a\nb\nc'), text: 'a\nb\nc' })
      expect(await storage.examine(path, {}, async ({ lines }) => lines)).toBe(0)
      await expect(
        storage.examine(path, {}, async () => {
          throw new RangeError('no')
        }),
      ).rejects.toThrow(RangeError)
      expect(await paths(storage, '')).toEqual([path])
    })

    test('a log returns its lines, and is continued where it ended', async (context) => {
      const { open } = await make(context)
      const storage = open()
      await storage.prepare(['_runs'])
      const path = '_runs/one/journal.jsonl'
      const first = await storage.openLines(path)
      expect(await lines(storage, path)).toEqual([])
      await Promise.all(['{"a":1}', 'ünï 日本', ''].map((line) => first.append(line)))
      await first.close()
      const second = await open().openLines(path)
      expect(await lines(storage, path)).toEqual(['{"a":1}', 'ünï 日本', ''])
      await second.append('fourth')
      await second.close()
      expect(await lines(open(), path)).toEqual(['{"a":1}', 'ünï 日本', '', 'fourth'])
      await storage.removeFolder('_runs/one')
      expect(await storage.readLines(path)).toBeNull()
    })

    test('a log goes on behind the lines that it should keep', async (context) => {
      const storage = await opened(context)
      const log = await storage.openLines('log')
      for (const line of ['one', 'two', 'three', 'four']) await log.append(line)
      await log.close()
      const cut = await storage.openLines('log', 2)
      expect(await lines(storage, 'log')).toEqual(['one', 'two'])
      await cut.append('other')
      await cut.close()
      expect(await lines(storage, 'log')).toEqual(['one', 'two', 'other'])
      await (await storage.openLines('log', 9)).close()
      expect(await lines(storage, 'log')).toEqual(['one', 'two', 'other'])
    })

    test('an empty file is an empty log, and logs of similar names stay apart', async (context) => {
      const storage = await opened(context)
      await storage.create('run/log', '')
      expect(await lines(storage, 'run/log')).toEqual([])
      const [one, other] = [await storage.openLines('run/log'), await storage.openLines('run/log2')]
      await one.append('of one')
      await other.append('of the other')
      await Promise.all([one.close(), other.close()])
      expect(await lines(storage, 'run/log')).toEqual(['of one'])
      expect(await lines(storage, 'run/log2')).toEqual(['of the other'])
    })
  })
}
