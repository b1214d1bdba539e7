/**
 * A small service over companies in memory: cursor and page mode, counts, parameters. It knows the filters that
 * the tests of pulling need and nothing else; the real server is tested with its own tests.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { LIMITS, PAGINATION_HEADER } from '../../src/contract/limits.ts'
import { COMPANY_MESSAGES, sentence, validationBody } from '../../src/contract/messages.ts'
import type { Content } from '../../src/contract/objects.ts'
import type { SearchParameters } from '../../src/contract/requests.ts'

export interface FakeCompany {
  readonly id: number
  readonly name?: string
  readonly country?: string
  readonly status?: number
  readonly legalForm?: number
  /** Days, `yyyy-MM-dd`, by date parameter. */
  readonly dates?: Readonly<Record<string, string>>
  /** A line item with a figure. */
  readonly lineItem?: string
  /** That figure. @default its id */
  readonly value?: number
}

export interface FakeRequest {
  readonly content: Content
  readonly search: SearchParameters
  readonly pageSize: number
  readonly cursor?: string
  readonly pageNumber: number
  readonly minified: boolean
  readonly sortBy?: string
  readonly descending?: boolean
}

/** What is answered in place of the page that is due. */
export type Instead =
  | { readonly refuse: string }
  /** Seconds of `Retry-After` with a 429. */
  | { readonly busy: number }
  | {
      readonly companies: readonly FakeCompany[]
      readonly cursor: string | null
      readonly totalCount?: number
      /** `Count` of the header. @default as many as there are */
      readonly count?: number
    }

export interface FakeServiceOptions {
  /** By id, ascending. */
  readonly companies: readonly FakeCompany[]
  /** Companies that a chain delivers. @default 100_000 */
  readonly cap?: number
  /** Its clock, which stands still. @default that of this machine when it opens, for clients in processes of their own */
  readonly now?: string | (() => string)
  /** Called before each answer to a search but the counts; `nth` counts them from 1. */
  readonly before?: (request: FakeRequest, nth: number) => Promise<Instead | undefined> | Instead | undefined
  readonly dateParameters?: readonly string[]
  /** The order of hits of a `DynamicSearch` in page mode, for each page anew. @default descending ids */
  readonly byScore?: (hits: readonly FakeCompany[], pageNumber: number, nth: number) => readonly FakeCompany[]
  /** Whether page mode sorts by InternalId, and the listing says so. @default false */
  readonly sortable?: boolean
}

export interface FakeService {
  readonly url: string
  readonly token: string
  /** Its clock, for a client on a machine that has the same. */
  readonly clock: () => Date
  /** Searches answered that are no counts. */
  readonly pages: readonly FakeRequest[]
  /** Searches for one record: counts. */
  readonly counts: () => number
  /** Replaces what it holds. */
  readonly hold: (companies: readonly FakeCompany[]) => void
  readonly close: () => Promise<void>
}

const CODED: Readonly<Record<string, (company: FakeCompany) => string | number | undefined>> = {
  CountryCode: ({ country }: FakeCompany) => country,
  OperationalStatus: ({ status }: FakeCompany) => status,
  LegalForm: ({ legalForm }: FakeCompany) => legalForm,
  InternalId: ({ id }: FakeCompany) => id,
}
const DATES = ['ContentUpdatedAt', 'CompanyInfoUpdatedAt', 'RelationsUpdatedAt']
const TOKEN = 'fake-token'

const isText = (name: string): boolean => /^(?:dynamic|semantic)search$/i.test(name)

type Test = (company: FakeCompany) => boolean

const testOf = (
  name: string,
  values: readonly (string | number)[],
  dates: readonly string[],
): Test | undefined => {
  const coded = Object.entries(CODED).find(([other]) => other.toLowerCase() === name.toLowerCase())
  if (coded) {
    const wanted = new Set(values.map(String))
    return (company) => wanted.has(String(coded[1](company)))
  }
  if (isText(name)) return () => true
  const date = dates.find((other) => other.toLowerCase() === name.toLowerCase())
  if (date === undefined) return undefined
  const [from = '', to = '9999-12-31'] = values.map(String)
  return ({ dates: days = {} }) => {
    const day = days[date]
    return day !== undefined && day >= from && day <= to
  }
}

