/** Each sentence that a request can provoke from the real server, and the code that the real client makes of it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { COMPANY_MESSAGES, type Message, RELATIONS_MESSAGES, sentence } from '../../src/contract/messages.ts'
import type { Content } from '../../src/contract/objects.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { newTokenRegistry, tokenHash } from '../../src/server/access/choose-tokens.ts'
import type { PageRequest } from '../../src/source/service/page-request.ts'
import { openBench } from '../run/batch-bench.ts'
import { loadCompanies, PAGE_SIZE, pullFrom, SEARCH, serving, TOKEN } from './serving.ts'

let served = ''

beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  served = bench.lake
  await loadCompanies(bench)
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

interface Provoked {
  readonly request: Partial<PageRequest>
  /** The client's action ends with the service's sentence, without its full stop. */
  readonly says: string
  readonly code: ErrorCode
}

/** Sorting is nothing that the client's requests have. */
type Sorting = 'sortFieldInvalid' | 'sortDirectionInvalid'

/** What of a search is not known to be harmless is not shown. */
const HIDDEN = '…'
const DAYS = ['2025-01-01', '2025-01-02', '2025-01-03']
const { cursorCapReached } = COMPANY_MESSAGES

const COMPANIES: Readonly<Record<Exclude<keyof typeof COMPANY_MESSAGES, Sorting>, Provoked>> = {
  searchParametersMissing: {
    request: { search: {} },
    says: COMPANY_MESSAGES.searchParametersMissing.text,
    code: 'SEARCH_MISSING',
  },
  pageNumberInvalid: {
    request: { pageNumber: 11 },
    says: COMPANY_MESSAGES.pageNumberInvalid.text,
    code: 'PAGE_NUMBER_REFUSED',
  },
  pageSizeInvalid: {
    request: { pageSize: 501 },
    says: COMPANY_MESSAGES.pageSizeInvalid.text,
    code: 'PAGE_SIZE_REFUSED',
  },
  currencyInvalid: {
    request: { currency: 'XYZ' },
    says: COMPANY_MESSAGES.currencyInvalid.text,
    code: 'CURRENCY_REFUSED',
  },
  countryUnauthorized: {
    request: { search: { CountryCode: ['NO'] } },
    says: sentence(COMPANY_MESSAGES.countryUnauthorized, { value: 'NO' }),
    code: 'COUNTRY_REFUSED',
  },
  parameterInvalid: {
    request: { search: { Colour: ['red'] } },
    says: sentence(COMPANY_MESSAGES.parameterInvalid, { param: 'Colour' }),
    code: 'PARAMETER_REFUSED',
  },
  cursorInvalid: {
    request: { cursor: 'invented' },
    says: COMPANY_MESSAGES.cursorInvalid.text,
    code: 'CURSOR_REFUSED',
  },
  // The cursor of a chain that has delivered all it may: set below.
  cursorCapReached: { request: {}, says: cursorCapReached.text, code: 'CURSOR_CAP' },
  cursorCombined: {
    request: { cursor: '*', minified: true },
    says: COMPANY_MESSAGES.cursorCombined.text,
    code: 'CURSOR_COMBINED',
  },
  dateInvalid: {
    request: { search: { ContentUpdatedAt: ['1.1.2025'] } },
    says: sentence(COMPANY_MESSAGES.dateInvalid, { param: 'ContentUpdatedAt', value: HIDDEN }),
    code: 'VALUES_REFUSED',
  },
  tooManyDates: {
    request: { search: { ContentUpdatedAt: DAYS } },
    says: sentence(COMPANY_MESSAGES.tooManyDates, { param: 'ContentUpdatedAt' }),
    code: 'VALUES_REFUSED',
  },
  tooManyValues: {
    request: { search: { NetSales: [1, 2, 3] } },
    says: sentence(COMPANY_MESSAGES.tooManyValues, { param: 'NetSales' }),
    code: 'VALUES_REFUSED',
  },
}

