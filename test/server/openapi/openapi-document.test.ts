import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, onTestFinished, test } from 'vitest'
import { LIMITS } from '../../../src/contract/limits.ts'
import { OPERATIONS } from '../../../src/contract/requests.ts'
import { openApiDocument } from '../../../src/server/openapi/openapi-document.ts'
import { Workbench } from '../../load/loaded-lake.ts'
import { get, openFake } from '../http/open-fake.ts'
import { loadServed, madeIndex, placesOf, sampleLines } from '../serving-index/served-lake.ts'
import { type Document, problems } from './schema-problems.ts'

const served = async (): Promise<Document> =>
  (await (await get(`${await openFake()}/openapi.json`, {})).json()) as Document

test('the document is valid OpenAPI 3.1, its references included', async () => {
  const document = await served()
  const validator = new Validator()
  const result = await validator.validate({ ...document })
  expect(result).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)
  const components: Readonly<Record<string, object>> = document.components
  for (const [reference, kind = '', name = ''] of references)
    expect(components[kind], reference).toHaveProperty(name)
})

test('the document has every operation with its method', () => {
  const { paths } = openApiDocument() as unknown as Document
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [
      operationId,
      { method: method.toUpperCase(), path },
    ]),
  )
  expect(Object.fromEntries(found)).toEqual(OPERATIONS)
})

const BASICS = { InternalId: 1, IndustryCode: { IndustryCodes: [] }, HasReportedMissingUBO: false }

test('records of the service fit the schemas, and wrong ones do not', () => {
  const { schemas } = (openApiDocument() as unknown as Document).components
  const check = (name: string, value: unknown): string[] => problems(schemas, { $ref: `x/${name}` }, value)
  const company = {
    BasicDetails: BASICS,
    Financials: { ProfitAndLoss: { NetSales: { 2023: 12.5 } } },
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands' },
  }
  expect(check('CompaniesAnswer', { Companies: [company] })).toEqual([])
  expect(check('CompaniesAnswer', { Companies: [{ ...company, Score: 'high' }] })).toEqual([
    '.Companies[0].Score: string',
  ])
  expect(check('Company', { BasicDetails: { CompanyName: 'x' } })).toHaveLength(3)
  const person = {
    InternalId: 2,
    Name: 'Protected Identity',
    Addresses: 'Protected Identity',
    Citizenships: ['Protected Identity'],
    IsProtected: true,
    History: [{ InternalId: 2, History: [{ InternalId: 2 }] }],
  }
  expect(check('RelationsAnswer', { Relations: [{ InternalId: 1, Parents: [person] }] })).toEqual([])
  const wrong = { ...person, History: [{ InternalId: 'x' }] }
  expect(check('RelationsCompany', { Parents: [wrong] })).toEqual([
    '.InternalId: missing',
    '.Parents[0].History[0].InternalId: string',
  ])
})

test('records of the sample, as they are served, fit the schemas', async () => {
  const { schemas } = (openApiDocument() as unknown as Document).components
  const bench = await Workbench.open()
  onTestFinished(() => bench.close())
  const { index, rows } = await madeIndex(
    await loadServed(
      bench,
      { content: 'companies', lines: await sampleLines('companies', 100) },
      { content: 'relations', lines: await sampleLines('relations', 100) },
    ),
  )
  onTestFinished(() => index.close())
  for (const [content, table, name] of [
    ['companies', 'company', 'Company'],
    ['relations', 'relation', 'RelationsCompany'],
  ] as const) {
    const places = placesOf(await rows(`SELECT * FROM serving.${table}`))
    const documents = await index.documents(content, places)
    expect(documents).toHaveLength(100)
    const found = documents.flatMap((text) =>
      problems(schemas, { $ref: `x/${name}` }, JSON.parse(text.toString())),
    )
    expect(found).toEqual([])
  }
})

test('request schemas carry the defaults of the contract', () => {
  const { CompaniesRequest } = (openApiDocument() as unknown as Document).components.schemas
  expect(CompaniesRequest?.required).toEqual(['SearchParameters'])
  expect(CompaniesRequest?.properties?.PageSize?.default).toBe(LIMITS.pageSize.default)
  expect(CompaniesRequest?.properties?.Cursor).toMatchObject({ type: ['string', 'null'], default: null })
})
