/**
 * Texts of a record that mention a protected person: they go where the person's name does. Names of companies and of other persons
 * stay, unless they are that name and nothing else in a company's own fields.
 */

import { PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { type Identifiers, identifiersOf } from '../../core/identifiers.ts'
import type { ExactObject } from '../../support/exact-json.ts'
import { personIdentity, personName } from './identity.ts'
import { type RecordPart, valuesNamed } from './record-parts.ts'

/** Names and numbers of protected persons, which no text is to mention. */
export interface PersonStrings {
  readonly names: readonly string[]
  readonly numbers: readonly string[]
}

const stringsOf = (object: Readonly<ExactObject>, name: string): readonly string[] =>
  valuesNamed(object, name).filter((value) => typeof value === 'string')

/** Names and numbers of parts, before they are masked. */
export const personStrings = (parts: Iterable<RecordPart>): PersonStrings => {
  const [names, numbers]: [string[], string[]] = [[], []]
  for (const part of parts) {
    const { object, kind } = part
    const { numbers: own, isCompany } = personIdentity(part)
    if (!isCompany) numbers.push(...own)
    if (kind === 'record' || kind === 'part') continue
    names.push(personName(part))
    for (const first of stringsOf(object, 'FirstName'))
      for (const last of stringsOf(object, 'LastName')) names.push(`${first} ${last}`, `${last} ${first}`)
  }
  return { names: names.filter((name) => name !== ''), numbers }
}

const letters = (text: string): string =>
  text
    .normalize('NFC')
    .toUpperCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')

/** Whether a document may mention somebody: all that it cannot is certain. */
export const mayMention = (document: Buffer, { names, numbers }: PersonStrings): boolean => {
  if (names.length + numbers.length === 0) return false
  const text = document.toString()
  if (text.includes('\\')) return true
  const all = letters(text)
  return [...names, ...numbers].some((one) => all.includes(letters(one)))
}

/** First and last names alone, which count in what is said of the person. */
const partNames = (parts: Iterable<RecordPart>): readonly string[] =>
  [...parts].flatMap(({ object }) => ['FirstName', 'LastName'].flatMap((name) => stringsOf(object, name)))

const IS_NAME = /name$|^previousnames$/i

/** Whether an object is a company's own data, and no person's. */
const isOwn = ({ kind, above }: RecordPart): boolean =>
  kind === 'record' || (kind === 'part' && above !== undefined && isOwn(above))

interface Mentions {
  /** Whether a text of a member is to go. */
  readonly isIn: (name: string, text: string, part: RecordPart) => boolean
}

const mentionsOf = (whole: Identifiers, single: Identifiers, persons: ReadonlySet<RecordPart>): Mentions => ({
  isIn: (name, text, part) => {
    if (text === PROTECTED_IDENTITY) return false
    const { name: hasName, nationalId } = whole.standing(text)
    if (nationalId) return true
    const isTheirs = persons.has(part)
    if (!IS_NAME.test(name) || isTheirs) return hasName || (isTheirs && single.standing(text).name)
    return isOwn(part) && whole.isName(text)
  },
})

/** Takes texts out: of a company's own fields, which may be absent; elsewhere the mask stands in their place. */
const cleanObject = (part: RecordPart, { isIn }: Mentions): void => {
  const { object } = part
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === 'string' && isIn(name, value, part)) {
      if (isOwn(part)) delete object[name]
      else object[name] = PROTECTED_IDENTITY
    } else if (Array.isArray(value) && value.some((one) => typeof one === 'string'))
      object[name] = value.filter((one) => typeof one !== 'string' || !isIn(name, one, part))
  }
}

/**
 * @param parts all objects of the record
 * @param persons those of them that are protected
 * @param texts of protected persons, taken before these were masked
 */
export const maskMentions = (
  parts: readonly RecordPart[],
  persons: ReadonlySet<RecordPart>,
  strings: PersonStrings & { readonly single: readonly string[] },
): void => {
  const { names, numbers, single } = strings
  if (names.length + numbers.length === 0) return
  const mentions = mentionsOf(
    identifiersOf({ names, nationalIds: numbers }, []),
    identifiersOf({ names: single, nationalIds: [] }, []),
    persons,
  )
  for (const part of parts) cleanObject(part, mentions)
}

export const stringsToMask = (persons: ReadonlySet<RecordPart>, told: PersonStrings) => {
  const { names, numbers } = personStrings(persons)
  return {
    names: [...names, ...told.names],
    numbers: [...numbers, ...told.numbers],
    single: partNames(persons),
  }
}
