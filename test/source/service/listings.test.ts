/** The listings in the shapes that services may give them. */

import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Answer, answeringServer, client, status } from './answering-server.ts'

const json = (body: unknown): Answer =>
  status(200, {}, typeof body === 'string' ? body : JSON.stringify(body))

test('batchFiles reads the listing of the open points', async () => {
  const entry = {
    BatchFileId: 'b-17',
    FileName: 'companies-SE-000.jsonl.br',
    Content: 'Companies',
    CountryCode: 'SE',
    CreatedAt: '2026-01-01T00:00:00Z',
    SizeInBytes: 1234,
    Count: 20,
  }
  const server = await answeringServer(json({ BatchFiles: [entry] }))
  expect(await client(server.url).batchFiles()).toEqual([
    {
      id: 'b-17',
      name: 'companies-SE-000.jsonl.br',
      content: 'companies',
      countryCode: 'SE',
      createdAt: '2026-01-01T00:00:00Z',
      sizeBytes: 1234,
      count: 20,
    },
  ])
  expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/v2/batches/batch-files' })
})

test.each<[string, unknown, readonly string[]]>([
  ['the body itself', [{ Id: 'a' }, { id: 'b' }], ['a', 'b']],
  [
    'the first list of any field',
    { total: 2, at: { x: [1] }, files: [{ FileId: 5 }], more: [{ id: 'no' }] },
    ['5'],
  ],
  ['numbers for ids', '[{"batchfileid":12345678901234567890},{"FILEID":0}]', ['12345678901234567890', '0']],
  [
    'entries without an id',
    [
      { name: 'x' },
      null,
      5,
      [{ id: 'deep' }],
      { id: '' },
      { Id: null, FileId: 'c' },
      { Id: '', fileid: 'd' },
    ],
    ['c', 'd'],
  ],
  ['an entry with lists of its own', [{ id: 'a', parts: [{ id: 'no' }] }], ['a']],
  ['nothing', [], []],
  ['nothing in a field', { BatchFiles: [] }, []],
])('batchFiles takes %s', async (_what, body, ids) => {
  const server = await answeringServer(json(body))
  expect((await client(server.url).batchFiles()).map(({ id }) => id)).toEqual(ids)
})

test('batchFiles leaves out what it cannot read, and names a file by its id', async () => {
  const entry = { Id: 'a', Content: 'Others', SizeInBytes: -1, Count: 'many', CountryCode: 5, FileName: null }
  const server = await answeringServer(json([entry, { Id: 'b', content: 'relations', sizeinbytes: '12' }]))
  expect(await client(server.url).batchFiles()).toEqual([
    { id: 'a', name: 'a', countryCode: '5' },
    { id: 'b', name: 'b', content: 'relations', sizeBytes: 12 },
  ])
})

test.each(['{"BatchFiles":[{"Id":"a"}', '{"BatchFiles":[{"Id":"a"}]', '', '<html>'])(
  'batchFiles asks again after half a listing: %j',
  async (half) => {
    const server = await answeringServer(json(half), json({ BatchFiles: [{ Id: 'a' }] }))
    expect(await client(server.url).batchFiles()).toHaveLength(1)
    expect(server.seen).toHaveLength(2)
  },
)

test.each(['{}', '{"a":{"b":[]}}', '5'])('batchFiles refuses a listing without a list: %j', async (body) => {
  const server = await answeringServer(json(body))
  await expect(client(server.url).batchFiles()).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
  expect(server.seen).toHaveLength(1)
})

test.each<[string, unknown, number]>([
  ['ids under another name', { BatchFiles: [{ Key: 'a' }, { Key: 'b' }] }, 2],
  ['bare names', ['a', 'b', 'c'], 3],
  ['ids that are no ids', [{ Id: null, BatchFileId: '' }, { id: true }, null], 3],
  ['ids that lie deeper', { data: [{ attributes: { id: 'a' } }] }, 1],
])('batchFiles refuses a listing whose entries all lack an id: %s', async (_what, body, entries) => {
  const server = await answeringServer(json(body))
  await expect(client(server.url).batchFiles()).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
    message: `Cannot list the batch files: none of the ${entries} entries of its list has an id, expected one named BatchFileId, Id, FileId`,
    context: { kind: 'form' },
  })
  expect(server.seen).toHaveLength(1)
})

test('batchFiles says which entries have no id beside others that have one', async () => {
  const server = await answeringServer(json([{ Id: 'a' }, { FileName: 'x.br' }, 5]))
  const idless: string[] = []
  const listed = await client(server.url).batchFiles({ onIdless: (name) => void idless.push(name) })
  expect([listed.map(({ id }) => id), idless]).toEqual([['a'], ['x.br', '']])
})

test('batchFiles takes a compressed listing', async () => {
  const server = await answeringServer((response) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzipSync('[{"Id":"a"}]'))
  })
  expect(await client(server.url).batchFiles()).toHaveLength(1)
})

