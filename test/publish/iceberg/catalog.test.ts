/** Publishing through a REST catalog: the real one, with a proxy before it that spoils answers. */

import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { forget } from '../../../src/jobs/forget.ts'
import { currentSnapshot, type TableMetadata } from '../../../src/publish/iceberg/table-metadata.ts'
import { needs } from '../../support/needs.ts'
import { type RestCatalog, restCatalogMissing, startRestCatalog } from '../../support/rest-catalog.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { commitChanged, loadSmallRun, smallLake as newLake, versionsOf } from '../sample-lake.ts'
import { useSmallLakes } from '../small-lakes.ts'

const smallLake = useSmallLakes()

import { publishIceberg, readManifests } from './iceberg-lake.ts'

let catalog: RestCatalog | undefined
beforeAll(async () => {
  if (restCatalogMissing() === undefined) catalog = await startRestCatalog()
})
afterAll(() => catalog?.close())
beforeEach((context) => needs(context, 'an Iceberg REST catalog', restCatalogMissing()))

const url = (): string => {
  if (catalog === undefined) throw new TypeError('The catalog does not run')
  return catalog.url
}

let namespaces = 0
/** A namespace that no other test uses. */
const newNamespace = (): string => {
  namespaces += 1
  return `lake_${namespaces}`
}

const tableOf = async (namespace: string, table: string): Promise<TableMetadata> => {
  const answer = await fetch(`${url()}/v1/namespaces/${namespace}/tables/${table}`)
  const { metadata } = (await answer.json()) as { readonly metadata: TableMetadata }
  return metadata
}

type Spoil = (request: IncomingMessage, answer: ServerResponse, pass: () => Promise<void>) => Promise<void>

