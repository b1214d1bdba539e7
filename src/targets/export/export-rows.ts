/**
 * The rows that an export writes: as they are declared (rows and columns left out, hidden, computed), and in bounded
 * memory.
 */

import { ToolkitError } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import {
  type CompiledProjection,
  compileProjection,
  takenRows,
} from '../../lake/projection/compile-projection.ts'
import {
  type ComputedColumn,
  computedColumns,
  withComputed,
  withoutComputed,
} from '../../lake/projection/computed-columns.ts'
import type { KeptTake } from '../../lake/projection/projection.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import type { Export, WhatToExport } from './plan-exports.ts'

export interface TakenExports {
  readonly exports: readonly Export[]
  readonly take: CompiledProjection | undefined
  readonly declared: KeptTake
  /** Whether rows are joined with others: of all versions with what follows each. */
  readonly isJoined: boolean
}

/** The columns that tell versions apart. */
const VERSION = ['version']

const without = (columns: readonly string[], rows: string): string =>
  columns.length === 0 ? rows : `SELECT * EXCLUDE (${columns.map(ident).join(', ')}) FROM (${rows})`

/**
 * Columns are computed of the rows as they are taken, those of the lake too: a hidden value is in none of them.
 *
 * @param ofLake further columns that the lake's tables have
 * @throws {ToolkitError} PROJECTION_INVALID, HASH_KEY_WRONG, USAGE where nothing is left to write
 */
export const takenExports = async (
  exports: readonly Export[],
  ofLake: readonly ComputedColumn[],
  { take = {}, hashKey, compute = {}, history = false, names = false }: WhatToExport,
): Promise<TakenExports> => {
  const asked = { ...take, compute: { ...take.compute, ...compute } }
  const compiled = await compileProjection(asked, hashKey)
  const own = computedColumns(asked.compute)
  if (compiled === undefined && own.length === 0)
    return { exports, take: undefined, declared: {}, isJoined: names || history }
  const kept = ofLake.filter((one) => !own.some(({ what }) => what === one.what))
  let isJoined = history
  const taken = exports.flatMap((one): Export[] => {
    const table = TABLES.find(({ name }) => name === one.table)
    if (table === undefined) return [one]
    if (compiled?.takesTable(table.name) === false) return []
    isJoined ||= table.content !== undefined && compiled?.condition(table.content) !== undefined
    const records = `FROM ${ident(history ? `${table.content}_history` : (table.content ?? table.name))}`
    const rows = withoutComputed(ofLake, table.name, one.sql)
    const hidden = compiled ? takenRows(compiled, table, rows, records, history ? VERSION : []) : rows
    const more = withComputed(own, table.name, withComputed(kept, table.name, hidden), 'fail')
    return [{ ...one, sql: without(compiled?.excluded(table.name) ?? [], more) }]
  })
  if (taken.length > 0)
    return { exports: taken, take: compiled, declared: compiled?.declared ?? asked, isJoined }
  throw new ToolkitError('USAGE', 'Cannot export: every table that was asked for is left out')
}

/** A statement that is such a view as it stands, and nothing else. */
const WHOLE_VIEW = /^\s*(?:SELECT\s+\*\s+)?FROM\s+(financials_wide)\s*;?\s*$/i

/** Companies of a range: their groups take about 150 MB. */
const COMPANIES = 5_000
/** Ranges at most, beyond which they grow: what DuckDB takes to plan them grows with their square, to a minute at 200. */
const RANGES = 40

/** The first company of each range but the first one. */
const firstCompanies = async (query: LakeQuery, companies: number): Promise<readonly unknown[]> => {
  const { rows } = await query.run(`SELECT internal_id FROM (
  SELECT internal_id, row_number() OVER (ORDER BY internal_id) - 1 AS place, count(*) OVER () AS n FROM companies
) WHERE place > 0 AND place % greatest(${companies}, ceil(n / ${RANGES})::BIGINT) = 0 ORDER BY internal_id`)
  const found: unknown[] = []
  for await (const chunk of rows) for (const [id] of chunk) found.push(id)
  return found
}

/** The same rows as the statement gives, in bounded memory; the statement itself where it is none of these. */
export const byRanges = async (query: LakeQuery, sql: string, companies = COMPANIES): Promise<string> => {
  const view = WHOLE_VIEW.exec(sql)?.[1]
  if (view === undefined) return sql
  const bounds = await firstCompanies(query, companies)
  const ranges = [...bounds, undefined].map((until, at) => {
    const [from, conditions] = [bounds[at - 1], [] as string[]]
    if (from !== undefined) conditions.push(`internal_id >= ${from}`)
    if (until !== undefined) conditions.push(`internal_id < ${until}`)
    return `SELECT * FROM ${view}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`
  })
  return ranges.join('\nUNION ALL ')
}
