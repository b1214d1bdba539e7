/** How a search is named in messages: dates, codes and countries as they are, nothing that may name a person. */

import { FILTER_CLASSES, type SearchParameters } from '../../contract/requests.ts'

/** Codes that name a kind of company, never one. */
const SHOWN = [
  'CountryCode',
  'OperationalStatus',
  'LegalForm',
  'CompanyType',
  'ListingType',
  'IndustryCode',
  ...FILTER_CLASSES.date.parameters,
].map((name) => name.toLowerCase())

/** By the form too: what stands under a harmless name may have been put there by mistake. */
const SHOWN_VALUE = /^(?:\d{4}-\d{2}-\d{2}|\d{1,6}|[A-Za-z]{2,8})$/
const MAX_VALUES = 6

const isShown = (name: string, value: string | number): boolean =>
  SHOWN.includes(name.toLowerCase()) && SHOWN_VALUE.test(String(value))

const valuesLabel = (name: string, values: readonly (string | number)[]): string => {
  if (values.length > MAX_VALUES || !values.every((value) => isShown(name, value))) {
    return `${name} (${values.length} ${values.length === 1 ? 'value' : 'values'})`
  }
  const isDate = FILTER_CLASSES.date.parameters.some((date) => date.toLowerCase() === name.toLowerCase())
  return `${name}=${values.join(isDate ? '..' : ',')}`
}

/** @example searchLabel({ ContentUpdatedAt: ['2024-01-01', '2024-01-31'] }) // 'ContentUpdatedAt=2024-01-01..2024-01-31' */
export const searchLabel = (search: SearchParameters): string =>
  Object.entries(search)
    .map(([name, values]) => valuesLabel(name, values))
    .join(' ') || 'no parameters'

/** Takes the token and every value that a label would not show out of what a service says. */
export const hiderOf = (token: string, search: SearchParameters = {}): ((text: string) => string) => {
  const secrets = Object.entries(search)
    .flatMap(([name, values]) => values.filter((value) => !isShown(name, value)).map(String))
    .flatMap((value) => [value, value.replaceAll(/[\s-]/g, '')])
    .concat(token)
    .filter((value) => value.length > 1)
    .sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
}