const metaOf = (dates: FakeCompany['dates'] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(dates).map(([name, day]) => [name, `${day}T00:00:00`]))

const fieldsOf = ({ id, name = `Company ${id}`, country, status, legalForm }: FakeCompany) => ({
  InternalId: id,
  CompanyName: name,
  CountryCode: country,
  OperationalStatus: status,
  LegalForm: legalForm,
})

const recordOf = (company: FakeCompany, content: Content, minified: boolean): object => {
  const { LegalForm, ...fields } = fieldsOf(company)
  if (content === 'relations') return { InternalId: company.id, Name: fields.CompanyName, Children: [] }
  return minified
    ? { MinifiedInfo: { ...fields, ...metaOf(company.dates) } }
    : {
        BasicDetails: { ...fields, LegalForm },
        MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None', ...metaOf(company.dates) },
        ...(company.lineItem && {
          Financials: { ProfitAndLoss: { [company.lineItem]: { 2023: company.value ?? company.id } } },
        }),
      }
}

/** A cursor: the last id, how many the chain has delivered, and the search it belongs to. */
export const cursorAt = (lastId: number, delivered: number, search: SearchParameters): string =>
  Buffer.from(JSON.stringify([lastId, delivered, search])).toString('base64url')

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

export const openFakeService = async (options: FakeServiceOptions): Promise<FakeService> => {
  const { cap = LIMITS.cursorCap, now = new Date().toISOString(), before, dateParameters = DATES } = options
  const clock = (): Date => new Date(typeof now === 'string' ? now : now())
  let companies = options.companies
  let matches = new Map<string, readonly FakeCompany[]>()
  const pages: FakeRequest[] = []
  let counts = 0

  const refuse = (response: ServerResponse, ...messages: string[]): void => {
    response.writeHead(400, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(validationBody(messages)))
  }
  const matching = (search: SearchParameters): readonly FakeCompany[] | string => {
    const key = JSON.stringify(search)
    const known = matches.get(key)
    if (known) return known
    const tests: Test[] = []
    for (const [name, values] of Object.entries(search)) {
      const one = testOf(name, values, dateParameters)
      if (!one) return sentence(COMPANY_MESSAGES.parameterInvalid, { param: name })
      tests.push(one)
    }
    const found = companies.filter((company) => tests.every((one) => one(company)))
    matches.set(key, found)
    return found
  }
  const listing = (content: Content): object => {
    const values = (name: string) =>
      [...new Set(companies.map((company) => CODED[name]?.(company)))]
        .filter((value) => value !== undefined)
        .map((Value) => ({ Value, Name: `${Value}` }))
    const coded = content === 'companies' ? ['CountryCode', 'OperationalStatus', 'LegalForm'] : []
    return {
      SearchParameters: [
        { ParameterName: 'InternalId', Datatype: 'number', ...(options.sortable && { IsSortable: true }) },
        ...['DynamicSearch', 'SemanticSearch'].map((ParameterName) => ({
          ParameterName,
          Datatype: 'string',
        })),
        ...(content === 'relations' ? [{ ParameterName: 'CountryCode', Datatype: 'string' }] : []),
        ...coded.map((ParameterName) => ({
          ParameterName,
          Datatype: 'string',
          Values: values(ParameterName),
        })),
        ...dateParameters.map((ParameterName) => ({ ParameterName, Datatype: 'date' })),
      ],
    }
  }
  const send = (
    response: ServerResponse,
    { content, minified, pageSize, cursor: asked, pageNumber }: FakeRequest,
    rows: readonly FakeCompany[],
    totalCount: number,
    cursor: string | null,
    count = rows.length,
  ): void => {
    const inPages = asked === undefined && content === 'companies'
    const paging = inPages
      ? {
          CurrentPage: pageNumber,
          HasPrevious: pageNumber > 1,
          HasNext: pageNumber * pageSize < totalCount,
        }
      : { Cursor: cursor }
    response.setHeader(
      PAGINATION_HEADER,
      JSON.stringify({
        Count: count,
        TotalCount: totalCount,
        PageSize: pageSize,
        TotalPages: Math.ceil(totalCount / pageSize),
        ...paging,
      }),
    )
    const list = rows.map((company) => recordOf(company, content, minified))
    response.end(JSON.stringify(content === 'companies' ? { Companies: list } : { Relations: list }))
  }
  const search = async (request: FakeRequest, response: ServerResponse): Promise<void> => {
    const found = matching(request.search)
    if (typeof found === 'string') return refuse(response, found)
    const { pageSize, cursor, pageNumber } = request
    if (pageSize === 1) {
      counts += 1
      return send(response, request, found.slice(0, 1), found.length, null)
    }
    pages.push(request)
    const instead = await before?.(request, pages.length)
    if (instead && 'refuse' in instead) return refuse(response, instead.refuse)
    if (instead && 'busy' in instead) {
      response.writeHead(429, { 'Retry-After': String(instead.busy) })
      response.end()
      return
    }
    if (instead) {
      const { companies: rows, totalCount = found.length, cursor: next, count } = instead
      return send(response, request, rows, totalCount, next, count)
    }
    if (cursor === undefined) {
      const from = (pageNumber - 1) * pageSize
      if (pageNumber > LIMITS.pageNumber.max) return refuse(response, COMPANY_MESSAGES.pageNumberInvalid.text)
      const scored = Object.keys(request.search).some(isText) && request.sortBy === undefined
      const { byScore = (hits) => hits.toReversed() } = options
      const sorted = request.descending ? found.toReversed() : found
      const hits = scored ? byScore(found, pageNumber, pages.length) : sorted
      return send(response, request, hits.slice(from, from + pageSize), found.length, null)
    }
    const [lastId, delivered, bound] = cursor === '*' ? [0, 0, request.search] : readCursor(cursor)
    if (JSON.stringify(bound) !== JSON.stringify(request.search))
      return refuse(response, COMPANY_MESSAGES.cursorInvalid.text)
    if (delivered >= cap) return refuse(response, COMPANY_MESSAGES.cursorCapReached.text)
    const at = firstAbove(found, lastId)
    const rows = found.slice(at, at + Math.min(pageSize, cap - delivered))
    const more = at + rows.length < found.length
    const next = more ? cursorAt(rows.at(-1)?.id ?? lastId, delivered + rows.length, request.search) : null
    return send(response, request, rows, found.length, next)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const content: Content = request.url?.startsWith('/v2/relations') ? 'relations' : 'companies'
    response.setHeader('Date', clock().toUTCString())
    response.setHeader('Content-Type', 'application/json')
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      response.writeHead(401)
      response.end()
      return
    }
    if (request.method === 'GET') {
      response.end(JSON.stringify(listing(content)))
      return
    }
    const body = await bodyOf(request)
    await search(
      {
        content,
        search: body.SearchParameters as SearchParameters,
        pageSize: Number(body.PageSize ?? 10),
        pageNumber: Number(body.PageNumber ?? 1),
        minified: body.MinifiedSearch === true,
        ...(typeof body.Cursor === 'string' && { cursor: body.Cursor }),
        ...(typeof body.SortByColumn === 'string' && { sortBy: body.SortByColumn }),
        ...(body.SortByDirection === 'DESC' && { descending: true }),
      },
      response,
    )
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    clock,
    pages,
    counts: () => counts,
    hold: (others) => {
      companies = others
      matches = new Map()
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const readCursor = (cursor: string): [lastId: number, delivered: number, search: SearchParameters] => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return [0, 0, {}]
  }
}

/** Place of the first company with a greater id. */
const firstAbove = (companies: readonly FakeCompany[], id: number): number => {
  let [low, high] = [0, companies.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((companies[middle]?.id ?? 0) <= id) low = middle + 1
    else high = middle
  }
  return low
}
