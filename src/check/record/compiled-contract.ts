/** The contract's objects in the form that the line checker looks things up in. */

import { DICTIONARIES } from '../../contract/dictionaries.ts'
import type { Field, ObjectType } from '../../contract/fields.ts'
import { BASIC_DETAILS, META_DATA } from '../../contract/objects.ts'
import { hasOwnTable } from '../../lake/tables/columns.ts'
import { KeyTable } from '../../rows/key-table.ts'
import { type RowList, rowColumnOf, rowListOf } from '../../rows/row-columns.ts'
import { KeyOrder } from '../scan/read-key.ts'

export interface CompiledField {
  readonly name: string
  readonly field: Field
  readonly of: CompiledObject | undefined
  /** The codes that the contract knows, as they are written. */
  readonly codes: KeyTable | undefined
  /** Whether it is a text that nothing but its row asks for. */
  readonly isPlainText: boolean
  /** Column of the field in the row that is made while it is checked; -1 where it has none. */
  readonly rowColumn: number
  /** The kind of its items where they are rows of a table of their own. */
  readonly rows: RowList | undefined
}
export interface CompiledObject {
  readonly keys: KeyTable
  readonly order: KeyOrder
  readonly fields: readonly CompiledField[]
}

/** Texts that other rows and figures of the record need too: see `RecordFacts`. */
const FACTS: ReadonlySet<Field> = new Set([
  META_DATA.fields.FinancialFigureScale,
  META_DATA.fields.CurrentCurrencyCode,
  BASIC_DETAILS.fields.CountryCode,
])

const compiled = new Map<ObjectType, CompiledObject>()

/** Most fields of an object that the checker supports: one bit of a 32-bit number each. */
const MOST_FIELDS = 32

/**
 * The compiled form of an object and of all objects in it; made once.
 * @throws {RangeError} for an object of more than 32 fields
 */
export const compile = (object: ObjectType): CompiledObject => {
  const known = compiled.get(object)
  if (known) return known
  // Objects may hold each other, so one is found before it is finished; what is kept is finished.
  const making = new Map<ObjectType, CompiledObject>()
  const result = compileInto(making, object)
  for (const [made, form] of making) compiled.set(made, form)
  return result
}

const compileInto = (making: Map<ObjectType, CompiledObject>, object: ObjectType): CompiledObject => {
  const known = compiled.get(object) ?? making.get(object)
  if (known) return known
  const names = Object.keys(object.fields)
  if (names.length > MOST_FIELDS) {
    throw new RangeError(
      `Cannot compile "${object.name}" for the checker: it has ${names.length} fields, expected at most ${MOST_FIELDS}`,
    )
  }
  const fields: CompiledField[] = []
  const result: CompiledObject = { keys: new KeyTable(names), order: new KeyOrder(names), fields }
  making.set(object, result)
  for (const [name, field] of Object.entries(object.fields)) {
    const of = field.kind === 'object' || field.kind === 'objects' ? field.of : object
    const hasRows = field.kind === 'self-list' || (field.kind === 'objects' && hasOwnTable(field.of))
    fields.push({
      name,
      field,
      of:
        field.kind === 'object' || field.kind === 'objects' || field.kind === 'self-list'
          ? compileInto(making, of)
          : undefined,
      codes: 'codes' in field && field.codes !== undefined ? codesOf(field.codes) : undefined,
      isPlainText: field.kind === 'text' && field.codes === undefined && !FACTS.has(field),
      rowColumn: rowColumnOf(field),
      rows: hasRows ? rowListOf(name) : undefined,
    })
  }
  return result
}

const codesOf = (dictionary: string): KeyTable => {
  const found = Object.entries(DICTIONARIES).find(([name]) => name === dictionary)
  if (!found) throw new TypeError(`Contract names the dictionary "${dictionary}" but does not declare it`)
  return new KeyTable(found[1].values.map(({ value }) => String(value)))
}
