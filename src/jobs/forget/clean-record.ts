/**
 * Takes what is about the forgotten out of what the contract does not know of a record: the smallest object that has an id, a
 * national id or a name of theirs, a list's element where it stands in a list. Fields of the contract stay, but for entities that are
 * theirs and have no id. Pure.
 */

import { type IsForgotten, withoutEntities } from '../../check/quarantine/refuse-lines.ts'
import type { Field, ObjectType } from '../../contract/fields.ts'
import { CONTENT, type Content, RELATION } from '../../contract/objects.ts'
import { type Identifiers, LEAST_DIGITS } from '../../core/identifiers.ts'
import {
  elementsAt,
  JSON_BYTES,
  type JsonMember,
  membersAt,
  skipSpace,
  textBetween,
} from '../../support/json-bytes.ts'

const { QUOTE, OPEN_BRACE, OPEN_BRACKET } = JSON_BYTES

interface CleanedRecord {
  /** The same, byte by byte, where nothing is gone. */
  readonly text: string
  readonly isChanged: boolean
  /** Values that may be about the forgotten, or about others. */
  readonly left: number
}

/** A value as it stands, or what is left of it; `undefined`: it is gone. */
type Left = string | undefined

class RecordCleaner {
  readonly #json: Buffer
  readonly #identifiers: Identifiers
  left = 0

  constructor(json: Buffer, identifiers: Identifiers) {
    this.#json = json
    this.#identifiers = identifiers
  }

