/** From the names of a declaration to what stands in place of each column's values. Pure. */

import type { Personal } from '../../contract/fields.ts'
import { ToolkitError } from '../../core/errors.ts'
import { nearestName } from '../../support/nearest-name.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  type FieldColumn,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../tables/columns.ts'
import { declaredColumns, TABLES, type Table } from '../tables/tables.ts'
import type { Projection } from './projection.ts'

/** The replacement of a column's values. */
export type Instead =
  | { readonly kind: 'null' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hash' }

export interface Hidden {
  readonly instead: Instead
  /** Rows of companies keep the value. */
  readonly onlyPersons: boolean
}

/** The hidden columns of a lake's tables. */
interface HiddenColumns {
  /** Tables that have no rows. */
  readonly tables: ReadonlySet<string>
  /** Keys: table, then column. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, Hidden>>
}

/** The name of all columns that the contract marks as personal data. */
const PERSONS = 'persons'

const FIELD_COLUMNS: Readonly<Record<string, readonly FieldColumn[]>> = {
  companies: COMPANY_COLUMNS,
  relations: RELATIONS_COLUMNS,
  relation_entities: ENTITY_COLUMNS,
  ownerships: OWNERSHIP_COLUMNS,
  roles: ROLE_COLUMNS,
}

interface PersonalColumn {
  readonly table: string
  readonly column: string
  readonly whom: Personal
}

/** The columns that `persons` stands for. */
export const PERSONAL_COLUMNS: readonly PersonalColumn[] = Object.entries(FIELD_COLUMNS).flatMap(
  ([table, columns]) =>
    columns.flatMap(({ name, field: { personal } }) =>
      personal === undefined ? [] : [{ table, column: name, whom: personal }],
    ),
)

/** Columns that identify the rows of a record and put them together. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...[
    'entity_no',
    'no',
    'parent_no',
    'direction',
    'is_history',
    'depth',
    'kind',
    'empty_lists',
    'is_preferred',
  ],
])

const wrong = (what: string, why: string): ToolkitError =>
  new ToolkitError('PROJECTION_INVALID', `Cannot ${what}: ${why}`)

const OF_RECORDS = TABLES.filter(({ content }) => content !== undefined)
const columnName = ({ name }: Table, column: string): string => `${name}.${column}`
const ALL_NAMES: readonly string[] = [
  PERSONS,
  ...OF_RECORDS.flatMap((table) => [
    table.name,
    ...table.columns.map((column) => columnName(table, column.name)),
  ]),
]

const unknown = (what: string, name: string): ToolkitError => {
  const nearest = nearestName(name, ALL_NAMES)
  const meant = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  return wrong(
    `${what} "${name}"`,
    `there is no such table or column${meant || '; columns are named like companies.email'}`,
  )
}

const WHAT: Readonly<Record<Instead['kind'], string>> = { null: 'leave out', text: 'mask', hash: 'hash' }

/** Whether a value can be hashed. */
const isText = (type: string): boolean => type === 'VARCHAR' || type === 'VARCHAR[]'

class Hiding {
  readonly #tables = new Set<string>()
  readonly #columns = new Map<string, Map<string, Hidden>>()
  /** Columns that were named themselves: these come before those of `persons`. */
  readonly #named = new Set<string>()

  add(name: string, instead: Instead): void {
    const what = WHAT[instead.kind]
    const table = OF_RECORDS.find((one) => name === one.name || name.startsWith(`${one.name}.`))
    if (table === undefined) throw unknown(what, name)
    if (name === table.name) this.#addTable(table, instead)
    else this.#addColumn(table, name, instead)
  }

  #addColumn(table: Table, name: string, instead: Instead): void {
    const what = WHAT[instead.kind]
    const column = table.columns.find((one) => columnName(table, one.name) === name)
    if (column === undefined) throw unknown(what, name)
    if (table.key.includes(column.name) || STRUCTURE.has(column.name))
      throw wrong(`${what} "${name}"`, `rows of "${table.name}" cannot be identified without it`)
    if (instead.kind === 'hash' && !isText(column.type))
      throw wrong(`hash "${name}"`, `it is no text but ${column.type.split('(')[0]}; leave it out`)
    if (this.#named.has(name)) throw wrong(`${what} "${name}"`, 'it is named twice')
    this.#named.add(name)
    this.#set(table.name, column.name, { instead, onlyPersons: false })
  }

  #addTable({ name, content }: Table, { kind }: Instead): void {
    if (kind !== 'null') throw wrong(`${WHAT[kind]} "${name}"`, 'it is a table, expected table.column')
    if (name === content)
      throw wrong(`leave out "${name}"`, `it says which ${name} there are; leave out its columns`)
    this.#tables.add(name)
  }

  addPersons(instead: Instead): void {
    for (const { table, column, whom } of PERSONAL_COLUMNS) {
      if (this.#named.has(`${table}.${column}`)) continue
      const type = declaredColumns(table).find(({ name }) => name === column)?.type
      const fits =
        instead.kind === 'null' || type === 'VARCHAR' || (instead.kind === 'hash' && isText(type ?? ''))
      this.#set(table, column, { instead: fits ? instead : { kind: 'null' }, onlyPersons: whom === 'entity' })
    }
  }

  #set(table: string, column: string, hidden: Hidden): void {
    const columns = this.#columns.get(table) ?? new Map<string, Hidden>()
    this.#columns.set(table, columns.set(column, hidden))
  }

  /** With what would tell the values of those columns, too. */
  end(): HiddenColumns {
    const columns = new Map([...this.#columns].map(([table, hidden]) => [table, new Map(hidden)]))
    for (const { name, content, columns: all } of OF_RECORDS) {
      const own = columns.get(name) ?? new Map<string, Hidden>()
      for (const column of [...own.keys()])
        if (all.some((one) => one.name === `${column}_name`) && !own.has(`${column}_name`))
          own.set(`${column}_name`, GONE)
      const beside = [...(own.size > 0 ? BESIDE : []), ...(this.#hides(content ?? '') ? OF_ALL : [])]
      for (const column of beside)
        if (all.some((one) => one.name === column) && !own.has(column)) own.set(column, GONE)
      if (own.size > 0) columns.set(name, own)
    }
    return { tables: this.#tables, columns }
  }

  #hides(content: string): boolean {
    return OF_RECORDS.some(
      ({ name, content: one }) => one === content && (this.#tables.has(name) || this.#columns.has(name)),
    )
  }
}

const GONE: Hidden = { instead: { kind: 'null' }, onlyPersons: false }
/** Columns that hold values of others as they came. */
const BESIDE = ['as_reported', 'masked', 'reported']
/** Fields that the contract does not know, of all tables of a record: any of them may say the same again. */
const OF_ALL = ['extra']

/** @throws {ToolkitError} PROJECTION_INVALID */
export const hiddenColumns = ({ leaveOut = [], mask = {}, hash = [] }: Projection): HiddenColumns => {
  const asked: (readonly [string, Instead])[] = [
    ...leaveOut.map((name) => [name, { kind: 'null' }] as const),
    ...Object.entries(mask).map(([name, text]) => [name, { kind: 'text', text }] as const),
    ...hash.map((name) => [name, { kind: 'hash' }] as const),
  ]
  const persons = asked.filter(([name]) => name === PERSONS)
  if (persons.length > 1) throw wrong(`treat "${PERSONS}"`, 'it is named twice')
  const hiding = new Hiding()
  for (const [name, instead] of asked) if (name !== PERSONS) hiding.add(name, instead)
  for (const [, instead] of persons) hiding.addPersons(instead)
  return hiding.end()
}
