/** Objects of a table's rows as JSON texts: each column in the member of the record that it came from. */

import type { RawColumn } from '../core/sink.ts'
import { ident } from '../lake/duckdb/sql.ts'
import type { FieldColumn } from '../lake/tables/columns.ts'
import { type JsonPart, membersAt } from '../support/json-bytes.ts'
import { nameText, Strings, stringsOfField, type TextMaker, writeObjects } from './column-texts.ts'

/** A member of an object: a column, a series that stands in another table, or an object. */
export type Member =
  | { readonly name: string; readonly column: string }
  | { readonly name: string; readonly series: number }
  | { readonly name: string; readonly members: readonly Member[] }

/** The members of the object at a level of the columns' paths. */
export const membersOf = (columns: readonly FieldColumn[], level: number): readonly Member[] =>
  [...new Set(columns.map(({ path }) => path[level] ?? ''))].map((name) => {
    const below = columns.filter(({ path }) => path[level] === name)
    const [leaf] = below
    return leaf !== undefined && leaf.path.length === level + 1
      ? { name, column: leaf.name }
      : { name, members: membersOf(below, level + 1) }
  })

/** Columns to select, under names that no column of a table has. */
export const selectedColumns = (columns: readonly FieldColumn[]): string =>
  columns.map(({ name }, at) => `${ident(name)} AS ${ident(`column_${at}`)}`).join(', ')

type StringsByColumn = ReadonlyMap<string, Strings>

/** Makes texts of columns. They stand until those of the next chunk are made. */
export class ColumnStrings {
  readonly #makers: readonly (readonly [name: string, maker: TextMaker])[]

  constructor(columns: readonly FieldColumn[]) {
    this.#makers = columns.map(({ name, field }) => [name, stringsOfField(field)])
  }

  /** @param columns of a chunk, as they were selected */
  make(columns: readonly RawColumn[], rows: number): StringsByColumn {
    const strings = new Map<string, Strings>()
    for (const [at, [name, maker]] of this.#makers.entries()) {
      const column = columns[at]
      if (column !== undefined) strings.set(name, maker.make(column, rows))
    }
    return strings
  }
}

/** Writes the object of a row's members from the texts of a chunk's columns. */
export class MembersWriter {
  readonly #members: readonly Member[]
  readonly #names: readonly Buffer[]
  readonly #nested: readonly (MembersWriter | undefined)[]
  readonly #strings = new Strings()

  constructor(members: readonly Member[]) {
    this.#members = members
    this.#names = members.map(({ name }) => nameText(name))
    this.#nested = members.map((member) =>
      'members' in member ? new MembersWriter(member.members) : undefined,
    )
  }

  write(columns: StringsByColumn, series: readonly Strings[], count: number): Strings {
    const found = this.#members.map((member, at) => {
      if ('column' in member) return columns.get(member.column)
      return 'series' in member ? series[member.series] : this.#nested[at]?.write(columns, series, count)
    })
    return writeObjects(this.#strings, this.#names, found, count)
  }
}

/** The members of a row's text: none where it is empty. */
export const membersOfRow = (strings: Strings, row: number): readonly JsonPart[] =>
  strings.has(row) ? membersAt(strings.writer.bytes.subarray(strings.from(row), strings.to(row)), 0) : []
