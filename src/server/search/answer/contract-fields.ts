/** A record reduced to what the contract declares: whoever lacks an area must not find its data in fields that nobody knows. */

import type { ObjectType } from '../../../contract/fields.ts'
import { type ExactObject, isJsonObject } from '../request/exact-json.ts'

const isPlain = (value: unknown): boolean =>
  // A number of many digits is an object that JSON writes as its text.
  value === null || typeof value !== 'object' || JSON.isRawJSON(value)

interface Holder {
  readonly value: Readonly<ExactObject>
  readonly of: ObjectType
}

/** Removes from an object, and from the objects in its fields, what is not declared, and values of another shape. */
export const keepContractFields = (record: ExactObject, declaration: ObjectType): void => {
  // A list in place of calls: a history may be as deep as it likes.
  const left: Holder[] = [{ value: record, of: declaration }]
  const enter = (value: unknown, of: ObjectType): boolean => {
    if (value !== null && !isJsonObject(value)) return false
    if (value !== null) left.push({ value, of })
    return true
  }
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: holder, of } = next as { value: ExactObject; of: ObjectType }
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
        case 'texts':
          if (Array.isArray(value)) holder[name] = value.filter(isPlain)
          else if (!isPlain(value)) delete holder[name]
          break
        case undefined:
        case 'series':
        case 'financials':
          delete holder[name]
          break
        default:
          if (!isPlain(value)) delete holder[name]
      }
    }
  }
}
