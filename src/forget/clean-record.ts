/**
 * Takes the forgotten out of a record of others: entities that are theirs and, where what the contract does not know of the record
 * mentions them, all of that. Other fields of the contract stay. Pure.
 */

import { type IsForgotten, isForgottenAt } from '../check/quarantine/refuse-lines.ts'
import type { Field, ObjectType } from '../contract/fields.ts'
import { LINE_ITEMS } from '../contract/line-items.ts'
import { CONTENT, type Content, RELATION } from '../contract/objects.ts'
import type { Identifiers } from '../core/identifiers.ts'
import { JSON_BYTES, type JsonPart, leftOfParts, skipSpace } from '../support/json-bytes.ts'

const { OPEN_BRACE, OPEN_BRACKET } = JSON_BYTES

interface CleanedRecord {
  /** The same, byte by byte, where nothing is gone. */
  readonly text: string
  readonly isChanged: boolean
  /** Whether its unknown fields mentioned the forgotten, and are gone. */
  readonly isStripped: boolean
}

/** The rest of a value; `undefined`: it is gone. */
type Left = string | undefined

/** Line items of the contract, below their categories. */
const KNOWN_ITEMS: ReadonlySet<string> = new Set(
  LINE_ITEMS.map(({ category, lineItem }) => `${category} ${lineItem}`),
)

/** The names of a line item as one text, in which the forgotten may be mentioned. */
export const itemText = (category: string, lineItem: string): string => `${category} ${lineItem}`

class RecordCleaner {
  readonly #json: Buffer
  readonly #forgotten: ForgottenEntities
  readonly #keepsUnknown: boolean
  /** Members that the contract does not know, as they stand. */
  readonly #unknown: string[] = []
  /** Names of line items that it does not know. */
  readonly #items: string[] = []

  constructor(json: Buffer, forgotten: ForgottenEntities, keepsUnknown: boolean) {
    this.#json = json
    this.#forgotten = forgotten
    this.#keepsUnknown = keepsUnknown
  }

  /** An object of the contract. */
  known(from: number, to: number, of: ObjectType): string {
    return leftOfParts(this.#json, from, to, (member) => {
      const field = Object.hasOwn(of.fields, member.name) ? of.fields[member.name] : undefined
      return field ? this.#field(member, field, of) : this.#unknownMember(member, this.#unknown)
    })
  }

  /** Whether the forgotten are mentioned in what the contract does not know of the entities that stay. */
  isTold(): boolean {
    const { mentions } = this.#forgotten.identifiers
    return mentions(this.#unknown.join(' ')) || this.#items.some(mentions)
  }

  /** A list or an object where the contract has none is as unknown as a field. */
  #field(member: JsonPart, field: Field, of: ObjectType): Left {
    const { valueFrom, to } = member
    const first = this.#json[valueFrom]
    if (first === OPEN_BRACE) {
      if (field.kind === 'object') return this.known(valueFrom, to, field.of)
      if (field.kind === 'financials') return this.#financials(valueFrom, to)
      if (field.kind !== 'series') return this.#unknownMember(member, this.#unknown)
    }
    if (first === OPEN_BRACKET) {
      const items = field.kind === 'objects' ? field.of : field.kind === 'self-list' ? of : undefined
      if (items)
        return leftOfParts(this.#json, valueFrom, to, (item) =>
          items === RELATION && this.#isTheirEntity(item)
            ? undefined
            : this.known(item.valueFrom, item.to, items),
        )
      if (field.kind !== 'strings') return this.#unknownMember(member, this.#unknown)
    }
    return this.#raw(valueFrom, to)
  }

  #financials(from: number, to: number): string {
    return leftOfParts(this.#json, from, to, (category) =>
      leftOfParts(this.#json, category.valueFrom, category.to, (item) => {
        const text = itemText(category.name, item.name)
        return KNOWN_ITEMS.has(text)
          ? this.#raw(item.valueFrom, item.to)
          : this.#unknownMember(item, this.#items, text)
      }),
    )
  }

  #unknownMember({ from, valueFrom, to }: JsonPart, strings: string[], text = this.#raw(from, to)): Left {
    strings.push(text)
    return this.#keepsUnknown ? this.#raw(valueFrom, to) : undefined
  }

  /** A company or person with an id of theirs or, without any, with their number, or their name beside the date of birth. */
  #isTheirEntity({ valueFrom, to }: JsonPart): boolean {
    const { isEntity, identifiers } = this.#forgotten
    if (isForgottenAt(this.#json, valueFrom, isEntity)) return true
    const entity = JSON.parse(this.#raw(valueFrom, to))
    const textOf = (name: string): string => {
      const value = entity?.[name]
      return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    }
    if (!/^0*$/.test(textOf('InternalId'))) return false
    return identifiers.isOfKeys({
      nationalId: textOf('NationalIdentificationNumber'),
      orgNo: textOf('OrgNo'),
      name: textOf('Name') || `${textOf('FirstName')} ${textOf('LastName')}`,
      birth: textOf('BirthDate'),
    })
  }

  #raw(from: number, to: number): string {
    return this.#json.toString('utf8', from, to)
  }
}

/** Whom a record is to tell nothing of. */
export interface ForgottenEntities {
  readonly isEntity: IsForgotten
  readonly identifiers: Identifiers
}

/**
 * @param text a record of others, in sound JSON
 * @returns it without entities of the forgotten, and without all unknown fields where these mention them
 * @throws {RangeError} where it is nested too deep for a stack
 */
export const withoutForgotten = (
  content: Content,
  text: string,
  forgotten: ForgottenEntities,
): CleanedRecord => {
  const json = Buffer.from(text)
  const from = skipSpace(json, 0)
  const cleaned = (cleaner: RecordCleaner): string => cleaner.known(from, json.length, CONTENT[content])
  const first = new RecordCleaner(json, forgotten, true)
  const kept = cleaned(first)
  const isStripped = first.isTold()
  const left = isStripped ? cleaned(new RecordCleaner(json, forgotten, false)) : kept
  const isChanged = left !== json.toString('utf8', from)
  return { text: isChanged ? left : text, isChanged, isStripped }
}