const RELATIONS: Readonly<Record<keyof typeof RELATIONS_MESSAGES, Provoked>> = {
  searchParametersMissing: {
    request: { search: {} },
    says: RELATIONS_MESSAGES.searchParametersMissing.text,
    code: 'SEARCH_MISSING',
  },
  pageSizeInvalid: {
    request: { pageSize: 501 },
    says: RELATIONS_MESSAGES.pageSizeInvalid.text,
    code: 'PAGE_SIZE_REFUSED',
  },
  cursorInvalid: {
    request: { cursor: 'invented' },
    says: RELATIONS_MESSAGES.cursorInvalid.text,
    code: 'CURSOR_REFUSED',
  },
  cursorCapReached: { request: {}, says: cursorCapReached.text, code: 'CURSOR_CAP' },
  parameterInvalid: {
    request: { search: { NetSales: [1] } },
    says: sentence(RELATIONS_MESSAGES.parameterInvalid, { param: 'NetSales' }),
    code: 'PARAMETER_REFUSED',
  },
  countryUnauthorized: {
    request: { search: { CountryCode: ['NO'] } },
    says: sentence(RELATIONS_MESSAGES.countryUnauthorized, { value: 'NO' }),
    code: 'COUNTRY_REFUSED',
  },
  tooManyIds: {
    request: { search: { InternalId: Array.from({ length: 501 }, (_, at) => 10_001 + at) } },
    says: RELATIONS_MESSAGES.tooManyIds.text,
    code: 'VALUES_REFUSED',
  },
  countryRequired: {
    request: { search: { NationalIdentificationNumber: ['19121212-1212'] } },
    says: RELATIONS_MESSAGES.countryRequired.text,
    code: 'COUNTRY_NEEDED',
  },
  contentUpdatedAtInvalid: {
    request: { search: { ContentUpdatedAt: ['1.1.2025'] } },
    says: sentence(RELATIONS_MESSAGES.contentUpdatedAtInvalid, { value: HIDDEN }),
    code: 'VALUES_REFUSED',
  },
  contentUpdatedAtTooMany: {
    request: { search: { ContentUpdatedAt: DAYS } },
    says: RELATIONS_MESSAGES.contentUpdatedAtTooMany.text,
    code: 'VALUES_REFUSED',
  },
  relationsUpdatedAtInvalid: {
    request: { search: { RelationsUpdatedAt: ['1.1.2025'] } },
    says: sentence(RELATIONS_MESSAGES.relationsUpdatedAtInvalid, { value: HIDDEN }),
    code: 'VALUES_REFUSED',
  },
  relationsUpdatedAtTooMany: {
    request: { search: { RelationsUpdatedAt: DAYS } },
    says: RELATIONS_MESSAGES.relationsUpdatedAtTooMany.text,
    code: 'VALUES_REFUSED',
  },
}

/** A server whose only token may see Sweden, and whose chains end after two pages. */
const narrow = () =>
  serving(served, {
    cursorCap: 2 * PAGE_SIZE,
    tokens: newTokenRegistry([
      {
        caller: {
          name: 'swede',
          rights: { countries: new Map([['SE', new Set<never>()]]), withoutCountry: null },
        },
        sha256: tokenHash(TOKEN),
      },
    ]),
  })

const provocations = (
  content: Content,
  messages: Readonly<Record<string, Message>>,
  provoked: Readonly<Record<string, Provoked>>,
) =>
  Object.keys(messages).flatMap((message) => {
    const one = provoked[message]
    return one === undefined ? [] : [{ content, message, ...one }]
  })

test.each([
  ...provocations('companies', COMPANY_MESSAGES, COMPANIES),
  ...provocations('relations', RELATIONS_MESSAGES, RELATIONS),
])('$content: $message is $code', async ({ content, message, request, says, code }) => {
  const { service } = await narrow()
  const first = { content, search: SEARCH, pageSize: PAGE_SIZE }
  const nextOf = async (cursor: string): Promise<string> => {
    const { pagination } = await service.page({ ...first, cursor }, () => undefined)
    return pagination.Cursor ?? ''
  }
  const atCap = message === 'cursorCapReached' && { cursor: await nextOf(await nextOf('*')) }
  const page = { ...first, ...request, ...atCap }
  const before = service.counters().requests
  const error = await service.page(page, () => undefined).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code, context: { status: 400 } })
  expect(String(error)).toMatch(new RegExp(`^ToolkitError: Cannot fetch (a page|page 11) of ${content}`))
  // A person's number is no one's to log.
  expect(String(error)).not.toContain('1212')
  expect(String(error)).toContain(`it says: ${says.replace(/\.$/, '')}`)
  // What is refused is not asked again.
  expect(service.counters().requests - before).toBe(1)
})

test('several sentences stand in one error, whose code is that of the first', async () => {
  const { service } = await narrow()
  const request = {
    content: 'companies',
    search: { Colour: ['red'] },
    pageSize: 501,
    currency: 'XYZ',
  } as const
  const error = await service.page(request, () => undefined).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'PAGE_SIZE_REFUSED' })
  const { pageSizeInvalid, currencyInvalid, parameterInvalid } = COMPANY_MESSAGES
  const all = [pageSizeInvalid.text, currencyInvalid.text, sentence(parameterInvalid, { param: 'Colour' })]
  expect(String(error)).toContain(`it says: ${all.join(' ').replace(/\.$/, '')}`)
})

test('a pull with a token of every country is refused for a code that is no country, and goes on for one without records', async () => {
  const server = await serving(served)
  const into = await mkdtemp(join(tmpdir(), 'firmlake-'))
  onTestFinished(() => rm(into, { recursive: true, force: true }))
  const typo = pullFrom(server, into, { search: { CountryCode: ['SE', 'ZZ'] } })
  await expect(typo).rejects.toMatchObject({ code: 'COUNTRY_REFUSED' })
  await expect(typo).rejects.toThrow('ZZ is an unauthorized country code')
  const none = await pullFrom(server, into, { search: { CountryCode: ['NO'] } })
  expect(none.entry.received).toBe(0)
})
