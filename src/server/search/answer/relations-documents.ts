/**
 * Relations documents as a caller may see them ("Data filtering by authorization"). Whoever lacks an area gets the fields of the
 * contract without those of that area. Personal data of protected persons is masked wherever it stands, in histories and in
 * fields that the contract does not know too.
 */

import {
  ALWAYS_MASKED,
  AREA_FIELDS,
  AREAS,
  type Area,
  MASKED_TEXTS,
  MASKED_WITHOUT_ACCESS,
} from '../../../contract/authorization.ts'
import type { ObjectType } from '../../../contract/fields.ts'
import { PROTECTED_IDENTITY, RELATIONS_COMPANY } from '../../../contract/objects.ts'
import type { Areas } from '../../access/caller.ts'
import { type ExactObject, isJsonObject, parseToRewrite } from '../request/exact-json.ts'

const HIDDEN: Area = 'Hidden Person Access'
const MARKING: readonly string[] = [...ALWAYS_MASKED, ...MASKED_WITHOUT_ACCESS]

const closedFields = (areas: Areas): readonly string[] =>
  AREAS.flatMap((area) => {
    const field = AREA_FIELDS[area]
    return field === null || areas.has(area) ? [] : [field]
  })

/** Whether a person is protected, by the id as text. */
export type IsProtected = (id: string) => boolean

const ID = /"InternalId"\s*:\s*"?(-?\d+)/gi
/** Text that may protect somebody, or may spell a name in another way. */
const MAY_PROTECT = new RegExp(`"IsProtected"\\s*:\\s*(?!false\\b|null\\b)|${PROTECTED_IDENTITY}|\\\\u`, 'i')

/** Ids of all that a document names, companies too, each once for each time. */
export const idsNamedIn = (document: Buffer): readonly string[] =>
  Array.from(document.toString('latin1').matchAll(ID), ([, id = '']) => id)

/** Whether a document may go out as it is stored. */
export const isOpen = (document: Buffer, areas: Areas, isProtected: IsProtected): boolean =>
  areas.size === AREAS.length &&
  !MAY_PROTECT.test(document.toString('latin1')) &&
  !idsNamedIn(document).some(isProtected)

/** All objects in a value, each before those that it holds. */
const objectsIn = (value: unknown): ExactObject[] => {
  const found: ExactObject[] = []
  const left: unknown[] = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (isJsonObject(one) && !JSON.isRawJSON(one)) found.push(one)
    if (typeof one === 'object' && one !== null && !JSON.isRawJSON(one)) left.push(...Object.values(one))
  }
  return found
}

/** Names of an object's fields by their names in lower case: fields that nobody knows may be spelled in another way. */
const namesOf = (object: Readonly<ExactObject>): ReadonlyMap<string, readonly string[]> =>
  Map.groupBy(Object.keys(object), (name) => name.toLowerCase())

const valuesOf = (object: Readonly<ExactObject>, name: string): readonly unknown[] =>
  (namesOf(object).get(name.toLowerCase()) ?? []).map((one) => object[one])

const MASK_TEXT = JSON.stringify(PROTECTED_IDENTITY)
/** Whether the mask stands in a value, alone or in a list: what the loader uses as the marker. */
const holdsMask = (value: unknown): boolean =>
  value !== undefined && JSON.stringify(value).includes(MASK_TEXT)

/** An object's id as text; `undefined` where it has none that identifies it. */
const idOf = (object: Readonly<ExactObject>): string | undefined =>
  valuesOf(object, 'InternalId')
    .filter((id) => id !== null && id !== 0)
    .map((id) => (typeof id === 'string' ? id : JSON.stringify(id)))[0]

/** Anything but a clear no protects; data that came masked from the service does too, where `IsProtected` is missing. */
const isMarked = (object: Readonly<ExactObject>): boolean =>
  valuesOf(object, 'IsProtected').some((mark) => mark !== false && mark !== null) ||
  MARKING.some((field) => valuesOf(object, field).some(holdsMask))

/**
 * The objects that are protected: who is so in one place is so in all of the record.
 */
const protectedOf = (record: Readonly<ExactObject>, isProtected: IsProtected): ReadonlySet<ExactObject> => {
  // The record itself is a company's.
  const objects = objectsIn(record).filter((one) => one !== record)
  const marked = objects.filter(isMarked)
  const ids = new Set(marked.map(idOf))
  const found = new Set(marked)
  for (const object of objects) {
    const id = idOf(object)
    if (id !== undefined && (ids.has(id) || isProtected(id))) found.add(object)
    // An object comes before those that it holds: what has no id of its own is of the same person, an earlier form too.
    if (found.has(object))
      for (const inner of objectsIn(object)) if (idOf(inner) === undefined) found.add(inner)
  }
  return found
}

/** A list of nothing but the mask is masked too, and stays as the service wrote it. */
const isMasked = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => one === PROTECTED_IDENTITY)

const maskFields = (object: ExactObject, fields: readonly string[]): void => {
  const names = namesOf(object)
  for (const field of fields)
    for (const name of names.get(field.toLowerCase()) ?? [])
      if (object[name] !== null && !isMasked(object[name])) object[name] = PROTECTED_IDENTITY
}

const isCompany = (object: Readonly<ExactObject>): boolean => valuesOf(object, 'IsCompany').includes(true)

/** Masks a protected person's data. */
const mask = (object: ExactObject, hasAccess: boolean): void => {
  maskFields(object, ALWAYS_MASKED)
  if (hasAccess) return
  maskFields(object, MASKED_WITHOUT_ACCESS)
  maskFields(object, isCompany(object) ? ['Gender'] : ['Gender', 'OrgNo'])
  for (const [field, texts] of Object.entries(MASKED_TEXTS))
    for (const item of valuesOf(object, field).flatMap(objectsIn)) maskFields(item, texts)
}

/** A record with what these areas of its country leave of it. */
export const restricted = (document: Buffer, areas: Areas, isProtected: IsProtected): Buffer => {
  const record = parseToRewrite(document.toString())
  if (!isJsonObject(record)) return document
  // Who is protected is found before anything is removed.
  const persons = protectedOf(record, isProtected)
  for (const person of persons) mask(person, areas.has(HIDDEN))
  if (areas.size < AREAS.length) keepContractFields(record, RELATIONS_COMPANY)
  const closed = closedFields(areas)
  if (closed.length > 0)
    for (const object of objectsIn(record)) for (const field of closed) delete object[field]
  return Buffer.from(JSON.stringify(record))
}

// A record is reduced to the fields of the contract: a caller without an area must not find its data in unknown fields.

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
