/** The identity of whom an object of a record is about: ids, national ids, and a name beside the date of birth. */

import { PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { birthKey, numberKey } from '../../core/person-keys.ts'
import { type ExactObject, isJsonObject } from '../../support/exact-json.ts'
import { type RecordPart, scalarText, valuesNamed } from './record-parts.ts'

export interface Identity {
  /** The id as its digits. */
  readonly id: string | undefined
  /** The ids by which it is found. */
  readonly ids: readonly string[]
  /** Whether the id is sure to be of a company or person, and not of an address or another thing of theirs. */
  readonly isSelf: boolean
  /** Numbers of the object's own that identify whom it is about. */
  readonly numbers: readonly string[]
  /** The numbers that say whom it is about, where it has no id. */
  readonly said: readonly string[]
  /** Whether it has a national id: who has another one is another, of the same name and day. */
  readonly hasNational: boolean
  /** A name and a date of birth. */
  readonly birth: string | undefined
  readonly isCompany: boolean
}

/** An id as digits, however it is written; `undefined` for what is none. */
const idDigits = (value: unknown): string | undefined => {
  const text = scalarText(value)?.trim() ?? ''
  const [, digits] = /^0*(\d{1,19})(?:\.0+)?$/.exec(text) ?? []
  if (digits !== undefined) return digits === '0' ? undefined : digits
  const number = /^\d+(?:\.\d+)?[eE]\+?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) && number > 0 ? String(number) : undefined
}

const firstId = (values: readonly unknown[]): string | undefined =>
  values.map(idDigits).find((id) => id !== undefined)

const MOST_NAMES = 10_000
const bareNames = new Map<string, string>()

/** A member's name in its letters alone. Each is worked out once: records have the same names again and again. */
const bare = (name: string): string => {
  const known = bareNames.get(name)
  if (known !== undefined) return known
  if (bareNames.size >= MOST_NAMES) bareNames.clear()
  const letters = name.replace(/[^A-Za-z]/g, '').toLowerCase()
  bareNames.set(name, letters)
  return letters
}

/** Names of ids that are of whom the object is about. */
const OWN_ID = /^(?:person|entity|individual)id$/
const PLAIN_ID = /^id$/
/** Any other name of an id: it says whom the object is about only where it is the only one, beside data of a person. */
const ANY_ID = /id$/
export const isIdName = (name: string): boolean => ANY_ID.test(bare(name))

/** Names of what is said of a person, without what many other things have. */
const OF_PERSON =
  /^(?:(?:full|first|last|given|family|middle|maiden|company|former|previous)?name|birth\w*|dateofbirth|dob|gender|street\w*|address\w*|zipcode|postalcode|citizenship\w*|countryofresidence\w*|nationalid\w*|national\w*number|personal\w*number|orgno|ssn|iscompany|isprotected|e?mail|phone|mobile)$/

/** Names of numbers that identify whom the object is about. */
const OWN_NUMBER =
  /^(?:national\w*|orgno|organi[sz]ationnumber|personal\w*(?:number|no|id)|personnummer|person\w*number|identi\w*|ssn|socialsecurity\w*|taxid|vatnumber)$/

/** Names of what only companies and persons have. */
const OF_SOMEBODY = /name$|^birth|^dateofbirth$|^dob$|^national|^orgno$|^iscompany$/

/** A shorter id may be any number where nothing says that it is a person's. */
const CERTAIN_DIGITS = 6

const membersOf = (object: Readonly<ExactObject>, pattern: RegExp): readonly unknown[] =>
  Object.keys(object).flatMap((name) => (pattern.test(bare(name)) ? [object[name]] : []))

const hasMember = (object: Readonly<ExactObject>, pattern: RegExp): boolean =>
  Object.keys(object).some((name) => pattern.test(bare(name)))

/** Whether an object has data of a person, itself or in the objects that it holds. */
const isOfPerson = (object: Readonly<ExactObject>): boolean =>
  hasMember(object, OF_PERSON) ||
  Object.values(object)
    .flat()
    .some((inner) => isJsonObject(inner) && hasMember(inner, OF_PERSON))

