/**
 * What a person is known by: ids, national ids, and a name beside the date of birth. The keys of an object of JSON.
 */

import { PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { birthKey, numberKey } from '../../core/person-keys.ts'
import { isJsonObject } from '../../support/exact-json.ts'
import { type Part, scalarText, valuesOf } from './record-parts.ts'

export interface Identity {
  /** The id as its digits, as it is known or sought. */
  readonly id: string | undefined
  /** Numbers of the object's own that identify whom it is about. */
  readonly numbers: readonly string[]
  /** All numbers that say whom it is about, where it has no id. */
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

const bare = (name: string): string => name.replace(/[^A-Za-z]/g, '').toLowerCase()

/** Names of ids that are of whom the object is about. */
const OWN_ID = /^(?:person|entity|individual|subject|holder)id$/
/** Any other name of an id: it says whom the object is about only where the object has data of a person. */
const ANY_ID = /id$/
export const isIdName = (name: string): boolean => ANY_ID.test(bare(name))

/** Names of what is said of a person, without what many other things have. */
const OF_PERSON =
  /^(?:(?:full|first|last|given|family|middle|maiden|company|former|previous)?name|birth\w*|dateofbirth|dob|gender|street\w*|address\w*|zipcode|postalcode|citizenship\w*|countryofresidence\w*|nationalid\w*|national\w*number|personal\w*number|orgno|ssn|iscompany|isprotected|e?mail|phone|mobile)$/

/** Names of numbers that identify whom the object is about. */
const OWN_NUMBER =
  /^(?:national\w*|orgno|organi[sz]ationnumber|personal\w*(?:number|no|id)|personnummer|person\w*number|identi\w*|ssn|socialsecurity\w*|taxid|vatnumber)$/

const idOf = ({ object, kind }: Part): string | undefined => {
  const own = firstId(valuesOf(object, 'InternalId'))
  // The ids of other objects of the contract are of roles and cases.
  if (own !== undefined || kind === 'record' || kind === 'part') return own
  const names = Object.keys(object)
  const named = (pattern: RegExp): readonly unknown[] =>
    names.filter((name) => pattern.test(bare(name))).map((name) => object[name])
  const sure = firstId(named(OWN_ID))
  if (sure !== undefined || !names.some((name) => OF_PERSON.test(bare(name)))) return sure
  const [only, ...others] = named(ANY_ID)
  const isOnly = others.length === 0 && keysOf(named(OWN_NUMBER)).length === 0
  return firstId(named(/^id$/)) ?? (isOnly ? firstId([only]) : undefined)
}

/** Whether a member's name is an id or a number of those: an object may be kept by it. */
export const isKey = (
  name: string,
  { ids, numbers }: { readonly ids: ReadonlySet<string>; readonly numbers: ReadonlySet<string> },
): boolean => ids.has(name) || numbers.has(numberKey(name) ?? '')

const birthOf = (part: Part): string | undefined => {
  const name = nameOf(part)
  return name === PROTECTED_IDENTITY ? undefined : birthKey(name, textOf(part, 'BirthDate'))
}

const keysOf = (values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => numberKey(scalarText(value) ?? '') ?? [])

const textOf = (part: Part, name: string): string =>
  valuesOf(part.object, name)
    .find((value) => typeof value === 'string' && value !== '')
    ?.toString() ?? ''

/** Full name of whom an object is about; empty where it has none. */
export const nameOf = (part: Part): string =>
  textOf(part, 'Name') || `${textOf(part, 'FirstName')} ${textOf(part, 'LastName')}`.trim()

/** Parts of a company's record that say which company it is. */
const HEADS = ['BasicDetails', 'MinifiedInfo']

/** The object that says whom a part is about. */
const headOf = (part: Part): Part => {
  const head = part.kind === 'record' ? HEADS.map((name) => part.object[name]).find(isJsonObject) : undefined
  return head === undefined ? part : { ...part, object: head }
}

export const identityOf = (given: Part): Identity => {
  const part = headOf(given)
  const { object, kind } = part
  const id = idOf(part)
  const isCompany = valuesOf(object, 'IsCompany').includes(true)
  if (kind === 'part') return { id, numbers: [], said: [], hasNational: false, birth: undefined, isCompany }
  const own = Object.keys(object).filter((name) => OWN_NUMBER.test(bare(name)))
  const numbers = keysOf(own.map((name) => object[name]))
  return {
    id,
    numbers,
    // What stands under any name counts where nothing else says who it is.
    said: id === undefined && kind === 'unknown' ? keysOf(Object.values(object)) : numbers,
    hasNational: keysOf(valuesOf(object, 'NationalIdentificationNumber')).length > 0,
    birth: isCompany ? undefined : birthOf(part),
    isCompany,
  }
}
