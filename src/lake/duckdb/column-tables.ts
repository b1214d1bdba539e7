/** Columns in JavaScript's memory as tables that DuckDB selects from. What stands in the columns is the caller's. */

import {
  ARRAY,
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBConnection,
  DuckDBTableFunction,
  DuckDBTypeId,
  ENUM,
  FLOAT,
  INTEGER,
  LIST,
  SMALLINT,
  STRUCT,
  TIMESTAMPTZ,
  VARCHAR,
} from '@duckdb/node-api'
import { isEnumerable } from './sql.ts'
import { TextCells } from './text-cells.ts'
import { CHUNK_ROWS, NO_TYPE, type Vectors, type VectorType, vectorsOf } from './vectors.ts'

/** Names that codes stand for: an ENUM where `values` can be one, else each code is asked for its text. */
export interface Names {
  readonly values: readonly string[]
  readonly textOf: (code: number) => string
}

/** So many FLOATs in each row. */
interface FloatArray {
  readonly floats: number
}

/** A list of structs in each row, whose fields of these names are texts. */
interface TextStructs {
  readonly fields: readonly string[]
}

/** A struct in each row. */
export interface Struct {
  readonly members: readonly { readonly name: string; readonly type: keyof typeof PLAIN }[]
}

export interface ColumnDeclaration {
  readonly name: string
  readonly type: keyof typeof PLAIN | FloatArray | TextStructs | Struct | Names
}

/** A table whose rows are given chunk by chunk. It may be read again, and by several statements at once. */
export interface ColumnTable {
  readonly columns: readonly ColumnDeclaration[]
  readonly rows: number
  /** SQL of the rows that are selected from the columns. @default all columns as they stand */
  readonly select?: string
  /** Begins at the first row. The function fills the vectors of the next rows, at most `CHUNK_ROWS`, and returns how many. */
  readonly read: () => (vectors: Vectors) => number
}

/** A table as something to stand behind FROM, until it is removed. */
export interface AddedTable {
  readonly from: string
  readonly remove: () => void
}

const PLAIN = {
  BOOLEAN,
  BIGINT,
  INTEGER,
  SMALLINT,
  DOUBLE,
  TIMESTAMPTZ,
  VARCHAR,
  'DOUBLE[]': LIST(DOUBLE),
  'SMALLINT[]': LIST(SMALLINT),
  'VARCHAR[]': LIST(VARCHAR),
} as const

const vectorType = ({ name, type }: ColumnDeclaration): VectorType => {
  if (typeof type === 'string') return { ...NO_TYPE, name, type: PLAIN[type] }
  if ('floats' in type) return { ...NO_TYPE, name, type: ARRAY(FLOAT, type.floats) }
  if ('fields' in type) {
    const fields = Object.fromEntries(type.fields.map((field) => [field, VARCHAR]))
    return { ...NO_TYPE, name, type: LIST(STRUCT(fields)) }
  }
  if ('members' in type) {
    const members = Object.fromEntries(type.members.map((member) => [member.name, PLAIN[member.type]]))
    return { ...NO_TYPE, name, type: STRUCT(members) }
  }
  const { values, textOf } = type
  if (!isEnumerable(values))
    return { name, type: VARCHAR, scratch: undefined, strings: new TextCells(CHUNK_ROWS), textOf }
  const enumType = ENUM(values)
  const Codes = enumType.internalTypeId === DuckDBTypeId.UTINYINT ? Uint8Array : Uint16Array
  return { ...NO_TYPE, name, type: enumType, scratch: new Codes(CHUNK_ROWS), textOf }
}

/** The name of the function that all tables of an engine are read by. */
const FUNCTION = 'firmlake_columns'

class Bound {
  readonly table: ColumnTable
  readonly types: readonly VectorType[]
  constructor(table: ColumnTable) {
    this.table = table
    this.types = table.columns.map(vectorType)
  }
}

class Reading {
  readonly next: ReturnType<ColumnTable['read']>
  constructor(table: ColumnTable) {
    this.next = table.read()
  }
}

/** An object that was handed to DuckDB with a statement and comes back from it. */
const given = <T>(what: new (...parameters: never[]) => T, value: object | undefined): T => {
  if (value instanceof what) return value
  throw new TypeError(`Cannot read a table of columns: its ${what.name} is lost`)
}

/** The tables of one engine. DuckDB asks for their rows on this thread: a loop that keeps it busy holds them up. */
export class ColumnTables {
  readonly #tables = new Map<string, ColumnTable>()
  #last = 0

  constructor(connection: DuckDBConnection) {
    connection.registerTableFunction(
      DuckDBTableFunction.create({
        name: FUNCTION,
        parameterTypes: [BIGINT],
        bindFunction: (info) => {
          const table = this.#tables.get(String(info.getParameter(0)))
          if (table === undefined) throw new Error('Cannot read a table of columns: it was removed')
          const bound = new Bound(table)
          for (const { name, type } of bound.types) info.addResultColumn(name, type)
          info.setCardinality(table.rows, true)
          info.setBindData(bound)
        },
        initFunction: (info) => {
          info.setMaxThreads(1)
          info.setInitData(new Reading(given(Bound, info.bindData).table))
        },
        mainFunction: (info, chunk) => {
          const { types } = given(Bound, info.bindData)
          const { next } = given(Reading, info.initData)
          chunk.rowCount = next(vectorsOf(chunk, types))
        },
      }),
    )
  }

  add(table: ColumnTable): AddedTable {
    const key = String(++this.#last)
    this.#tables.set(key, table)
    const from = `${FUNCTION}(${key}::BIGINT)`
    const { select } = table
    return {
      from: select === undefined ? from : `(SELECT ${select} FROM ${from})`,
      remove: () => this.#tables.delete(key),
    }
  }
}
