/** What only a bucket has: answers that are lost, conflicts, uploads in parts, pages of lists. */

import { randomBytes } from 'node:crypto'
import { mkdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { describe, expect, test, vi } from 'vitest'
import { statPath } from '../../src/support/list-files.ts'
import { startChild } from '../support/children.ts'
import type { S3Server } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Fate, firstTime, type Passing, s3Error } from './loopback-proxy.ts'
import { factsOf, LAKE, s3Bench } from './s3-bench.ts'

const isCreate = ({ method, headers }: Passing): boolean =>
  method === 'PUT' && headers['if-none-match'] === '*'
const isCompletion = ({ method, url }: Passing): boolean => method === 'POST' && url.includes('uploadId=')
const isPart = ({ method, url }: Passing): boolean => method === 'PUT' && url.includes('partNumber=')
const LOST: Fate = { kind: 'answer lost' }

const staged = async (data: Uint8Array | string): Promise<string> => {
  const path = join(await temporaryFolder(), 'part-0')
  await writeFile(path, data)
  return path
}

/** Uploads in parts that were neither ended nor removed. */
const uploadsLeft = async ({ endpoint, accessKey, secretKey }: S3Server): Promise<number> => {
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey }
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'lakes' }))
  client.destroy()
  return Uploads.length
}

describe('create', () => {
  test('whose answer was lost tells that it created', async (context) => {
    const { open, proxy } = await s3Bench(context, firstTime(isCreate, LOST))
    expect(await open().create('_manifest/1.json', 'mine')).toBe(true)
    expect(proxy.requests.filter((one) => one.startsWith('PUT'))).toHaveLength(2)
    expect(await open().create('_manifest/1.json', 'mine')).toBe(false)
    expect(String(await open().read('_manifest/1.json'))).toBe('mine')
  })

  test('whose refusal was lost tells that it did not create, though the other wrote the same', async (context) => {
    let lose = false
    const { open } = await s3Bench(context, (passing) => {
      const lost = lose && isCreate(passing)
      if (lost) lose = false
      return lost ? LOST : undefined
    })
    expect(await open().create('_manifest/1.json', 'the same')).toBe(true)
    lose = true
    expect(await open().create('_manifest/1.json', 'the same')).toBe(false)
  })

  test('of many at once, each of whose first answers is lost, creates exactly once', async (context) => {
    const first = new Set<unknown>()
    const { open } = await s3Bench(context, ({ headers }) => {
      const call = headers['x-amz-meta-firmlake-creator']
      if (call === undefined || first.has(call)) return undefined
      first.add(call)
      return LOST
    })
    const created = await Promise.all(
      Array.from({ length: 8 }, () => open().create('_manifest/1.json', 'the same')),
    )
    expect(first.size).toBe(8)
    expect(created.filter(Boolean)).toHaveLength(1)
  })

  test('in parts whose last answer was lost tells that it created', async (context) => {
    const { open, server } = await s3Bench(context, firstTime(isCompletion, LOST))
    const data = randomBytes(20_000_000)
    expect(await open().create('_manifest/1.json', data)).toBe(true)
    expect(await open().create('_manifest/1.json', data)).toBe(false)
    expect(data.equals((await open().read('_manifest/1.json')) ?? Buffer.alloc(0))).toBe(true)
    expect(await uploadsLeft(server)).toBe(0)
  })

  test('knows its object by the bytes where the endpoint keeps no metadata', async (context) => {
    let puts = 0
    const { open } = await s3Bench(context, (passing) => {
      if (passing.method === 'GET') return { kind: 'without metadata' }
      if (!isCreate(passing)) return undefined
      puts += 1
      return puts === 1 || puts === 3 ? LOST : undefined
    })
    expect(await open().create('_manifest/1.json', 'mine')).toBe(true)
    expect(await open().create('_manifest/1.json', 'of another')).toBe(false)
    expect(puts).toBe(4)
  })

  test('retries after a conflict', async (context) => {
    const { open, proxy } = await s3Bench(
      context,
      firstTime(isCreate, s3Error(409, 'ConditionalRequestConflict')),
    )
    expect(await open().create('_manifest/1.json', 'mine')).toBe(true)
    expect(proxy.requests).toHaveLength(2)
  })

  test('gives up where conflicts do not end', async (context) => {
    const { open } = await s3Bench(context, () => s3Error(409, 'ConditionalRequestConflict'))
    await expect(open().create('_manifest/1.json', 'mine')).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
  })

  test('tells at once that another was first, without reading', async (context) => {
    const { open, proxy } = await s3Bench(context)
    await open().create('_manifest/1.json', 'first')
    expect(await open().create('_manifest/1.json', 'second')).toBe(false)
    expect(proxy.requests.map((one) => one.slice(0, 3))).toEqual(['PUT', 'PUT'])
  })
})

