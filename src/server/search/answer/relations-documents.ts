/**
 * Relations documents as a caller may see them ("Data filtering by authorization"): fields of areas that the caller
 * does not have are left out, personal data of protected persons is masked, in histories too.
 */

import {
  ALWAYS_MASKED,
  AREA_FIELDS,
  AREAS,
  type Area,
  MASKED_WITHOUT_ACCESS,
} from '../../../contract/authorization.ts'
import { PROTECTED_IDENTITY, RELATION, RELATIONS_COMPANY } from '../../../contract/objects.ts'
import type { Areas } from '../../access/caller.ts'
import { type ExactObject, isJsonObject, parseToRewrite } from '../request/exact-json.ts'

const HIDDEN: Area = 'Hidden Person Access'
const MASKED: readonly string[] = [...ALWAYS_MASKED, ...MASKED_WITHOUT_ACCESS]

/** Fields of a record that hold entities, and the one of an entity that holds its earlier forms. */
const ENTITY_FIELDS: readonly string[] = Object.entries(RELATIONS_COMPANY.fields).flatMap(([name, field]) =>
  field.kind === 'objects' && field.of === RELATION ? [name] : [],
)
const HISTORY_FIELDS: readonly string[] = Object.entries(RELATION.fields).flatMap(([name, field]) =>
  field.kind === 'self-list' ? [name] : [],
)

const closedFields = (areas: Areas): readonly string[] =>
  AREAS.flatMap((area) => {
    const field = AREA_FIELDS[area]
    return field === null || areas.has(area) ? [] : [field]
  })

/** Whether a document may go out as it is stored. */
export const isOpen = (areas: Areas, isProtected: boolean): boolean =>
  !isProtected && closedFields(areas).length === 0

const entitiesIn = (holder: Readonly<ExactObject>, fields: readonly string[]): ExactObject[] =>
  fields.flatMap((field) => {
    const list = Object.hasOwn(holder, field) ? holder[field] : undefined
    return Array.isArray(list) ? list.filter(isJsonObject) : []
  })

/** The entities of a record, those of histories too, in any order. */
const allEntities = (record: Readonly<ExactObject>): ExactObject[] => {
  const found = entitiesIn(record, ENTITY_FIELDS)
  // The list grows while it is walked: a history may be as deep as it likes.
  for (const entity of found) found.push(...entitiesIn(entity, HISTORY_FIELDS))
  return found
}

const MASK_TEXT = JSON.stringify(PROTECTED_IDENTITY)
/** Whether the mask stands in a value, alone or in a list: what the loader uses as the marker. */
const holdsMask = (value: unknown): boolean =>
  value !== undefined && JSON.stringify(value).includes(MASK_TEXT)

/** Data that came masked from the service protects too, where `IsProtected` is missing. */
const isMarked = (entity: Readonly<ExactObject>): boolean =>
  entity.IsProtected === true || MASKED.some((field) => holdsMask(entity[field]))

/** An entity's id as text; `null` where it has none that identifies it. */
const idOf = ({ InternalId }: Readonly<ExactObject>): string | null =>
  InternalId === undefined || InternalId === null || InternalId === 0 ? null : JSON.stringify(InternalId)

/**
 * The entities that are protected. Who is protected in one place of the record is so in all of it, and an earlier form
 * without an id is the same person's: one that is not marked would give the name away.
 */
const protectedOf = (entities: readonly ExactObject[]): ReadonlySet<ExactObject> => {
  const marked = entities.filter(isMarked)
  const ids = new Set(marked.map(idOf).filter((id) => id !== null))
  const found = new Set(marked)
  for (const entity of entities) {
    const id = idOf(entity)
    if (id !== null && ids.has(id)) found.add(entity)
    // An entity comes before its earlier forms.
    if (!found.has(entity)) continue
    for (const earlier of entitiesIn(entity, HISTORY_FIELDS)) if (idOf(earlier) === null) found.add(earlier)
  }
  return found
}

/** A list of nothing but the mask is masked too, and stays as the service wrote it. */
const isMasked = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => one === PROTECTED_IDENTITY)

/** A record with what these areas of its country leave of it. */
export const restricted = (document: Buffer, areas: Areas): Buffer => {
  const record = parseToRewrite(document.toString())
  if (!isJsonObject(record)) return document
  const entities = allEntities(record)
  const masked = areas.has(HIDDEN) ? ALWAYS_MASKED : MASKED
  for (const entity of protectedOf(entities)) {
    for (const field of masked)
      if (Object.hasOwn(entity, field) && !isMasked(entity[field])) entity[field] = PROTECTED_IDENTITY
  }
  const closed = closedFields(areas)
  for (const entity of entities) for (const field of closed) delete entity[field]
  return Buffer.from(JSON.stringify(record))
}
