import { describe, expect, test } from 'vitest'
import {
  BODY_MESSAGES,
  COMPANY_MESSAGES,
  RELATIONS_MESSAGES,
  validationBody,
} from '../../../src/contract/messages.ts'
import { hiderOf } from '../../../src/source/service/page-request.ts'
import { refusal, refusalCode } from '../../../src/source/service/refusals.ts'
import { answeringServer, client, page, status, TOKEN } from './answering-server.ts'

const filled = (text: string): string => text.replaceAll(/\{\w+\}/g, 'a (b) c.')
const own = { companies: COMPANY_MESSAGES, relations: RELATIONS_MESSAGES } as const

describe.each(['companies', 'relations'] as const)('of %s', (content) => {
  test.each(Object.values(own[content]).map(({ text }) => [text]))('refusalCode knows %j', (text) => {
    const code = refusalCode(content, filled(text))
    expect(code).not.toBe('REQUEST_REFUSED')
    expect(code).toBe(EXPECTED[text])
  })
})

const EXPECTED: Readonly<Record<string, string>> = {
  'Searchparameters are missing.': 'SEARCH_MISSING',
  'Pagenumber must be between 1-10.': 'PAGE_NUMBER_REFUSED',
  'Pagesize could max be 500.': 'PAGE_SIZE_REFUSED',
  'Pagesize is invalid (Maximum pagesize: 500).': 'PAGE_SIZE_REFUSED',
  'Currency is invalid.': 'CURRENCY_REFUSED',
  'Sortfield is invalid.': 'SORT_REFUSED',
  'Sort direction is invalid.': 'SORT_REFUSED',
  '{value} is an unauthorized country code.': 'COUNTRY_REFUSED',
  '{param} is an invalid parameter.': 'PARAMETER_REFUSED',
  'Cursor has not a valid value.': 'CURSOR_REFUSED',
  'You are not allowed to iterate more than 100000 via cursor.': 'CURSOR_CAP',
  'MinifiedSearch,SortByColumn,PageNumber,SortByDirection cant be applied when using Cursor.':
    'CURSOR_COMBINED',
  'Invalid date format in {param}: {value}.': 'VALUES_REFUSED',
  '{param} can only maximum contain two dates.': 'VALUES_REFUSED',
  '{param} can only maximum contain two values.': 'VALUES_REFUSED',
  'InternalIds can max be set to 500.': 'VALUES_REFUSED',
  'CountryCode is required when searching with NationalIdentificationNumber.': 'COUNTRY_NEEDED',
  'Invalid date format in ContentUpdatedAt: {value}.': 'VALUES_REFUSED',
  'ContentUpdatedAt can only maximum contain two dates.': 'VALUES_REFUSED',
  'Invalid date format in RelationsUpdatedAt: {value}.': 'VALUES_REFUSED',
  'RelationsUpdatedAt can only maximum contain two dates.': 'VALUES_REFUSED',
}

test.each(Object.values(BODY_MESSAGES).map(({ text }) => [text]))(
  'a request of a wrong form stays one: %j',
  (text) => {
    expect(refusalCode('companies', filled(text))).toBe('REQUEST_REFUSED')
  },
)

test('refusalCode knows a sentence whole or not at all', () => {
  expect(refusalCode('companies', 'Currency is invalid. Or is it?')).toBe('REQUEST_REFUSED')
  expect(refusalCode('companies', 'Pagesize could max be 500x')).toBe('REQUEST_REFUSED')
})

const asIs = (text: string): string => text

test('refusal takes the first known sentence for the code and shows all', () => {
  const body = JSON.stringify(
    validationBody(['Something new.', 'Currency is invalid.', 'Sortfield is invalid.']),
  )
  expect(refusal('Cannot fetch', 'companies', body, asIs)).toMatchObject({
    code: 'CURRENCY_REFUSED',
    message:
      'Cannot fetch: the service refuses the request (400), it says: ' +
      'Something new. Currency is invalid. Sortfield is invalid',
  })
})

test.each(['', 'Bad request', '<html>', 'null', '[]', '{"errors":5}', '{"errors":{"parameters":[5]}}'])(
  'refusal takes a body %j',
  (body) => {
    expect(refusal('Cannot fetch', 'companies', body, asIs)).toMatchObject({
      code: 'REQUEST_REFUSED',
      message: 'Cannot fetch: the service refuses the request (400)',
    })
  },
)

test('refusal shows no control characters and no endless text', () => {
  const body = JSON.stringify(validationBody([`a\u001b[31m\nb${'x'.repeat(10_000)}`]))
  const { message } = refusal('Cannot fetch', 'companies', body, asIs)
  expect(message).not.toMatch(/\p{Cc}/u)
  expect(message.length).toBeLessThan(700)
})

test("a refusal names the request's window, never a person's number or the token", async () => {
  const echo = validationBody([
    '19121212-1212 is an unauthorized country code.',
    `191212121212 is an invalid parameter. ${TOKEN}`,
  ])
  const server = await answeringServer(status(400, {}, JSON.stringify(echo)))
  const search = {
    NationalIdentificationNumber: ['19121212-1212'],
    CountryCode: ['SE', '1912121212'],
    ContentUpdatedAt: ['2024-01-01', '2024-01-31'],
  }
  const request = { content: 'relations', search, pageSize: 500 } as const
  const error: unknown = await client(server.url)
    .page(request, () => null)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'COUNTRY_REFUSED', context: { status: 400 } })
  const text = error instanceof Error ? error.message : ''
  expect(text).toContain('ContentUpdatedAt=2024-01-01..2024-01-31')
  expect(text).toContain('NationalIdentificationNumber (1 value)')
  expect(text).not.toMatch(/1912|secret/)
})

const MANY = Array.from({ length: 80_000 }, (_, at) => `p${at} is an invalid parameter.`)

test('refusal shows the first few of eighty thousand sentences, and those before the end of a body that is cut', () => {
  const body = JSON.stringify(validationBody(MANY))
  const errors = [body, body.slice(0, 64 * 1024), body.slice(0, 1000)].map((one) =>
    refusal('Cannot fetch', 'companies', one, asIs),
  )
  for (const error of errors)
    expect(error).toMatchObject({
      code: 'PARAMETER_REFUSED',
      message:
        'Cannot fetch: the service refuses the request (400), it says: p0 is an invalid parameter. ' +
        `${[1, 2, 3, 4].map((at) => `p${at} is an invalid parameter.`).join(' ')} … and more`,
    })
})

test('a refusal of eighty thousand sentences is read once, and not to its end', async () => {
  const server = await answeringServer(status(400, {}, JSON.stringify(validationBody(MANY))))
  const service = client(server.url)
  const request = { content: 'companies', search: { P: ['x'] }, pageSize: 500 } as const
  await expect(service.page(request, () => null)).rejects.toMatchObject({ code: 'PARAMETER_REFUSED' })
  expect(server.seen).toHaveLength(1)
  expect(service.counters().bytes).toBeLessThan(1024 * 1024)
})

test('a busy service is waited for, however long the page is that says so', async () => {
  const busy = status(429, { 'Retry-After': '1' }, 'x'.repeat(200_000))
  const server = await answeringServer(busy, page())
  const service = client(server.url)
  await service.page({ content: 'companies', search: { P: ['x'] }, pageSize: 500 }, () => null)
  expect(service.counters()).toMatchObject({ requests: 2, throttled: 1 })
})

test('hiderOf takes the longer of two secrets first', () => {
  expect(hiderOf('tok', { OrgNo: ['1234', '12345'] })('12345 1234 tok')).toBe('… … …')
})
