import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findLocalSources, localSources, openSourceFile, openStdin } from '../../src/source/local-sources.ts'

let folder = ''
const at = (...names: string[]) => join(folder, ...names)
const make = async (...names: string[]) => {
  for (const name of names) {
    await mkdir(join(at(name), '..'), { recursive: true })
    await writeFile(at(name), name)
  }
}
/** What was found, as paths below the test's folder. */
const found = async (...inputs: string[]) =>
  (await findLocalSources(inputs)).sources.map((source) =>
    source.kind === 'stdin' ? 'stdin' : source.path.replace(`${folder}/`, ''),
  )

const read = async (chunks: AsyncIterable<Buffer>) => {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-local-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('findLocalSources gives a file with its path and length', async () => {
  await make('a.br')
  expect((await findLocalSources([at('a.br')])).sources).toEqual([
    { kind: 'file', path: at('a.br'), bytes: 4 },
  ])
})

test('findLocalSources gives all files below a folder sorted by name, without hidden ones', async () => {
  await make('b.br', 'a.br', 'sub/c.br', 'Z.br', '.hidden.br', '.git/d.br', 'sub/.e.br')
  expect(await found(folder)).toEqual(['Z.br', 'a.br', 'b.br', 'sub/c.br'])
})

test('findLocalSources gives the files that match a pattern sorted by name', async () => {
  await make('b.br', 'a.br', 'a.gz', 'sub/c.br', '.d.br', 'dir.br/e.txt')
  expect(await found(at('*.br'))).toEqual(['a.br', 'b.br'])
  expect(await found(at('**/*.{br,gz}'))).toEqual(['a.br', 'a.gz', 'b.br', 'sub/c.br'])
})

test('findLocalSources takes a name with pattern characters that exists as that file', async () => {
  await make('[ab].br', 'a.br')
  expect(await found(at('[ab].br'))).toEqual(['[ab].br'])
})

test('findLocalSources keeps the order of its inputs and gives each file once', async () => {
  await make('a.br', 'b.br')
  await symlink(at('a.br'), at('c.br'))
  expect(await found(at('b.br'), '-', folder, '-', at('*'))).toEqual(['b.br', 'stdin', 'a.br'])
})

test('findLocalSources does not walk in circles through links', async () => {
  await make('sub/a.br')
  await symlink(folder, at('sub', 'up'))
  expect(await found(folder)).toEqual(['sub/a.br'])
})

test('findLocalSources reports a link to nowhere', async () => {
  await make('a.br')
  await symlink(at('gone'), at('b.br'))
  await expect(findLocalSources([folder])).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
})

test('findLocalSources names the input that gives nothing', async () => {
  await mkdir(at('empty'))
  for (const input of [at('no.br'), at('*.br'), at('empty'), at('a.br', 'below'), '']) {
    const failure = { code: 'SOURCE_NOT_FOUND', context: { source: input } }
    await make('a.txt')
    await expect(findLocalSources([input])).rejects.toMatchObject(failure)
  }
})

test('findLocalSources takes what is no regular file as a file of unknown length', async () => {
  const device = { kind: 'file', path: '/dev/null' }
  expect((await findLocalSources(['/dev/null'])).sources).toEqual([device])
})

test('openFile gives the bytes of a file in large chunks', async () => {
  const bytes = Buffer.alloc(2_500_000, 'abc')
  await writeFile(at('a'), bytes)
  const chunks: Buffer[] = []
  for await (const chunk of openSourceFile(at('a'))) chunks.push(Buffer.from(chunk))
  expect(chunks.map((chunk) => chunk.length)).toEqual([1 << 20, 1 << 20, 2_500_000 - (2 << 20)])
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
})

test('openFile reports a folder as unreadable and a missing file as not found', async () => {
  await expect(read(openSourceFile(folder))).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  await expect(read(openSourceFile(at('no')))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})

test.runIf(process.platform === 'linux')(
  'openFile closes its file when the consumer stops early',
  async () => {
    await writeFile(at('a'), Buffer.alloc(3_000_000))
    for (let i = 0; i < 20; i++) for await (const _ of openSourceFile(at('a'))) break
    const open = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
    expect((await Promise.all(open)).filter((path) => path === at('a'))).toEqual([])
  },
)

test('openFile stops with the reason of its signal', async () => {
  await make('a')
  const reason = new Error('enough')
  await expect(read(openSourceFile(at('a'), { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason)
})

test('openStdin gives the bytes of its stream', async () => {
  const stream = Readable.from([Buffer.from('a'), Buffer.from('b')])
  expect(Buffer.concat(await read(openStdin({ stream }))).toString()).toBe('ab')
})

test('openStdin stops waiting when its signal aborts', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const reading = read(openStdin({ stream: new PassThrough(), signal: stop.signal }))
  stop.abort(reason)
  await expect(reading).rejects.toBe(reason)
})

test('openStdin reports a stream that fails', async () => {
  const stream = new PassThrough()
  stream.destroy(new Error('EIO'))
  await expect(read(openStdin({ stream }))).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
})

test('findLocalSources leaves out what lies in a lake or where a lake delivers to, however it is reached', async () => {
  await make(
    'in/a.br',
    'in/lake/_batches/1/b.br',
    'in/lake/_manifest/1.json',
    'in/out/_loaded/run',
    'in/out/x/c.jsonl',
  )
  await make('in/csv/_lake', 'in/csv/d.jsonl', 'elsewhere/lake/_manifest/x', 'elsewhere/lake/inner/e.br')
  await symlink(at('elsewhere/lake/inner/e.br'), at('in/f.br'))
  await symlink(at('in'), at('way'))
  const all = async (...inputs: string[]) => {
    const { sources, ownFiles } = await findLocalSources(inputs)
    const paths = sources.map((source) => 'path' in source && source.path.replace(`${folder}/`, ''))
    return [paths, ownFiles]
  }
  expect(await all(at('in'))).toEqual([['in/a.br'], 7])
  expect(await all(at('in', '**', '*.br'))).toEqual([['in/a.br'], 2])
  expect(await all(at('way'))).toEqual([['way/a.br'], 7])
  expect(await all(at('in/lake/_batches'))).toEqual([[], 1])
  // Named itself it is loaded, however often it is found besides.
  const { sources, ownFiles } = await findLocalSources([at('in/lake/_batches/1/b.br'), at('in')])
  expect([sources.map((one) => 'isOwn' in one), ownFiles]).toEqual([[true, false], 6])
})

/** Files whose names, in Latin-1, are no UTF-8; one lies in a folder of such a name. */
const makeRaw = async (): Promise<void> => {
  const below = (name: string): Buffer =>
    Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
  await mkdir(below('sm\xf6r'))
  for (const name of ['caf\xe9.jsonl', 'caf\xff.jsonl', 'plain.jsonl', 'sm\xf6r/a\xe5.jsonl'])
    await writeFile(below(name), name)
}
const RAW_NAMES = ['caf%E9.jsonl', 'caf%FF.jsonl', 'plain.jsonl', 'sm%F6r/a%E5.jsonl']

test('localSources reads files whose names are no UTF-8, each by a name of its own', async () => {
  await makeRaw()
  const sources = await localSources([folder], folder)
  expect(sources.map(({ name }) => name).sort()).toEqual(RAW_NAMES)
  for (const { name, sizeBytes, fingerprint, open } of sources) {
    const source = sources.find((one) => one.name === name)
    expect((await fingerprint?.call(source))?.bytes).toBe(sizeBytes)
    expect(Buffer.concat(await read(open.call(source))).length).toBe(sizeBytes)
  }
})

test('such a file is found by a pattern, and by the name that is shown', async () => {
  await makeRaw()
  const names = async (...inputs: string[]) =>
    (await localSources(inputs, folder)).map(({ name, found }) => [name, found === true])
  expect(await names('caf*')).toEqual([
    ['caf%E9.jsonl', false],
    ['caf%FF.jsonl', false],
  ])
  expect(await names('caf%E9.jsonl', 'sm%F6r/a%E5.jsonl')).toEqual([
    ['caf%E9.jsonl', false],
    ['sm%F6r/a%E5.jsonl', false],
  ])
  await make('caf%E9.jsonl')
  expect(await names('caf%E9.jsonl')).toEqual([['caf%E9.jsonl', false]])
})

test('what is wrong with such a file is said with the name that is shown', async () => {
  await symlink('nowhere', Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('x\xff', 'latin1')]))
  await expect(localSources([folder], folder)).rejects.toMatchObject({
    code: 'SOURCE_UNREADABLE',
    message: `Cannot open "${folder}/x%FF": it is a link to nowhere`,
  })
})