type Ids = Pick<Identity, 'id' | 'ids' | 'isSelf'>

const idsOf = ({ object, kind }: RecordPart): Ids => {
  const own = firstId(valuesNamed(object, 'InternalId'))
  // The ids of other objects of the contract are of roles and cases.
  if (kind === 'record' || kind === 'part')
    return { id: own, ids: own === undefined ? [] : [own], isSelf: own !== undefined }
  const sure = [own, ...membersOf(object, OWN_ID).map(idDigits)].filter((id) => id !== undefined)
  if (sure.length > 0) return { id: sure[0], ids: sure, isSelf: true }
  const id = doubtfulId(object)
  return { id, ids: id === undefined ? [] : [id], isSelf: hasMember(object, OF_SOMEBODY) }
}

/** An id that may be of something else than the person. */
const doubtfulId = (object: Readonly<ExactObject>): string | undefined => {
  const plain = firstId(membersOf(object, PLAIN_ID))
  if (plain !== undefined) return plain.length >= CERTAIN_DIGITS || isOfPerson(object) ? plain : undefined
  const [only, ...others] = membersOf(object, ANY_ID)
  const isOnly = others.length === 0 && keysOf(membersOf(object, OWN_NUMBER)).length === 0
  return isOnly && hasMember(object, OF_PERSON) ? idDigits(only) : undefined
}

/** Whether a member's name is an id or a number of those: an object may be kept by it. */
export const isKey = (
  name: string,
  { ids, numbers }: { readonly ids: ReadonlySet<string>; readonly numbers: ReadonlySet<string> },
): boolean => ids.has(name) || numbers.has(numberKey(name) ?? '')

const birthOf = (part: RecordPart): string | undefined => {
  const name = personName(part)
  return name === PROTECTED_IDENTITY ? undefined : birthKey(name, textOf(part, 'BirthDate'))
}

const keysOf = (values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => numberKey(scalarText(value) ?? '') ?? [])

const textOf = (part: RecordPart, name: string): string =>
  valuesNamed(part.object, name)
    .find((value) => typeof value === 'string' && value !== '')
    ?.toString() ?? ''

/** Full name of whom an object is about; empty where it has none. */
export const personName = (part: RecordPart): string =>
  textOf(part, 'Name') || `${textOf(part, 'FirstName')} ${textOf(part, 'LastName')}`.trim()

/** Parts of a company's record that say which company it is. */
const HEADS = ['BasicDetails', 'MinifiedInfo']

/** The object that says whom a part is about. */
const headOf = (part: RecordPart): RecordPart => {
  const head = part.kind === 'record' ? HEADS.map((name) => part.object[name]).find(isJsonObject) : undefined
  return head === undefined ? part : { ...part, object: head }
}

const NOTHING: Identity = {
  ...{ id: undefined, ids: [], isSelf: false, numbers: [], said: [] },
  ...{ hasNational: false, birth: undefined, isCompany: false },
}

export const personIdentity = (given: RecordPart): Identity => {
  if (given.kind === 'part' && !HEADS.includes(given.name)) return NOTHING
  const part = headOf(given)
  const { object, kind } = part
  const ids = idsOf(part)
  const isCompany = valuesNamed(object, 'IsCompany').includes(true)
  if (kind === 'part')
    return { ...ids, numbers: [], said: [], hasNational: false, birth: undefined, isCompany }
  const numbers = keysOf(membersOf(object, OWN_NUMBER))
  return {
    ...ids,
    numbers,
    // A number under any name counts where nothing else says who it is.
    said: ids.id === undefined && kind === 'unknown' ? keysOf(Object.values(object)) : numbers,
    hasNational: keysOf(valuesNamed(object, 'NationalIdentificationNumber')).length > 0,
    birth: isCompany ? undefined : birthOf(part),
    isCompany,
  }
}