describe('stage', () => {
  test('comes to its end through a server that was killed in its midst and started again', async (context) => {
    let parts = 0
    const { open, server } = await s3Bench(context, async (passing, running) => {
      if (!isPart(passing)) return undefined
      parts += 1
      if (parts === 3) await running.kill()
      if (parts === 7) await running.start()
      return undefined
    })
    const data = randomBytes(40_000_000)
    const from = await staged(data)
    await open().stage(from, factsOf('companies/load=1/p-0.parquet', data))
    expect(data.equals((await open().read('companies/load=1/p-0.parquet')) ?? Buffer.alloc(0))).toBe(true)
    expect(await statPath(from)).toBeNull()
    expect(await uploadsLeft(server)).toBe(0)
  })

  test('fails where the server stays away, shows nothing half, and succeeds later', async (context) => {
    let parts = 0
    const decide = async (passing: Passing, running: S3Server): Promise<Fate> => {
      if (isPart(passing)) parts += 1
      if (parts === 3) await running.kill()
      return undefined
    }
    const { open, server } = await s3Bench(context, decide, { AWS_MAX_ATTEMPTS: '2' })
    const data = randomBytes(40_000_000)
    const from = await staged(data)
    const facts = factsOf('companies/load=1/p-0.parquet', data)
    await expect(open().stage(from, facts)).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    await server.start()
    expect(await open().list('')).toEqual([])
    expect(await statPath(from)).toMatchObject({ bytes: data.length })
    await open().stage(from, facts)
    expect(await open().stat(facts.path)).toMatchObject({ bytes: data.length })
  })

  test.for([
    ['in parts', 20_000_000],
    ['at once', 2_000],
  ] as const)(
    'refuses a staged file that changed, %s, and leaves no parts behind',
    async ([, bytes], context) => {
      const { open, server } = await s3Bench(context)
      const data = randomBytes(bytes)
      const facts = factsOf('companies/load=1/p-0.parquet', data)
      data[bytes - 1] = (data[bytes - 1] ?? 0) ^ 1
      for (const changed of [data, data.subarray(0, -1), Buffer.concat([data, data.subarray(0, 1)])]) {
        const from = await staged(changed)
        await expect(open().stage(from, facts)).rejects.toMatchObject({ code: 'WRITE_FAILED' })
        expect(await statPath(from)).not.toBeNull()
      }
      expect(await open().list('')).toEqual([])
      expect(await uploadsLeft(server)).toBe(0)
    },
  )

  test('of a staged file that is missing fails, unless it was staged before', async (context) => {
    const { open } = await s3Bench(context)
    const from = await staged('rows')
    const facts = factsOf('companies/load=1/p-0.parquet', 'rows')
    await open().stage(from, facts)
    await open().stage(from, facts)
    for (const other of [factsOf(facts.path, 'ROWS'), factsOf('companies/load=1/p-1.parquet', 'rows')])
      await expect(open().stage(from, other)).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  })

  test('finds that something else arrived', async (context) => {
    // A server that answers well and stores nothing of it: what stands there is an older object.
    let lie = false
    const { open } = await s3Bench(context, ({ method }) =>
      lie && method === 'PUT' ? { kind: 'answered', status: 200, body: '' } : undefined,
    )
    const path = 'companies/load=1/p-0.parquet'
    await open().replace(path, 'olds')
    lie = true
    const from = await staged('rows')
    await expect(open().stage(from, factsOf(path, 'rows'))).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    expect(await statPath(from)).not.toBeNull()
  })

  test('of large files takes little memory', async (context) => {
    const { server } = await s3Bench(context)
    vi.stubEnv('AWS_ENDPOINT_URL_S3', server.endpoint)
    const from = await staged('')
    await truncate(from, 256_000_000)
    const child = startChild(new URL('child-stage.ts', import.meta.url), LAKE, from)
    const peakBytes = Number(await child.nextLine())
    expect(await child.ended()).toBe(0)
    expect(peakBytes).toBeGreaterThan(0)
    expect(peakBytes).toBeLessThan(230_000_000)
  })
})

test('publish finds what is missing', async (context) => {
  const { open } = await s3Bench(context)
  await open().create('companies/load=1/p-0.parquet', 'rows')
  const placed = { from: '/none', to: 'companies/load=1/p-0.parquet' }
  await open().publish([placed])
  await expect(
    open().publish([placed, { from: '/none', to: 'companies/load=1/p-1.parquet' }]),
  ).rejects.toMatchObject({ code: 'STORAGE_FAILED', context: { path: 'companies/load=1/p-1.parquet' } })
})