/** A server before the catalog that may answer otherwise. */
const proxy = async (spoil: Spoil): Promise<string> => {
  const server = createServer(async (request, answer) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const pass = async (): Promise<void> => {
      const passed = await fetch(`${url()}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
      })
      const text = await passed.text()
      if (!answer.headersSent)
        answer.writeHead(passed.status, { 'content-type': 'application/json' }).end(text)
    }
    await spoil(request, answer, pass)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const isCommit = ({ method, url: path = '' }: IncomingMessage, table: string): boolean =>
  method === 'POST' && path.endsWith(`/tables/${table}`)

test('publish makes namespace and tables in a catalog, and commits each snapshot', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  const namespace = newNamespace()
  const target = { catalog: { url: url(), namespace } }
  expect(versionsOf(await publishIceberg(lake, target))).toMatchObject({ companies: 2, roles: 1 })
  expect(versionsOf(await publishIceberg(lake, target))).toEqual({})
  await loadSmallRun(folder, 3)
  expect(versionsOf(await publishIceberg(lake, target))).toMatchObject({ companies: 1, financials: 1 })
  const metadata = await tableOf(namespace, 'companies_history')
  expect(metadata.location).toBe(`file://${lake}/companies`)
  expect(metadata.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual(['1', '2', '3'])
  expect(metadata['snapshot-log']).toHaveLength(3)
  // The catalog keeps our field ids.
  expect(metadata.schemas[0]?.fields.slice(0, 2)).toMatchObject([
    { id: 3, name: 'internal_id' },
    { id: 4, name: 'company_name' },
  ])
  expect(await readManifests(metadata.snapshots?.[2])).toHaveLength(3)
})

test('publish by two at once through a catalog commits each snapshot once', async () => {
  const lake = await smallLake(await temporaryFolder(), 4)
  const namespace = newNamespace()
  const target = { catalog: { url: url(), namespace } }
  const both = await Promise.all([publishIceberg(lake, target), publishIceberg(lake, target)])
  const versions = both.flatMap(({ tables }) => tables.filter(({ table }) => table === 'companies'))
  expect(versions.reduce((sum, one) => sum + one.versions, 0)).toBe(4)
  const metadata = await tableOf(namespace, 'companies_history')
  expect(metadata.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual(['1', '2', '3', '4'])
  for (const snapshot of metadata.snapshots ?? []) expect(await readManifests(snapshot)).not.toEqual([])
})

test('publish finds a commit whose answer was lost, and does not make it again', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  const namespace = newNamespace()
  let lost = 0
  const spoiled = await proxy(async (request, answer, pass) => {
    if (!isCommit(request, 'companies_history')) return pass()
    lost += 1
    answer.writeHead(502).end()
    await pass()
  })
  const summary = await publishIceberg(lake, { catalog: { url: spoiled, namespace } })
  expect(versionsOf(summary)).toMatchObject({ companies: 2 })
  expect(lost).toBeGreaterThanOrEqual(2)
  const metadata = await tableOf(namespace, 'companies_history')
  expect(metadata.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual(['1', '2'])
  for (const snapshot of metadata.snapshots ?? []) expect(await readManifests(snapshot)).not.toEqual([])
})

test('publish commits again when a commit did not go through', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const namespace = newNamespace()
  let refused = 0
  const spoiled = await proxy(async (request, answer, pass) => {
    if (!isCommit(request, 'companies_history') || refused > 0) return pass()
    refused += 1
    answer.destroy()
  })
  const summary = await publishIceberg(lake, { catalog: { url: spoiled, namespace } })
  expect(versionsOf(summary)).toMatchObject({ companies: 1 })
  expect(refused).toBe(1)
  expect((await tableOf(namespace, 'companies_history')).snapshots).toHaveLength(1)
})

test('publish refuses a table that the catalog has elsewhere', async () => {
  const [one, other] = [
    await smallLake(await temporaryFolder(), 1),
    await newLake(await temporaryFolder(), 1),
  ]
  const target = { catalog: { url: url(), namespace: newNamespace() } }
  await publishIceberg(one, target)
  await expect(publishIceberg(other, target)).rejects.toMatchObject({ code: 'PUBLISH_CONFLICT' })
})

test('publish removes expired snapshots from a catalog', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  const namespace = newNamespace()
  const target = { catalog: { url: url(), namespace } }
  await publishIceberg(lake, target)
  await commitChanged(lake, ({ partitions }) => ({ partitions: partitions.slice(1) }))
  const { removeGarbage } = await import('../../../src/manifest/gc/remove-garbage.ts')
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await publishIceberg(lake, target)
  const metadata = await tableOf(namespace, 'companies_history')
  expect(metadata.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual(['3'])
})

test('forget drops the tables of a catalog and publishes them anew: nothing of before is in them', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  const catalog = { url: url(), namespace: newNamespace() }
  const rows = ['all', 'current'] as const
  await publishIceberg(lake, { catalog, rows })
  const before = await tableOf(catalog.namespace, 'companies_history')
  const { published, snapshot } = await forget({ lake, companies: [2], catalog })
  expect(published).toEqual(['iceberg all catalog', 'iceberg current catalog'])
  for (const [name, records] of [
    ['companies_history', '2'],
    ['companies', '2'],
  ] as const) {
    const metadata = await tableOf(catalog.namespace, name)
    expect(metadata['table-uuid']).not.toBe(before['table-uuid'])
    expect(metadata.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual([String(snapshot)])
    expect(currentSnapshot(metadata)?.summary).toMatchObject({ 'total-records': records })
    for (const { entries } of await readManifests(currentSnapshot(metadata)))
      for (const { data_file: file } of entries) {
        expect(existsSync(file.file_path.replace(/^file:\/\//, '')), file.file_path).toBe(true)
      }
  }
  expect(versionsOf(await publishIceberg(lake, { catalog, rows }))).toEqual({})
})

test('publish sends the token, or one for the credential, and tells neither', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const seen: string[] = []
  const spoiled = await proxy(async (request, answer) => {
    seen.push(`${request.url} ${request.headers.authorization ?? '-'}`)
    if (request.url === '/v1/oauth/tokens') {
      answer.end(JSON.stringify({ access_token: 'made-for-me', token_type: 'bearer' }))
      return
    }
    const error = {
      message: `no right for ${request.headers.authorization}`,
      type: 'ForbiddenException',
      code: 403,
    }
    answer.writeHead(403).end(JSON.stringify({ error }))
  })
  const failure = await publishIceberg(lake, { catalog: { url: spoiled, token: 'secret-1' } }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'CATALOG_FAILED' })
  expect(String(failure)).toContain('ForbiddenException')
  expect(String(failure)).not.toContain('secret-1')
  const other = await publishIceberg(lake, { catalog: { url: spoiled, credential: 'me:secret-2' } }).catch(
    (error: unknown) => error,
  )
  expect(String(other)).not.toMatch(/secret-2|made-for-me/)
  expect(seen).toEqual(['/v1/config Bearer secret-1', '/v1/oauth/tokens -', '/v1/config Bearer made-for-me'])
})

test.each([
  ['http://catalog.example', 'ADDRESS_REFUSED'],
  ['catalog.example', 'CATALOG_FAILED'],
  ['https://me:secret@catalog.example', 'CATALOG_FAILED'],
  ['http://127.0.0.1:1', 'CATALOG_FAILED'],
])('publish refuses the catalog %s with %s', async (address, code) => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const failure = await publishIceberg(lake, { catalog: { url: address } }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code })
  expect(String(failure)).not.toContain('secret')
})
