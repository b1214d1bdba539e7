/** What an export writes of the tables, as it is declared: rows and columns left out, hidden, computed. */

import { ToolkitError } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { type CompiledTake, compileTake, takenRows } from '../../lake/projection/compile-projection.ts'
import {
  type ComputedColumn,
  computedColumns,
  withComputed,
  withoutComputed,
} from '../../lake/projection/computed-columns.ts'
import type { KeptTake } from '../../lake/projection/projection.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import type { Export, WhatToExport } from './plan-exports.ts'

export interface TakenExports {
  readonly exports: readonly Export[]
  readonly take: CompiledTake | undefined
  readonly declared: KeptTake
}

/** The columns that tell versions apart. */
const VERSION = ['version']

const without = (columns: readonly string[], rows: string): string =>
  columns.length === 0 ? rows : `SELECT * EXCLUDE (${columns.map(ident).join(', ')}) FROM (${rows})`

/**
 * Columns are computed of the rows as they are taken, those of the lake too: a hidden value is in none of them.
 *
 * @param ofLake further columns that the lake's tables have
 * @throws {ToolkitError} TAKE_WRONG, HASH_KEY_WRONG, USAGE where nothing is left to write
 */
export const takenExports = async (
  exports: readonly Export[],
  ofLake: readonly ComputedColumn[],
  { take = {}, hashKey, compute = {}, history = false }: WhatToExport,
): Promise<TakenExports> => {
  const asked = { ...take, compute: { ...take.compute, ...compute } }
  const compiled = await compileTake(asked, hashKey)
  const own = computedColumns(asked.compute)
  if (compiled === undefined && own.length === 0) return { exports, take: undefined, declared: {} }
  const kept = ofLake.filter((one) => !own.some(({ what }) => what === one.what))
  const taken = exports.flatMap((one): Export[] => {
    const table = TABLES.find(({ name }) => name === one.table)
    if (table === undefined) return [one]
    if (compiled?.takesTable(table.name) === false) return []
    const records = `FROM ${ident(history ? `${table.content}_history` : (table.content ?? table.name))}`
    const rows = withoutComputed(ofLake, table.name, one.sql)
    const hidden = compiled ? takenRows(compiled, table, rows, records, history ? VERSION : []) : rows
    const more = withComputed(own, table.name, withComputed(kept, table.name, hidden), 'fail')
    return [{ ...one, sql: without(compiled?.leftOut(table.name) ?? [], more) }]
  })
  if (taken.length > 0) return { exports: taken, take: compiled, declared: compiled?.declared ?? asked }
  throw new ToolkitError('USAGE', 'Cannot export: every table that was asked for is left out')
}
