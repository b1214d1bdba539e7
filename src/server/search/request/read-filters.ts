/** From the SearchParameters of a request to filters, or to what is wrong with them. Knows no SQL and no caller. */

import { LIMITS } from '../../../contract/limits.ts'
import type { Content } from '../../../contract/objects.ts'
import { FILTER_CLASSES } from '../../../contract/requests.ts'
import { comparedNumber } from '../../../core/person-keys.ts'
import { SERVER_LIMITS } from '../../../core/server-limits.ts'
import type { ExactObject } from '../../../support/exact-json.ts'
import { type KnownParameter, parameterGiven } from './known-parameters.ts'
import { fieldMessage } from './request-fields.ts'

export type Filter =
  /** Any of these whole numbers. */
  | { readonly kind: 'numbers'; readonly name: string; readonly values: readonly bigint[] }
  /** Any of these texts, in the form in which they are compared. */
  | { readonly kind: 'strings'; readonly name: string; readonly values: readonly string[] }
  /** `to` is `null` for "at least"; `year` is `null` for the latest. Amounts in the requested currency. */
  | {
      readonly kind: 'figure'
      readonly name: string
      readonly year: number | null
      readonly from: number
      readonly to: number | null
    }
  /** Days, both included. */
  | { readonly kind: 'date'; readonly name: string; readonly from: string; readonly to: string | null }
  | { readonly kind: 'search'; readonly name: string; readonly text: string }

/**
 * A fault of a parameter; each operation has its own sentences for it. `name` is the contract's, `param` the
 * name as it was sent, its year included.
 */
export type Fault =
  /** Said in `text` already: a message of the body. */
  | { readonly kind: 'form'; readonly text: string }
  | { readonly kind: 'unknown'; readonly param: string }
  | { readonly kind: 'date'; readonly name: string; readonly param: string; readonly value: string }
  | { readonly kind: 'too many dates' | 'too many values'; readonly name: string; readonly param: string }

export interface ReadFilters {
  readonly filters: readonly Filter[]
  readonly faults: readonly Fault[]
  /** `CountryCode` values as given. */
  readonly countries: readonly string[]
}

/**
 * Filters that are no figures: more than there are names for, and fewer than would keep DuckDB planning for seconds.
 * Figures, with their years, may be any number.
 */
const MOST_OTHERS = 32

type Value = string | number
const isValue = (value: unknown): value is Value => typeof value === 'string' || Number.isFinite(value)
/** An array of texts and numbers: the form of every parameter. */
export const areValues = (values: unknown): values is readonly Value[] =>
  Array.isArray(values) && values.every(isValue)

const WHOLE = /^-?\d{1,40}$/
const DECIMAL = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

const asInteger = (value: Value): bigint | undefined => {
  const text = String(value)
  return WHOLE.test(text) ? BigInt(text) : undefined
}
const asNumber = (value: Value): number | undefined => {
  const number = typeof value === 'number' ? value : DECIMAL.test(value) ? Number(value) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}
/** `yyyy-MM-dd` that the calendar has. */
const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name)

/** A text in the form in which it is compared: the index's columns have the same. */
const comparable = (name: string, value: Value): string => {
  const text = String(value)
  if (isOneOf(FILTER_CLASSES.identifier.stripped, name)) return comparedNumber(text)
  return name === 'CountryCode' ? text.toUpperCase() : text
}

/** The values all converted; `undefined` where one cannot be. */
const allAs = <T>(values: readonly Value[], convert: (value: Value) => T | undefined): T[] | undefined => {
  const converted = values.flatMap((value) => convert(value) ?? [])
  return converted.length === values.length ? converted : undefined
}

/** As many different ones as one refusal speaks of: a request may have a fault in each of its bytes. */
export const mostSaid = (values: readonly string[]): readonly string[] =>
  [...new Set(values)].slice(0, SERVER_LIMITS.messages)

type Read = { readonly filter: Filter } | { readonly faults: readonly Fault[] }
const faulty = (faults: readonly Fault[]): Read => ({ faults })

const readIdentifier = ({ name, datatype }: KnownParameter, values: readonly Value[], at: string): Read => {
  if (datatype !== 'number') {
    return { filter: { kind: 'strings', name, values: values.map((value) => comparable(name, value)) } }
  }
  const numbers = allAs(values, asInteger)
  if (numbers === undefined) return faulty([form(at, 'whole numbers')])
  return { filter: { kind: 'numbers', name, values: numbers } }
}

const readFigure = (name: string, year: number | null, values: readonly Value[], at: string): Read => {
  const numbers = allAs(values, asNumber)
  const faults: Fault[] = []
  if (numbers === undefined) faults.push(form(at, 'numbers'))
  if (values.length > LIMITS.figureValues) faults.push({ kind: 'too many values', name, param: at })
  const [from, to = null] = numbers ?? []
  if (faults.length > 0 || from === undefined) return faulty(faults)
  return { filter: { kind: 'figure', name, year, from, to } }
}

const readDate = (name: string, values: readonly Value[], param: string): Read => {
  const days = values.map(String)
  const faults: Fault[] = mostSaid(days.filter((value) => !isDay(value))).map((value) => ({
    kind: 'date',
    name,
    param,
    value,
  }))
  if (values.length > LIMITS.dateValues) faults.push({ kind: 'too many dates', name, param })
  const [from, to = null] = days
  if (faults.length > 0 || from === undefined) return faulty(faults)
  return { filter: { kind: 'date', name, from, to } }
}

const form = (at: string, items: string): Fault => ({
  kind: 'form',
  text: fieldMessage(`SearchParameters.${at}`, `an array of one or more ${items}`),
})

const readParameter = (
  parameter: KnownParameter,
  year: number | null,
  values: readonly Value[],
  at: string,
): Read => {
  switch (parameter.filterClass) {
    case 'identifier':
      return readIdentifier(parameter, values, at)
    case 'figure':
      return readFigure(parameter.name, year, values, at)
    case 'date':
      return readDate(parameter.name, values, at)
    case 'text':
      return { filter: { kind: 'search', name: parameter.name, text: values.join(' ') } }
  }
}

/**
 * Reads every parameter. One that is `null` counts as not given. A single value instead of an array, an empty array
 * (a filter that nothing could pass is a client's mistake) and values that are neither texts nor
 * numbers are faults of the form. One parameter given twice in different letter case restricts twice,
 * given dozens of times it is a fault.
 */
export const readFilters = (content: Content, parameters: Readonly<ExactObject>): ReadFilters => {
  const filters: Filter[] = []
  const faults: Fault[] = []
  const unknown: string[] = []
  let countries: string[] = []
  for (const [given, values] of Object.entries(parameters)) {
    const known = parameterGiven(content, given)
    if (known === undefined) unknown.push(given)
    if (known === undefined || values === null) continue
    if (!areValues(values) || values.length === 0) {
      faults.push(form(given, known.parameter.datatype === 'number' ? 'numbers' : 'strings or numbers'))
      continue
    }
    const read = readParameter(known.parameter, known.year, values, given)
    if ('filter' in read) filters.push(read.filter)
    else faults.push(...read.faults)
    // A list of a hundred thousand is too long for the arguments of a call.
    if (known.parameter.name === 'CountryCode') countries = countries.concat(values.map(String))
  }
  if (filters.filter(({ kind }) => kind !== 'figure').length > MOST_OTHERS)
    faults.push({
      kind: 'form',
      text: fieldMessage('SearchParameters', 'an object that names a parameter once'),
    })
  for (const param of mostSaid(unknown)) faults.push({ kind: 'unknown', param })
  return { filters, faults, countries }
}
