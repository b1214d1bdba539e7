/**
 * A record as a caller may see it ("Data filtering by authorization"): the one rule for every document that leaves. Whoever lacks an
 * area gets the fields of the contract without those of that area. What is said of protected persons is masked wherever it
 * stands, in histories and in fields that the contract does not know too.
 */

import { AREAS, type Area } from '../../contract/authorization.ts'
import { CONTENT, type Content, PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { numberKey } from '../../core/person-keys.ts'
import { isJsonObject, parseToRewrite } from '../../support/exact-json.ts'
import { closedFields, keepContractFields } from './contract-fields.ts'
import { maskMentions, type PersonStrings, personStrings, stringsToMask } from './mask-mentions.ts'
import { maskParts } from './mask-parts.ts'
import { type KnownPersons, protectedParts } from './protected-parts.ts'
import { partsOf } from './record-parts.ts'

type Areas = ReadonlySet<Area>

const HIDDEN: Area = 'Hidden Person Access'
export const hasEveryArea = (areas: Areas): boolean => areas.size === AREAS.length
export const hasPersonAccess = (areas: Areas): boolean => areas.has(HIDDEN)

/** Text that may protect somebody, or may spell a name in another way. */
const MAY_PROTECT = new RegExp(`"IsProtected"\\s*:\\s*(?!false\\b|null\\b)|${PROTECTED_IDENTITY}|\\\\u`, 'i')
const ID = /"InternalId"\s*:\s*"?0*(\d+)/gi
const NUMBER = /"(?:NationalIdentificationNumber|OrgNo)"\s*:\s*"([^"]*)"/gi

const isEmpty = ({ ids, numbers, births }: KnownPersons): boolean =>
  ids.size + numbers.size + births.size === 0

/**
 * Whether no protected person stands in a document.
 *
 * @param isPlain whether it has fields of the contract alone, and an id for each company and person
 */
export const namesNobody = (document: Buffer, isPlain: boolean, known: KnownPersons): boolean => {
  const text = document.toString('latin1')
  if (MAY_PROTECT.test(text)) return false
  if (isEmpty(known)) return true
  if (!isPlain) return false
  for (const [, id = ''] of text.matchAll(ID)) if (known.ids.has(id)) return false
  for (const [, number = ''] of text.matchAll(NUMBER))
    if (known.numbers.has(numberKey(Buffer.from(number, 'latin1').toString()) ?? '')) return false
  return true
}

/** Texts of the protected persons in a record, for other records that may mention them. */
export const protectedStrings = (document: Buffer, content: Content, known: KnownPersons): PersonStrings => {
  const record = parseToRewrite(document.toString())
  return isJsonObject(record)
    ? personStrings(protectedParts(partsOf(record, CONTENT[content]), known))
    : NOTHING_TOLD
}

export const NOTHING_TOLD: PersonStrings = { names: [], numbers: [] }

/**
 * @param areas of the caller in the record's country
 * @param told texts of persons whom other records of the company protect
 * @returns what the areas leave of a record
 */
export const leavingRecord = (
  document: Buffer,
  content: Content,
  areas: Areas,
  known: KnownPersons,
  told: PersonStrings = NOTHING_TOLD,
): Buffer => {
  const record = parseToRewrite(document.toString())
  if (!isJsonObject(record)) return document
  const declaration = CONTENT[content]
  // Who is protected is found before anything is removed.
  const parts = partsOf(record, declaration)
  const persons = protectedParts(parts, known)
  const hasAccess = hasPersonAccess(areas)
  const strings = stringsToMask(persons, told)
  maskParts(persons, hasAccess)
  if (!hasAccess) maskMentions(parts, persons, strings)
  if (!hasEveryArea(areas)) keepContractFields(record, declaration)
  const closed = closedFields(areas)
  if (closed.length > 0) for (const { object } of parts) for (const field of closed) delete object[field]
  return Buffer.from(JSON.stringify(record))
}
