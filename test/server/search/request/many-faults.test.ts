/** Requests that have a fault in each of their values: as many as a body of a mebibyte has room for. */

import { expect, test } from 'vitest'
import { checkCompanyRequest } from '../../../../src/server/search/request/check-company-request.ts'
import { checkRelationsRequest } from '../../../../src/server/search/request/check-relations-request.ts'
import { callerOf, emptyParts } from '../search-parts.ts'

const PARTS = emptyParts()
const MOST = 100
const CALLER = callerOf({ SE: [] })
const CHECKS = { companies: checkCompanyRequest, relations: checkRelationsRequest } as const

const named = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value]))
const strings = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => at.toString(36))

test.each<[string, object, string]>([
  ['unknown parameters', named(80_000, ['x']), 'p0 is an invalid parameter.'],
  ['days', { ContentUpdatedAt: strings(150_000) }, 'Invalid date format in ContentUpdatedAt: 0.'],
  ['countries', { CountryCode: strings(150_000) }, '0 is an unauthorized country code.'],
])('a refusal has the first hundred messages about %s', (_what, SearchParameters, first) => {
  for (const check of Object.values(CHECKS)) {
    const checked = check(PARTS, CALLER, { SearchParameters })
    const messages = checked.kind === 'refused' ? checked.messages : []
    expect([messages.length, messages[0]]).toEqual([MOST, first])
  }
})
