import { expect, test } from 'vitest'
import {
  COMPANY_MESSAGES,
  OTHER_STATUSES,
  RELATIONS_MESSAGES,
  sentence,
  validationBody,
} from '../../src/contract/messages.ts'

const stringsOf = (messages: Readonly<Record<string, { readonly text: string }>>) =>
  Object.values(messages).map(({ text }) => text)

test('COMPANY_MESSAGES are the sentences of the interface in its order, then those of the open points', () => {
  expect(stringsOf(COMPANY_MESSAGES)).toEqual([
    'Searchparameters are missing.',
    'Pagenumber must be between 1-10.',
    'Pagesize could max be 500.',
    'Currency is invalid.',
    'Sortfield is invalid.',
    'Sort direction is invalid.',
    '{value} is an unauthorized country code.',
    '{param} is an invalid parameter.',
    'Cursor has not a valid value.',
    'You are not allowed to iterate more than 100000 via cursor.',
    'MinifiedSearch,SortByColumn,PageNumber,SortByDirection cant be applied when using Cursor.',
    'Invalid date format in {param}: {value}.',
    '{param} can only maximum contain two dates.',
    '{param} can only maximum contain two values.',
  ])
})

test('RELATIONS_MESSAGES are the sentences of the interface in its order', () => {
  expect(stringsOf(RELATIONS_MESSAGES)).toEqual([
    'Searchparameters are missing.',
    'Pagesize is invalid (Maximum pagesize: 500).',
    'Cursor has not a valid value.',
    'You are not allowed to iterate more than 100000 via cursor.',
    '{param} is an invalid parameter.',
    '{value} is an unauthorized country code.',
    'InternalIds can max be set to 500.',
    'CountryCode is required when searching with NationalIdentificationNumber.',
    'Invalid date format in ContentUpdatedAt: {value}.',
    'ContentUpdatedAt can only maximum contain two dates.',
    'Invalid date format in RelationsUpdatedAt: {value}.',
    'RelationsUpdatedAt can only maximum contain two dates.',
  ])
})

test('sentence fills in placeholders and leaves braces in values alone', () => {
  expect(sentence(COMPANY_MESSAGES.dateInvalid, { param: 'OwnersUpdatedAt', value: '{param}' })).toBe(
    'Invalid date format in OwnersUpdatedAt: {param}.',
  )
  expect(sentence(COMPANY_MESSAGES.currencyInvalid, {})).toBe('Currency is invalid.')
  // @ts-expect-error a placeholder without a value does not compile
  expect(sentence(COMPANY_MESSAGES.parameterInvalid, {})).toBe('{param} is an invalid parameter.')
})

test('validationBody holds all messages under errors.parameters', () => {
  expect(validationBody(['a', 'b'])).toMatchObject({ status: 400, errors: { parameters: ['a', 'b'] } })
})

test('OTHER_STATUSES retries the rate limit only', () => {
  expect(OTHER_STATUSES.map(({ status, retry }) => [status, retry])).toEqual([
    [401, false],
    [429, true],
  ])
})