describe('thousands of objects', () => {
  const some = async (server: S3Server, count: number): Promise<readonly string[]> => {
    const names = Array.from({ length: count }, (_, at) => `many/part-${String(at).padStart(5, '0')}`)
    await mkdir(join(server.folder, 'lakes/deep/lake/many'), { recursive: true })
    for (const name of names) await writeFile(join(server.folder, 'lakes/deep/lake', name), '')
    return names
  }

  test('are listed page by page and removed', async (context) => {
    const { open, server, proxy } = await s3Bench(context)
    const names = await some(server, 2_345)
    await open().create('other', '')
    const storage = open()
    expect((await storage.list('many')).map(({ path }) => path)).toEqual(names)
    expect(await storage.entries('many')).toHaveLength(names.length)
    expect(await storage.entries('')).toHaveLength(2)
    await storage.remove(names.slice(0, 1_100))
    expect((await storage.list('many')).map(({ path }) => path)).toEqual(names.slice(1_100))
    await storage.removeFolder('many')
    expect((await storage.list('')).map(({ path }) => path)).toEqual(['other'])
    expect(proxy.requests.filter((one) => one.startsWith('DELETE'))).toEqual([])
  })

  test('are removed one by one where the endpoint does not know more', async (context) => {
    const { open, server, proxy } = await s3Bench(context, ({ method, url }) =>
      method === 'POST' && url.includes('delete') ? s3Error(501, 'NotImplemented') : undefined,
    )
    await open().remove(await some(server, 5))
    expect(await open().list('')).toEqual([])
    expect(proxy.requests.filter((one) => one.startsWith('DELETE'))).toHaveLength(5)
  })

  test('of which the endpoint left some are tried again', async (context) => {
    const key = 'deep/lake/many/part-00003'
    const left = `<DeleteResult><Error><Key>${key}</Key><Code>InternalError</Code></Error></DeleteResult>`
    const { open, server, proxy } = await s3Bench(context, ({ method, url }) =>
      method === 'POST' && url.includes('delete') ? { kind: 'answered', status: 200, body: left } : undefined,
    )
    await open().remove(await some(server, 5))
    expect(proxy.requests.filter((one) => one.startsWith('DELETE'))).toEqual([expect.stringContaining(key)])
  })
})

test('removeFolder removes the named file with a request of its own before all others', async (context) => {
  const { open, proxy } = await s3Bench(context)
  for (const name of ['a', 'owner', 'z']) await open().create(`_runs/one/${name}`, '')
  await open().removeFolder('_runs/one', 'owner')
  const removals = proxy.requests.filter((one) => /^DELETE|^POST/.test(one))
  expect(removals).toEqual([expect.stringContaining('_runs/one/owner'), expect.stringContaining('delete')])
})

test('removal takes the copies on this machine with it', async (context) => {
  const { open } = await s3Bench(context)
  const storage = open()
  const files = ['a/load=1/p-0', 'a/load=1/p-1', 'b/load=1/p-0'].map((path) => factsOf(path, 'rows'))
  for (const { path } of files) await storage.create(path, 'rows')
  await storage.fetch(files)
  await storage.remove(['a/load=1/p-0'])
  await storage.removeFolder('b')
  const found = await Promise.all(files.map(({ path }) => statPath(join(storage.local, path))))
  expect(found.map((one) => one !== null)).toEqual([false, true, false])
})

describe('a log', () => {
  test('refuses a second writer, whose later lines fail too', async (context) => {
    const { open } = await s3Bench(context)
    const [one, other] = [await open().openLines('run/log'), await open().openLines('run/log')]
    await one.append('first')
    await expect(other.append('second')).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      context: { line: 1 },
    })
    await expect(other.append('third')).rejects.toMatchObject({ code: 'STORAGE_FAILED' })
    await other.close()
    await one.append('second')
    expect(await Array.fromAsync((await open().readLines('run/log')) ?? [], String)).toEqual([
      'first',
      'second',
    ])
  })

  test('of which a line is missing is damaged', async (context) => {
    const { open } = await s3Bench(context)
    const log = await open().openLines('run/log')
    for (const line of ['one', 'two', 'three']) await log.append(line)
    const second = (await open().list('run')).at(-2)
    await open().remove([second?.path ?? ''])
    await expect(open().readLines('run/log')).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
      context: { line: 2 },
    })
    await expect(open().openLines('run/log')).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  })
})

test('the work folder belongs to its user alone', async (context) => {
  const { open } = await s3Bench(context)
  const storage = open()
  await storage.prepare([])
  expect((await stat(storage.local)).mode & 0o777).toBe(0o700)
})
