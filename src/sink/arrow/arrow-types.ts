/** The Arrow type that a column of the engine becomes, and the schema of a table with what its columns mean. */

import {
  Bool,
  type DataType,
  DateDay,
  Dictionary,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow'
import { ToolkitError } from '../../core/errors.ts'
import type { ColumnType, NamedColumnType } from '../../core/sink.ts'
import { TABLES } from '../../lake/tables/tables.ts'

/** Types whose values stand in DuckDB's memory as Arrow wants them, and the bytes of one. */
const FIXED: Readonly<Record<string, { readonly type: () => DataType; readonly width: number }>> = {
  TINYINT: { type: () => new Int8(), width: 1 },
  SMALLINT: { type: () => new Int16(), width: 2 },
  INTEGER: { type: () => new Int32(), width: 4 },
  BIGINT: { type: () => new Int64(), width: 8 },
  UTINYINT: { type: () => new Uint8(), width: 1 },
  USMALLINT: { type: () => new Uint16(), width: 2 },
  UINTEGER: { type: () => new Uint32(), width: 4 },
  UBIGINT: { type: () => new Uint64(), width: 8 },
  FLOAT: { type: () => new Float32(), width: 4 },
  DOUBLE: { type: () => new Float64(), width: 8 },
  DATE: { type: () => new DateDay(), width: 4 },
  TIMESTAMP: { type: () => new TimestampMicrosecond(), width: 8 },
  TIMESTAMP_TZ: { type: () => new TimestampMicrosecond('UTC'), width: 8 },
}

/** How a column is written. */
export type ArrowColumn =
  | { readonly kind: 'fixed'; readonly type: DataType; readonly width: number }
  | { readonly kind: 'boolean'; readonly type: Bool }
  | { readonly kind: 'text'; readonly type: Utf8 }
  /** Rows come as numbers of `width` bytes, without sign, and are written as the type's. */
  | {
      readonly kind: 'dictionary'
      readonly type: Dictionary<Utf8, Int16 | Int32>
      readonly width: 1 | 2 | 4
      readonly values: readonly string[]
    }
  | { readonly kind: 'list'; readonly type: List; readonly child: ArrowColumn }
  | { readonly kind: 'struct'; readonly type: Struct; readonly children: readonly ArrowColumn[] }

/**
 * @param values of a column that comes as SMALLINT numbers of a dictionary, counted from 0
 * @param newId number of the next dictionary of the file: those of the package go on from file to file
 * @throws {ToolkitError} `TARGET_REFUSED` when Arrow files of ours have no type for it
 */
export const arrowColumn = (
  { name, type }: NamedColumnType,
  values: readonly string[] | undefined,
  newId: () => number,
): ArrowColumn => (values === undefined ? columnOf(name, type, newId) : dictionaryOf(values, 2, newId))

const columnOf = (name: string, type: ColumnType, newId: () => number): ArrowColumn => {
  switch (type.kind) {
    case 'enum':
      return dictionaryOf(type.values, type.width, newId)
    case 'list': {
      const child = columnOf(name, type.of, newId)
      return { kind: 'list', type: new List(new Field('item', child.type, true)), child }
    }
    case 'struct': {
      const children = type.fields.map((field) => columnOf(`${name}.${field.name}`, field.type, newId))
      const fields = children.map((child, at) => new Field(type.fields[at]?.name ?? '', child.type, true))
      return { kind: 'struct', type: new Struct(fields), children }
    }
    case 'plain': {
      if (type.id === 'BOOLEAN') return { kind: 'boolean', type: new Bool() }
      if (type.id === 'VARCHAR') return { kind: 'text', type: new Utf8() }
      const fixed = FIXED[type.id]
      if (fixed !== undefined) return { kind: 'fixed', type: fixed.type(), width: fixed.width }
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot write column "${name}" to Arrow: its type is ${type.name}, cast it to BIGINT, DOUBLE or VARCHAR`,
        { column: name },
      )
    }
  }
}

/** Numbers are 16 bits wide, be there ever so few values: so the files of a table have one schema. */
const dictionaryOf = (values: readonly string[], width: 1 | 2 | 4, newId: () => number): ArrowColumn => ({
  kind: 'dictionary',
  type: new Dictionary(new Utf8(), values.length <= 2 ** 15 ? new Int16() : new Int32(), newId()),
  width,
  values,
})

/** The schema with what is known of a lake's table: what a row is, each column's meaning and unit. */
export const arrowSchema = (
  names: readonly string[],
  columns: readonly ArrowColumn[],
  tableName: string | undefined,
): Schema => {
  const table = TABLES.find(({ name }) => name === tableName)
  const fields = columns.map((column, at) => {
    const name = names[at] ?? ''
    const known = table?.columns.find((one) => one.name === name)
    const facts = new Map<string, string>()
    if (known !== undefined) facts.set('comment', known.about)
    if (known?.unit !== undefined) facts.set('unit', known.unit)
    return new Field(name, column.type, true, facts)
  })
  return new Schema(
    fields,
    table &&
      new Map([
        ['table', table.name],
        ['row', table.row],
      ]),
  )
}