  /** An object of the contract. */
  known(from: number, to: number, of: ObjectType): string {
    if (this.#json[from] !== OPEN_BRACE) return this.#raw(from, to)
    return this.#members(from, to, membersAt(this.#json, from), (member) => {
      const field = Object.hasOwn(of.fields, member.name) ? of.fields[member.name] : undefined
      return field ? this.#field(member, field, of) : this.#member(member)
    })
  }

  #field({ valueFrom, to }: JsonMember, field: Field, of: ObjectType): string {
    if (field.kind === 'object') return this.known(valueFrom, to, field.of)
    const items = field.kind === 'objects' ? field.of : field.kind === 'self-list' ? of : undefined
    if (items === undefined || this.#json[valueFrom] !== OPEN_BRACKET) return this.#raw(valueFrom, to)
    return this.#list(valueFrom, to, (at, end) =>
      items === RELATION && this.#isTheirEntity(at) ? undefined : this.known(at, end, items),
    )
  }

  /** A company or person without an id that is known by its number, or by its name beside the date of birth. */
  #isTheirEntity(from: number): boolean {
    if (this.#json[from] !== OPEN_BRACE) return false
    const members = membersAt(this.#json, from)
    const textOf = (name: string): string => {
      const member = members.findLast((one) => one.name === name)
      return (member && this.#scalar(member.valueFrom, member.to)) ?? ''
    }
    if (!/^0*$/.test(textOf('InternalId'))) return false
    const name = textOf('Name') || `${textOf('FirstName')} ${textOf('LastName')}`
    return this.#identifiers.isOfKeys({
      nationalId: textOf('NationalIdentificationNumber'),
      orgNo: textOf('OrgNo'),
      name,
      birth: textOf('BirthDate'),
    })
  }

  /** A member that the contract does not know. @param isJudged whether its value was, where that is no object and no list */
  #member({ name, valueFrom, to }: JsonMember, isJudged = false): Left {
    const verdict = judgeName(name, this.#identifiers)
    if (verdict === 'theirs') return undefined
    this.#count(verdict)
    const first = this.#json[valueFrom]
    return isJudged && first !== OPEN_BRACE && first !== OPEN_BRACKET
      ? this.#raw(valueFrom, to)
      : this.#value(name, valueFrom, to)
  }

  /** @param name of the member that it is the value of, or stands in a list of */
  #value(name: string, from: number, to: number): Left {
    const first = this.#json[from]
    if (first === OPEN_BRACE) return this.#object(from, to)
    if (first === OPEN_BRACKET) return this.#list(from, to, (at, end) => this.#value(name, at, end))
    const verdict = this.#judge(name, this.#scalar(from, to))
    if (verdict === 'theirs') return undefined
    this.#count(verdict)
    return this.#raw(from, to)
  }

  #object(from: number, to: number): Left {
    const members = membersAt(this.#json, from)
    const values = members.flatMap(({ name, valueFrom, to: end }) => {
      const first = this.#json[valueFrom]
      return first === OPEN_BRACE || first === OPEN_BRACKET
        ? []
        : [{ name, text: this.#scalar(valueFrom, end) }]
    })
    const verdicts = values.map((value) => ({
      ...value,
      verdict: this.#judge(value.name, value.text),
    }))
    if (verdicts.some(({ verdict }) => verdict === 'theirs' || verdict === 'told')) return undefined
    // Others may have the same name.
    const isOfOther = values.some(
      ({ name, text }) => IDENTITY.test(name) && text !== undefined && text !== '',
    )
    const named = verdicts.filter(({ verdict }) => verdict === 'name')
    if (!isOfOther && (named.length > 0 || this.#isNamedInParts(values))) return undefined
    this.left += isOfOther ? named.filter(({ name }) => !OWN_NAME.test(name)).length : 0
    for (const { verdict } of verdicts) if (verdict !== 'name') this.#count(verdict)
    return this.#members(from, to, members, (member) => this.#member(member, true))
  }

  /** First and last name in members of their own. */
  #isNamedInParts(values: readonly { readonly name: string; readonly text: string | undefined }[]): boolean {
    const part = (names: RegExp): string => values.find(({ name }) => names.test(name))?.text ?? ''
    const [first, last] = [part(/(?:first|given).?name/i), part(/(?:last|family|sur).?name/i)]
    return first !== '' && last !== '' && this.#identifiers.isName(`${first} ${last}`)
  }

  #members(
    from: number,
    to: number,
    members: readonly JsonMember[],
    leftOf: (member: JsonMember) => Left,
  ): string {
    const texts = members.map((member) => {
      const left = leftOf(member)
      const { name, from: at, valueFrom, to: end } = member
      if (left === undefined) return undefined
      return left === this.#raw(valueFrom, end) ? this.#raw(at, end) : `${JSON.stringify(name)}:${left}`
    })
    const isSame = texts.every((text, at) => text === this.#raw(members[at]?.from ?? 0, members[at]?.to ?? 0))
    return isSame ? this.#raw(from, to) : `{${texts.filter((text) => text !== undefined).join()}}`
  }

  #list(from: number, to: number, leftOf: (from: number, to: number) => Left): string {
    const elements = elementsAt(this.#json, from)
    const texts = elements.map(([at, end]) => leftOf(at, end))
    const isSame = elements.every(([at, end], place) => texts[place] === this.#raw(at, end))
    return isSame ? this.#raw(from, to) : `[${texts.filter((text) => text !== undefined).join()}]`
  }

  /** A text as it reads, a number as it stands. */
  #scalar(from: number, to: number): string | undefined {
    if (this.#json[from] === QUOTE) return textBetween(this.#json, from, to)
    const word = this.#raw(from, to)
    return /^[tfn]/.test(word) ? undefined : word
  }

  #judge(name: string, text: string | undefined): Verdict {
    return text === undefined ? 'other' : judgeValue(name, text, this.#identifiers)
  }

  #raw(from: number, to: number): string {
    return this.#json.toString('utf8', from, to)
  }

  #count(verdict: Verdict): void {
    if (verdict !== 'other') this.left += 1
  }
}

/** Whom a record is to tell nothing of. */
export interface ForgottenEntities {
  readonly isEntity: IsForgotten
  readonly identifiers: Identifiers
}

/**
 * @param text a record of others, in sound JSON
 * @returns it without entities of the forgotten, and without what else tells of them
 * @throws {RangeError} where it is nested too deep for a stack
 */
export const withoutForgotten = (
  content: Content,
  text: string,
  { isEntity, identifiers }: ForgottenEntities,
): CleanedRecord => {
  const json = Buffer.from(withoutEntities(text, isEntity))
  const cleaner = new RecordCleaner(json, identifiers)
  const left = cleaner.known(skipSpace(json, 0), json.length, CONTENT[content])
  const isSame = left === withoutEntities(text, () => false)
  return { text: isSame ? text : left, isChanged: !isSame, left: cleaner.left }
}

/**
 * `theirs`: an id or national id, and nothing else; `told`: a text that has their national id; `name`: a name and nothing else;
 * `unsure`: a text that has a name, a number that is their id or something else; `other`: neither.
 */
type Verdict = 'theirs' | 'told' | 'name' | 'unsure' | 'other'

/** Names of members that have an id. */
const ID_NAMES: readonly RegExp[] = [
  /(?:^|[^A-Za-z])ids?$/i,
  /[a-z0-9](?:Id|ID)s?$/,
  /(?:internal|person|company|entity|owner|parent)_?ids?$/i,
]
/** Words in such a name by which the id is of a company or person, and no code of something. */
const OF_SOMEBODY =
  /internal|person|company|entity|owner|parent|child|relat|holder|director|member|signator|ubo|contact|part(?:y|ner)|subject|customer|employee|chair|ceo|auditor/i
/** Members whose number is one of a register. */
const OF_REGISTER = /org|national|identi|registration|vat|tax|ssn|(?:no|nr|number|nummer|id|ids)$/i
/** A shorter number of a register may be any number where no name of a member says what it is. */
const CERTAIN_CHARACTERS = 8

/** Members that say who an object is about. */
const IDENTITY = /^(?:internalid|orgno|nationalidentificationnumber)$/i
/** Members that have the name of whom an object is about. */
const OWN_NAME = /name$/i
const LEAST_NAME = 5

const isIdName = (name: string): boolean => ID_NAMES.some((one) => one.test(name))

const idVerdict = (name: string, digits: string): Verdict =>
  isIdName(name) && (digits.length >= LEAST_DIGITS || OF_SOMEBODY.test(name)) ? 'theirs' : 'unsure'

/** A whole number as JSON has it, or as a text has it: its digits. */
const digitsOf = (text: string): string | undefined => /^\s*(\d+)(?:\.0+)?\s*$/.exec(text)?.[1]

/** @param name of the member that has the value, or whose list it stands in @param text a text, or a number as it stands */
const judgeValue = (name: string, text: string, identifiers: Identifiers): Verdict => {
  const digits = digitsOf(text)?.replace(/^0+(?=\d)/, '')
  if (digits !== undefined && identifiers.isId(digits)) return idVerdict(name, digits)
  if (identifiers.isNationalId(text))
    return text.length >= CERTAIN_CHARACTERS || OF_REGISTER.test(name) ? 'theirs' : 'unsure'
  if (identifiers.isName(text) && (text.length >= LEAST_NAME || OWN_NAME.test(name))) return 'name'
  const { name: hasName, nationalId } = identifiers.standing(text)
  if (nationalId) return 'told'
  return hasName || identifiers.idStandsIn(text, LEAST_DIGITS) ? 'unsure' : 'other'
}

/** The same of a member's own name: an object may be kept by ids or names of persons. A word may be no name there. */
const judgeName = (name: string, identifiers: Identifiers): Verdict => {
  const verdict = judgeValue('', name, identifiers)
  if (verdict !== 'name') return verdict
  return /\P{L}/u.test(name.trim()) ? 'theirs' : 'unsure'
}
