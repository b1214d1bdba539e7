/**
 * Says whether a line is a record by the contract, in another way than the loader's checker: `JSON.parse`, a
 * walk over the value, and a look at the tokens for what `JSON.parse` lets pass. Slow and simple.
 */

import { isUtf8 } from 'node:buffer'
import { FIGURE_SCALE } from '../../src/contract/dictionaries.ts'
import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { CONTENT, type Content, PROTECTED_IDENTITY } from '../../src/contract/objects.ts'
import { exactProduct } from '../support/exact-product.ts'

export const isValid = (line: Buffer, content: Content, maxDepth = 256): boolean => {
  if (!isUtf8(line)) return false
  const text = line.toString('utf8')
  let record: unknown
  try {
    record = JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? new Written(context?.source ?? '') : value,
    )
  } catch {
    return false
  }
  return (
    hasSoundTokens(text, maxDepth) &&
    isObject(record, CONTENT[content]) &&
    hasId(record, content) &&
    (content === 'relations' || hasFiniteAmounts(record))
  )
}

/** A number as it was written. */
class Written {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
}

type Value = Readonly<Record<string, unknown>>
const isMap = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Written)

/** No key twice in an object, no half surrogate pair, no infinite number outside texts, not too deep. */
const hasSoundTokens = (text: string, maxDepth: number): boolean => {
  const open: Set<string>[] = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token.startsWith('"')) {
      const content = String(JSON.parse(token.replace(/:$/, '')))
      if (!content.isWellFormed()) return false
      const names = open.at(-1)
      if (token.endsWith(':') && names?.has(content)) return false
      if (token.endsWith(':')) names?.add(content)
    } else if (/^-?\d/.test(token) && !Number.isFinite(Number(token))) return false
    if (open.length > maxDepth) return false
  }
  return true
}

/** Whether no amount becomes infinite when the scale is applied. */
const hasFiniteAmounts = (record: unknown): boolean => {
  if (!isMap(record)) return false
  const scale = isMap(record.MetaData) ? record.MetaData.FinancialFigureScale : undefined
  const power = Math.log10(Object.entries(FIGURE_SCALE).find(([name]) => name === scale)?.[1] ?? 1)
  return [record.Financials, record.UnconsolidatedFinancials].every((statement) =>
    LINE_ITEMS.filter(({ scaled }) => scaled).every(({ category, lineItem }) => {
      const items = isMap(statement) ? statement[category] : undefined
      const series = isMap(items) ? items[lineItem] : undefined
      return Object.values(isMap(series) ? series : {}).every((figure) => {
        const source = writtenAs(figure)
        return (
          source === undefined ||
          Math.abs(Number(source)) < 1e290 ||
          Number.isFinite(exactProduct(source, power))
        )
      })
    }),
  )
}

const hasId = (record: unknown, content: Content): boolean => {
  if (!isMap(record)) return false
  const owner = content === 'companies' ? record.BasicDetails : record
  return isMap(owner) && owner.InternalId !== undefined && owner.InternalId !== null
}

const isObject = (value: unknown, object: ObjectType): boolean =>
  isMap(value) &&
  Object.entries(value).every(([name, item]) => {
    const field = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined
    return item === null || field === undefined || isField(item, field, object)
  })

const isField = (value: unknown, field: Field, self: ObjectType): boolean => {
  const masked = 'masked' in field && field.masked === true
  switch (field.kind) {
    case 'text':
      return (
        typeof value === 'string' &&
        (field.codes !== 'FinancialFigureScale' || Object.hasOwn(FIGURE_SCALE, value))
      )
    case 'date-time':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return isInteger(value)
    case 'number':
      return isNumber(value)
    case 'object':
      return isObject(value, field.of)
    case 'strings':
      return (
        (masked && value === PROTECTED_IDENTITY) ||
        (Array.isArray(value) && value.every((item) => item === null || typeof item === 'string'))
      )
    case 'objects':
    case 'self-list': {
      const of = field.kind === 'objects' ? field.of : self
      if (masked && value === PROTECTED_IDENTITY) return true
      return (
        Array.isArray(value) &&
        value.every((item) => (masked && item === PROTECTED_IDENTITY) || isObject(item, of))
      )
    }
    case 'series':
      return isSeries(value)
    default:
      return isLevel(value, (items) => isLevel(items, isSeries))
  }
}

const isLevel = (value: unknown, of: (item: unknown) => boolean): boolean =>
  isMap(value) && Object.values(value).every((item) => item === null || of(item))
const isSeries = (value: unknown): boolean =>
  isLevel(value, isNumber) && Object.keys(value as Value).every((year) => /^[1-9][0-9]{3}$/.test(year))

/** The digits of a number; in quotes it has to be written as JSON writes it. */
const writtenAs = (value: unknown): string | undefined => {
  if (value instanceof Written) return value.source
  return typeof value === 'string' && /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(value)
    ? value
    : undefined
}
const isNumber = (value: unknown): boolean => {
  const source = writtenAs(value)
  return source !== undefined && Number.isFinite(Number(source))
}
/** 64 bits where written in digits alone; with a fraction or exponent, not in quotes, up to 2^53. */
const isInteger = (value: unknown): boolean => {
  const source = writtenAs(value)
  if (source === undefined) return false
  if (/^-?\d+$/.test(source)) return BigInt.asIntN(64, BigInt(source)) === BigInt(source)
  return value instanceof Written && Number.isSafeInteger(Number(source))
}
