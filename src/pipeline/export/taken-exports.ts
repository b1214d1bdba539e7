/** What an export writes of the tables, as it is declared: rows and columns left out, hidden, computed. */

import { ToolkitError } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import { asExpression, checkExpressions, type Expression } from '../../lake/take/check-sql.ts'
import { type CompiledTake, compileTake } from '../../lake/take/compile-take.ts'
import { takenRows } from '../../lake/take/taken-rows.ts'
import type { Export, WhatToExport } from './plan-exports.ts'

export interface TakenExports {
  readonly exports: readonly Export[]
  readonly take: CompiledTake | undefined
}

interface Computed extends Expression {
  readonly column: string
}

/** @throws {ToolkitError} TAKE_WRONG */
const computedOf = (compute: Readonly<Record<string, string>>): readonly Computed[] =>
  Object.entries(compute).map(([name, sql]) => {
    const [, table = '', column = ''] = /^([^.]+)\.(\w+)$/.exec(name) ?? []
    const found = TABLES.find((one) => one.name === table)
    const wrong = (why: string): ToolkitError =>
      new ToolkitError('TAKE_WRONG', `Cannot compute "${name}": ${why}`)
    if (found === undefined) throw wrong('expected table.column, such as companies.is_large')
    if (found.columns.some((one) => one.name === column)) throw wrong(`"${table}" has such a column`)
    return { what: `the computed column "${name}"`, table, column, sql, isCondition: false }
  })

/** The columns that tell versions apart. */
const VERSION = ['version']

/** @throws {ToolkitError} TAKE_WRONG, HASH_KEY_WRONG, USAGE where nothing is left to write */
export const takenExports = async (
  exports: readonly Export[],
  { take = {}, hashKey, compute = {}, history = false }: WhatToExport,
): Promise<TakenExports> => {
  const compiled = await compileTake(take, hashKey)
  const computed = computedOf(compute)
  await checkExpressions(computed)
  if (compiled === undefined && computed.length === 0) return { exports, take: undefined }
  const taken = exports.flatMap((one): Export[] => {
    const table = TABLES.find(({ name }) => name === one.table)
    if (table === undefined) return [one]
    if (compiled?.takesTable(table.name) === false) return []
    const own = computed.filter((expression) => expression.table === table.name)
    const records = `FROM ${ident(history ? `${table.content}_history` : (table.content ?? table.name))}`
    // Beside the others, of which some are left out: they are computed of the rows as the lake has them.
    const more = own.map(({ sql, column }) => `, ${asExpression(sql)} AS ${ident(column)}`).join('')
    const all = more === '' ? one.sql : `SELECT *${more} FROM (${one.sql}) AS ${ident(table.name)}`
    const asked = { leftOut: 'absent', version: history ? VERSION : [] } as const
    return [{ ...one, sql: compiled ? takenRows(compiled, table, all, records, asked) : all }]
  })
  if (taken.length > 0) return { exports: taken, take: compiled }
  throw new ToolkitError('USAGE', 'Cannot export: every table that was asked for is left out')
}