test('parameters reads the listing of the open points', async () => {
  const entry = {
    ParameterName: 'CountryCode',
    Datatype: 'string',
    Description: 'Country.',
    FilterType: 'identifier',
    IsSortable: true,
    Values: [{ Value: 'SE', Name: 'Sweden' }],
  }
  const server = await answeringServer(
    json({ SearchParameters: [entry, { ParameterName: 'InternalId', Datatype: 'number' }] }),
  )
  expect(await client(server.url).parameters('companies')).toEqual([
    {
      name: 'CountryCode',
      datatype: 'string',
      description: 'Country.',
      filterType: 'identifier',
      sortable: true,
      values: [{ value: 'SE', name: 'Sweden' }],
    },
    { name: 'InternalId', datatype: 'number' },
  ])
  expect(server.seen[0]?.url).toBe('/v2/companies/search-parameters')
})

test.each<[string, unknown, readonly unknown[]]>([
  ['the body itself', [{ parameterName: 'A' }, 'B'], [{ name: 'A' }, { name: 'B' }]],
  ['any field', { x: 1, parameters: [{ name: 'A' }] }, [{ name: 'A' }]],
  ['entries without a name', [{ Datatype: 'x' }, null, { ParameterName: '' }], []],
  [
    'plain values',
    [{ name: 'A', values: ['SE', 10, null, { id: 3 }] }],
    [{ name: 'A', values: [{ value: 'SE' }, { value: 10 }, { value: 3 }] }],
  ],
])('parameters takes %s', async (_what, body, parameters) => {
  const server = await answeringServer(json(body))
  expect(await client(server.url).parameters('relations')).toEqual(parameters)
  expect(server.seen[0]?.url).toBe('/v2/relations/search-parameters')
})

test('parameters asks again after half a listing, and refuses one without a list', async () => {
  const server = await answeringServer(json('{"SearchParameters":['), json({}))
  await expect(client(server.url).parameters('companies')).rejects.toMatchObject({ code: 'ANSWER_INVALID' })
  expect(server.seen).toHaveLength(2)
})

test('batchFiles reads a listing whose bytes come one by one, compressed too', async () => {
  const listing = JSON.stringify({ BatchFiles: [{ Id: 'Å-1' }, { Id: 'b', Count: 2 }] })
  for (const [encoding, body] of [
    ['identity', Buffer.from(listing)],
    ['br', brotliCompressSync(listing)],
    ['gzip, br', brotliCompressSync(gzipSync(listing))],
  ] as const) {
    const server = await answeringServer(async (response) => {
      response.setHeader('Content-Encoding', encoding)
      for (const byte of body) {
        response.write(Buffer.of(byte))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    const files = await client(server.url).batchFiles()
    expect(files.map(({ id }) => id)).toEqual(['Å-1', 'b'])
  }
})

test.each([
  ['that is given', { maxListingBytes: 50_000 }, 100_000, ['identity', 'gzip']],
  ['of 64 MiB', {}, 68_000_000, ['gzip']],
])(
  'a listing beyond the limit %s is refused, also one that is small as long as it is compressed',
  async (_what, options, bytes, encodings) => {
    const listing = Buffer.concat([
      Buffer.from('{"BatchFiles":[],"about":"'),
      Buffer.alloc(bytes, 'x'),
      Buffer.from('"}'),
    ])
    for (const encoding of encodings) {
      const body = encoding === 'gzip' ? gzipSync(listing, { level: 1 }) : listing
      const server = await answeringServer((response) => {
        response.setHeader('Content-Encoding', encoding)
        response.end(body)
      })
      const service = client(server.url, options)
      for (const ask of [() => service.batchFiles(), () => service.parameters('companies')])
        await expect(ask()).rejects.toMatchObject({ code: 'ANSWER_INVALID', context: { kind: 'size' } })
      expect(server.seen).toHaveLength(2)
    }
  },
)

test.each<[string, (response: ServerResponse) => void]>([
  ['whose bytes are no UTF-8', (response) => response.end(Buffer.from('[{"Id":"\xff"}]', 'latin1'))],
  ['that ends within a character', (response) => response.end(Buffer.from('[{"Id":"a"}]\xc3', 'latin1'))],
  [
    'that cannot be decompressed',
    (response) => response.setHeader('Content-Encoding', 'br').end('[{"Id":"a"}]'),
  ],
  [
    'whose compressed bytes are cut',
    (response) =>
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync('[{"Id":"a"}]').subarray(0, 20)),
  ],
  [
    'that breaks off',
    (response) => {
      response.setHeader('Content-Length', '100')
      response.write('[{"Id":"a"}', () => response.destroy())
    },
  ],
])('batchFiles asks again after a listing %s', async (_what, bad) => {
  const server = await answeringServer(bad, json([{ Id: 'a' }]))
  expect(await client(server.url).batchFiles()).toHaveLength(1)
  expect(server.seen).toHaveLength(2)
})
