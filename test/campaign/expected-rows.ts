/** The rows that a relations line must become, read from `JSON.parse` and the contract alone: a text each. */

import type { Field } from '../../src/contract/fields.ts'
import { OWNERSHIP, PROTECTED_IDENTITY, RELATION } from '../../src/contract/objects.ts'
import {
  ENTITY_COLUMNS,
  type FieldColumn,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../src/lake/tables/columns.ts'

/** A number as it is written, and the double that it is. */
class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Written)

/** Parses a line with its numbers as they are written. */
const parsed = (line: string): Json => {
  // The third argument is not declared yet: the source text of a value.
  const value: unknown = JSON.parse(line, (...[, one, context]: unknown[]) =>
    typeof one === 'number' && isObject(context) ? new Written(String(context.source)) : one,
  )
  return isObject(value) ? value : {}
}

const KINDS = [
  ['BeneficialOwnerships', 'Beneficial'],
  ['Ownerships', 'Direct'],
  ['UltimateOwnerships', 'Ultimate'],
  ['CompanyStructureOwners', 'Structure'],
] as const
const DIRECT_COLUMNS = OWNERSHIP_COLUMNS.filter(({ path }) => Object.hasOwn(OWNERSHIP.fields, path[0] ?? ''))
const LISTS = [...KINDS.map(([list]) => list), 'KeyPersonRoles', 'History']

const PLAIN_MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d\d):(\d\d))?)?$/

/** Members that are days: the one that is written counts, whatever offset stands behind it. */
const DAYS = new Set(['InDate', 'OutDate', 'ProtocolDate', 'RegistrationDate'])

/** Microseconds of a date-time in a usual form, its text where they do not restore it; `odd` of all others. */
const momentOf = (text: string, isDay: boolean): string => {
  if (/^0001-01-01([Tt ]00:00(:00([.,]0*)?)?)? ?([Zz]|[+-]\d\d(:?\d\d)?)?\s*$/.test(text)) return ''
  const found = PLAIN_MOMENT.exec(text)
  if (found === null) return `odd ${text}`
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', , sign, hours, minutes] =
    found
  const moment = new Date(0)
  moment.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  moment.setUTCHours(Number(hour), Number(minute), Number(second))
  const parts = [moment.getUTCFullYear(), moment.getUTCMonth() + 1, moment.getUTCDate(), moment.getUTCHours()]
  const given = [year, month, day, hour].map(Number)
  const isDate =
    parts.join() === given.join() && Number(year) > 0 && Number(minute) < 60 && Number(second) < 60
  if (!isDate || Number(hours ?? 0) > 14 || Number(minutes ?? 0) > 59) return `odd ${text}`
  const offset = (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0))
  const micros =
    BigInt(moment.getTime() - (isDay ? 0 : offset) * 60_000) * 1000n +
    BigInt(fraction.slice(0, 6).padEnd(6, '0'))
  const isPlain = /^\S{10}T\d\d:\d\d:\d\d(\.\d{0,5}[1-9])?$/.test(text)
  return isPlain ? String(micros) : `${micros} ${text}`
}

const isMaskIn = (value: unknown): boolean => {
  if (value === PROTECTED_IDENTITY) return true
  if (Array.isArray(value)) return value.some(isMaskIn)
  return (
    isObject(value) &&
    Object.entries(value).some(([name, one]) => name === PROTECTED_IDENTITY || isMaskIn(one))
  )
}

const numberText = (value: unknown): string => {
  const text = value instanceof Written ? value.text : String(value)
  // A whole number has no negative zero, but in quotes.
  const number = value instanceof Written && /^-0+$/.test(text) ? 0 : Number(text)
  return Object.is(number, -0) ? '-0' : String(number)
}
const wholeText = (value: unknown): string => {
  const text = value instanceof Written ? value.text : String(value)
  return String(/^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number(text)))
}

/** What a field's cell must say; undefined where it has none. */
const expectedCell = (name: string, field: Field, value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined
  if ('masked' in field && field.masked === true && isMaskIn(value)) return `masked ${jsonText(value)}`
  switch (field.kind) {
    case 'date-time':
      return momentOf(String(value), DAYS.has(name)) || undefined
    case 'number':
      return numberText(value)
    case 'integer': {
      const whole = wholeText(value)
      return field.omitted === 'zero' && whole === '0' ? undefined : whole
    }
    default:
      return jsonText(value)
  }
}
const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) => (one instanceof Written ? Number(one.text) : one))

const cellsOf = (columns: readonly FieldColumn[], object: Json): string =>
  columns
    .flatMap(({ name, field, path }) => {
      const value = path.reduce<unknown>(
        (from, key) => (isObject(from) ? ownOf(from, key) : undefined),
        object,
      )
      const cell = expectedCell(path.at(-1) ?? '', field, value)
      return cell === undefined ? [] : [`${name}=${cell}`]
    })
    .join(' ')
const ownOf = (object: Json, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)

const itemsOf = (object: Json, list: string): readonly Json[] => {
  const items = ownOf(object, list)
  return Array.isArray(items) ? items.filter(isObject) : []
}
const emptyOf = (object: Json, lists: readonly string[]): string =>
  lists.filter((list) => Array.isArray(ownOf(object, list)) && itemsOf(object, list).length === 0).join()

/** The rows that a line must become, sorted. */
export const expectedRows = (line: string): string[] => {
  const record = parsed(line)
  const rows = [
    `record ${cellsOf(RELATIONS_COLUMNS, record)} empty ${emptyOf(record, ['Parents', 'Children'])}`,
  ]
  let entities = 0
  const walk = (entity: Json, direction: string, above: number, depth: number): void => {
    const no = ++entities
    const id = expectedCell('InternalId', RELATION.fields.InternalId, ownOf(entity, 'InternalId')) ?? ''
    rows.push(
      `entity ${no} above ${above} ${direction} ${depth} id ${id} ${cellsOf(ENTITY_COLUMNS, entity)} empty ${emptyOf(entity, LISTS)}`,
    )
    const items = KINDS.flatMap(([list, kind]) => itemsOf(entity, list).map((item) => ({ kind, item })))
    for (const [at, { kind, item }] of items.entries())
      rows.push(
        `ownership ${no} ${at + 1} ${kind} ${cellsOf(kind === 'Beneficial' ? OWNERSHIP_COLUMNS : DIRECT_COLUMNS, item)}`,
      )
    for (const [at, item] of itemsOf(entity, 'KeyPersonRoles').entries())
      rows.push(`role ${no} ${at + 1} ${cellsOf(ROLE_COLUMNS, item)}`)
    for (const older of itemsOf(entity, 'History')) walk(older, direction, no, depth + 1)
  }
  for (const parent of itemsOf(record, 'Parents')) walk(parent, 'parent', 0, 0)
  for (const child of itemsOf(record, 'Children')) walk(child, 'child', 0, 0)
  return rows.sort()
}
