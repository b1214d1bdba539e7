/** Masks what the objects of protected persons say ("Data filtering by authorization"). */

import {
  ALWAYS_MASKED,
  MASKED_STRINGS,
  MASKED_WITHOUT_ACCESS,
  OWN_FIELDS,
  OWN_FIELDS_WITHOUT_ACCESS,
} from '../../contract/authorization.ts'
import { PROTECTED_IDENTITY, RELATION } from '../../contract/objects.ts'
import type { ExactObject } from '../../support/exact-json.ts'
import { isIdName } from './identity.ts'
import { type RecordPart, scalarText, valuesNamed } from './record-parts.ts'

/** A list of nothing but the mask is masked too, and stays as the service wrote it. */
const isMasked = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => one === PROTECTED_IDENTITY)

const maskFields = (object: ExactObject, fields: readonly string[]): void => {
  const sought = new Set(fields.map((field) => field.toLowerCase()))
  for (const name of Object.keys(object))
    if (sought.has(name.toLowerCase()) && object[name] !== null && !isMasked(object[name]))
      object[name] = PROTECTED_IDENTITY
}

/** A value with the mask in place of all texts and numbers; the objects in it are masked by themselves. */
const maskedValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskedValue)
  return scalarText(value) === undefined ? value : PROTECTED_IDENTITY
}

const RELATION_NAMES: ReadonlySet<string> = new Set(
  Object.keys(RELATION.fields).map((name) => name.toLowerCase()),
)

const isDigits = (value: unknown): boolean => /^\d+$/.test(scalarText(value) ?? '')

/** Fields of a protected person that the contract does not know may say anything: they are masked, but ids. */
const maskUnknown = ({ object, kind, of }: RecordPart): void => {
  for (const name of Object.keys(object)) {
    const isKnown =
      kind === 'unknown' ? RELATION_NAMES.has(name.toLowerCase()) : of && Object.hasOwn(of.fields, name)
    if (isKnown || (isIdName(name) && isDigits(object[name]))) continue
    // An entity's own field in other letters is masked as the field is.
    if (kind === 'entity' && RELATION_NAMES.has(name.toLowerCase())) continue
    object[name] = maskedValue(object[name])
  }
}

const isCompany = (object: Readonly<ExactObject>): boolean => valuesNamed(object, 'IsCompany').includes(true)

/** A company or person. */
const maskPerson = (object: ExactObject, hasAccess: boolean): void => {
  maskFields(object, ALWAYS_MASKED)
  if (hasAccess) return
  maskFields(object, MASKED_WITHOUT_ACCESS)
  maskFields(object, isCompany(object) ? ['Gender'] : ['Gender', 'OrgNo'])
}

/** An item of a list of theirs. */
const maskItem = ({ object, name }: RecordPart, hasAccess: boolean): void => {
  if (!hasAccess && Object.hasOwn(MASKED_STRINGS, name)) maskFields(object, MASKED_STRINGS[name] ?? [])
}

/** Fields of the contract may be absent, and a record's country stays. */
const omitOwn = ({ object, of }: RecordPart, hasAccess: boolean): void => {
  const names = [OWN_FIELDS, ...(hasAccess ? [] : [OWN_FIELDS_WITHOUT_ACCESS])].flatMap(
    (fields) => fields[of?.name ?? ''] ?? [],
  )
  for (const name of names) delete object[name]
}

export const maskParts = (parts: Iterable<RecordPart>, hasAccess: boolean): void => {
  for (const part of parts) {
    maskUnknown(part)
    if (part.kind === 'entity' || part.kind === 'unknown') maskPerson(part.object, hasAccess)
    else {
      omitOwn(part, hasAccess)
      maskItem(part, hasAccess)
    }
  }
}
