/**
 * A record reduced to the fields of the contract, and to those of the caller's areas: a caller without an area must not find its
 * data in unknown fields.
 */

import { AREA_FIELDS, AREAS, type Area } from '../../contract/authorization.ts'
import type { ObjectType } from '../../contract/fields.ts'
import { type ExactObject, isJsonObject } from '../../support/exact-json.ts'

const isPlain = (value: unknown): boolean =>
  // A number of many digits is an object that JSON writes as its text.
  value === null || typeof value !== 'object' || JSON.isRawJSON(value)

const isNumber = (value: unknown): boolean => typeof value === 'number' || JSON.isRawJSON(value)

/** Leaves figures of a map, so many levels deep. */
const keepFigures = (value: unknown, levels: number): boolean => {
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return false
  for (const [name, inner] of Object.entries(value))
    if (!(levels === 1 ? isNumber(inner) : keepFigures(inner, levels - 1))) delete value[name]
  return true
}

interface Holder {
  readonly value: ExactObject
  readonly of: ObjectType
}

/** Removes from an object, and from the objects in its fields, what is not declared, and values of another shape. */
export const keepContractFields = (record: ExactObject, declaration: ObjectType): void => {
  // A list in place of calls: a history may be as deep as it likes.
  const left: Holder[] = [{ value: record, of: declaration }]
  const enter = (value: unknown, of: ObjectType): boolean => {
    if (value !== null && (!isJsonObject(value) || JSON.isRawJSON(value))) return false
    if (value !== null) left.push({ value, of })
    return true
  }
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: holder, of } = next
    for (const [name, value] of Object.entries(holder)) {
      const field = Object.hasOwn(of.fields, name) ? of.fields[name] : undefined
      switch (field?.kind) {
        case 'object':
          if (!enter(value, field.of)) delete holder[name]
          break
        case 'objects':
        case 'self-list': {
          const inner = field.kind === 'objects' ? field.of : of
          if (Array.isArray(value)) holder[name] = value.filter((one) => enter(one, inner))
          else if (!isPlain(value)) delete holder[name]
          break
        }
        case 'strings':
          if (Array.isArray(value)) holder[name] = value.filter(isPlain)
          else if (!isPlain(value)) delete holder[name]
          break
        case 'series':
        case 'financials':
          if (value !== null && !keepFigures(value, field.kind === 'series' ? 1 : 3)) delete holder[name]
          break
        case undefined:
          delete holder[name]
          break
        default:
          if (!isPlain(value)) delete holder[name]
      }
    }
  }
}

/** Fields that these areas do not open. */
export const closedFields = (areas: ReadonlySet<Area>): readonly string[] =>
  AREAS.flatMap((area) => {
    const field = AREA_FIELDS[area]
    return field === null || areas.has(area) ? [] : [field]
  })
