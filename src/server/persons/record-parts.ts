/** The objects of a record, each with what it is to the contract, and whose it is where it says nothing of its own. */

import type { Field, ObjectType } from '../../contract/fields.ts'
import { RELATION } from '../../contract/objects.ts'
import { type ExactObject, isJsonObject } from '../../support/exact-json.ts'

/**
 * `record`: the record itself; `entity`: a company or person of its relations; `part`: another object of the contract; `unknown`: one
 * that no contract has.
 */
type PartKind = 'record' | 'entity' | 'part' | 'unknown'

export interface RecordPart {
  readonly object: ExactObject
  readonly kind: PartKind
  /** The contract's declaration; absent where there is none. */
  readonly of?: ObjectType | undefined
  /** The object that holds it. */
  readonly above?: RecordPart | undefined
  /** The member that it stands in, itself or in a list. */
  readonly name: string
}

const isObject = (value: unknown): value is ExactObject => isJsonObject(value) && !JSON.isRawJSON(value)

/** Maps of figures, however deep: no object of them is a person. */
const isFigures = (value: unknown): boolean => {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (isObject(one)) left.push(...Object.values(one))
    else if (one !== null && typeof one !== 'number' && !JSON.isRawJSON(one)) return false
  }
  return true
}

/** The declaration of the objects in a field; `undefined` where the contract has none there. */
const typeIn = (field: Field | undefined, of: ObjectType | undefined): ObjectType | undefined => {
  if (field?.kind === 'object' || field?.kind === 'objects') return field.of
  return field?.kind === 'self-list' ? of : undefined
}

/** The objects of a record, each behind the one that holds it. */
export const partsOf = (record: ExactObject, declaration: ObjectType): readonly RecordPart[] => {
  const root: RecordPart = { object: record, kind: 'record', of: declaration, name: '' }
  const parts: RecordPart[] = [root]
  for (const above of parts) {
    for (const [name, value] of Object.entries(above.object)) {
      if (typeof value !== 'object' || value === null) continue
      const field = above.of && Object.hasOwn(above.of.fields, name) ? above.of.fields[name] : undefined
      if ((field?.kind === 'financials' || field?.kind === 'series') && isFigures(value)) continue
      const of = typeIn(field, above.of)
      const kind = of === undefined ? 'unknown' : of === RELATION ? 'entity' : 'part'
      const left: unknown[] = [value]
      for (const one of left)
        if (Array.isArray(one)) left.push(...one)
        else if (isObject(one)) parts.push({ object: one, kind, of, above, name })
    }
  }
  return parts
}

/** Values of an object's fields of a name: fields that nobody knows may be spelled in other letters. */
export const valuesNamed = (object: Readonly<ExactObject>, name: string): readonly unknown[] => {
  const lower = name.toLowerCase()
  return Object.keys(object).flatMap((one) => (one.toLowerCase() === lower ? [object[one]] : []))
}

/** A text, or a number as its text; `undefined` for any other value. */
export const scalarText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || JSON.isRawJSON(value) ? JSON.stringify(value) : undefined
}
