/** Records that lack what the contract says is always present: answers have it, files and records stay as they came. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/contract/requests.ts'
import { convert } from '../../src/jobs/convert.ts'
import { diff } from '../../src/jobs/diff.ts'
import { records } from '../../src/jobs/records.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { type Document, problems, type Schema } from '../server/openapi/schema-problems.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { makeServable, pullFrom, serving, TOKEN } from './serving.ts'

const SALES = { ProfitAndLoss: { NetSales: { 2023: 12.5 } } }
const COMPANIES: readonly object[] = [
  { BasicDetails: { InternalId: 1, CountryCode: 'SE' } },
  { BasicDetails: { InternalId: 2, CountryCode: 'SE' }, Financials: SALES },
  {
    BasicDetails: {
      InternalId: 3,
      CountryCode: 'SE',
      IndustryCode: { IndustryCodes: [{ Code: '1' }] },
      HasReportedMissingUBO: true,
    },
    EnhancedDetails: { HasGroupStructure: true },
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands' },
    Financials: SALES,
  },
  {
    BasicDetails: { InternalId: 4, CountryCode: 'SE', CompanyName: null, IndustryCode: {} },
    EnhancedDetails: {},
    MetaData: { FiscalYearLength: 12, CurrentCurrencyCode: '', ContentUpdatedAt: '0001-01-01' },
    LinkedIn: { Addresses: [] },
  },
]
const RELATIONS: readonly object[] = [
  { InternalId: 1 },
  {
    InternalId: 2,
    Parents: [{ Name: 'A', KeyPersonRoles: [{}, { Text: 'CEO' }], Ownerships: [{}], History: [{}] }],
    Children: [{}],
    UBODetails: { Status: 'x' },
  },
  { InternalId: 3, CountryCode: 'SE', Parents: [], UBODetails: {} },
]

let folder: string
let bench: Bench
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  bench = await openBench(folder)
  await bench.write(
    'companies.jsonl',
    COMPANIES.map((one) => JSON.stringify(one)),
  )
  await bench.write(
    'relations.jsonl',
    RELATIONS.map((one) => JSON.stringify(one)),
  )
  await bench.run(['companies.jsonl', 'relations.jsonl'])
  await makeServable(bench.lake)
})

/** The schema of an answer in the document that the server gives. */
const schemaOf = ({ paths }: Document, path: string, method: string, status: number): Schema => {
  const schema =
    paths[path]?.[method.toLowerCase()]?.responses?.[status]?.content?.['application/json']?.schema
  if (schema === undefined) throw new Error(`No schema of ${method} ${path} ${status}`)
  return schema
}

const SEARCH = { CountryCode: ['SE'] }
const REQUESTS: readonly (readonly [keyof typeof OPERATIONS, object | undefined, number])[] = [
  ['companies', { SearchParameters: SEARCH }, 200],
  ['companies', { SearchParameters: SEARCH, Currency: 'EUR', Cursor: '*' }, 200],
  ['companies', { SearchParameters: SEARCH, MinifiedSearch: true }, 200],
  ['companies', { SearchParameters: {} }, 400],
  ['relations', { SearchParameters: { InternalId: [1, 2, 3] } }, 200],
  ['relations', { SearchParameters: {} }, 400],
  ['companiesSearchParameters', undefined, 200],
  ['relationsSearchParameters', undefined, 200],
  ['batchFiles', undefined, 200],
]

test('every answer over sparse records fits the document that the server gives', async () => {
  const { url } = await serving(bench.lake)
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  for (const [operation, body, status] of REQUESTS) {
    const { method, path } = OPERATIONS[operation]
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(answer.status).toBe(status)
    const found = problems(
      document.components.schemas,
      schemaOf(document, path, method, status),
      await answer.json(),
    )
    expect([operation, body, found]).toEqual([operation, body, []])
  }
})

test('pages have the always-present fields, and the currency asked for unless figures have none', async () => {
  const { url } = await serving(bench.lake)
  const answer = await fetch(`${url}/v2/companies`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ SearchParameters: SEARCH, Currency: 'EUR' }),
  })
  const { Companies } = (await answer.json()) as { readonly Companies: readonly object[] }
  const basics = {
    IndustryCode: { IndustryCodes: [], WeightedGroupIndustryCodes: [] },
    HasReportedMissingUBO: false,
  }
  const enhanced = { HasForeignUltimateParent: false, HasGroupStructure: false }
  expect(Companies).toEqual([
    {
      BasicDetails: { InternalId: 1, CountryCode: 'SE', ...basics },
      EnhancedDetails: enhanced,
      MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'None' },
    },
    {
      BasicDetails: { InternalId: 2, CountryCode: 'SE', ...basics },
      EnhancedDetails: enhanced,
      MetaData: { CurrentCurrencyCode: '', FinancialFigureScale: 'None' },
      Financials: SALES,
    },
    {
      BasicDetails: {
        ...{ InternalId: 3, CountryCode: 'SE', HasReportedMissingUBO: true },
        IndustryCode: { IndustryCodes: [{ Code: '1' }], WeightedGroupIndustryCodes: [] },
      },
      EnhancedDetails: { HasForeignUltimateParent: false, HasGroupStructure: true },
      MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'Thousands' },
      Financials: { ProfitAndLoss: { NetSales: { 2023: expect.any(Number) } } },
    },
    {
      BasicDetails: { InternalId: 4, CountryCode: 'SE', ...basics },
      EnhancedDetails: enhanced,
      MetaData: { CurrentCurrencyCode: '', FinancialFigureScale: 'None', FiscalYearLength: 12 },
      LinkedIn: { Addresses: [] },
    },
  ])
})

test('batch files and records give sparse records as they came', async () => {
  const came = [
    COMPANIES[0],
    COMPANIES[1],
    COMPANIES[2],
    {
      BasicDetails: { InternalId: 4, CountryCode: 'SE' },
      MetaData: { FiscalYearLength: 12, CurrentCurrencyCode: '' },
      LinkedIn: { Addresses: [] },
    },
  ]
  const given: unknown[] = []
  for await (const record of records({ lake: bench.lake, content: 'companies' }))
    given.push(JSON.parse(record))
  expect(given).toEqual(came)
  const { url } = await serving(bench.lake)
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const listing = await fetch(`${url}${OPERATIONS.batchFiles.path}`, { headers })
  const { BatchFiles } = (await listing.json()) as {
    readonly BatchFiles: readonly { readonly BatchFileId: string; readonly Content: string }[]
  }
  const id = BatchFiles.find(({ Content }) => Content === 'Companies')?.BatchFileId ?? ''
  const file = await fetch(`${url}${OPERATIONS.batchFile.path.replace('{batchFileId}', id)}`, { headers })
  const lines = brotliDecompressSync(Buffer.from(await file.arrayBuffer()))
    .toString()
    .trimEnd()
    .split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(came)
})

test('diff finds nothing in records that came again from pages', async () => {
  const from = await serving(bench.lake)
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: [join(bench.folder, '*.jsonl')], lake })
  await pullFrom(from, lake, { search: { InternalId: [1, 2, 3, 4] }, currency: 'SEK' })
  await pullFrom(from, lake, { content: 'relations', search: { InternalId: [1, 2, 3] }, currency: undefined })
  const { snapshot } = await readSnapshot(lake)
  const { rows } = await diff({ lake, from: 1, to: snapshot })
  expect(rows).toEqual([])
})
