/**
 * Chooses the records of a part that are loaded. A record that is left out counts as filtered: none of its rows is written, and
 * nothing of it is kept elsewhere.
 */

import { type CheckedPart, lineOf, trimLine } from '../check/check-block.ts'
import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Engine } from '../lake/duckdb/engine.ts'
import { isFailedValue } from '../lake/projection/computed-columns.ts'
import { companiesTable, relationsTable } from './record-tables.ts'
import { oddValuesOf, SpareFields } from './row-table.ts'

export interface PartToFilter {
  readonly engine: Engine
  readonly content: Content
  readonly part: CheckedPart
  /** The block's bytes. */
  readonly bytes: Buffer
}

/**
 * The numbers of the records that stay, ascending. The same part has to give the same ones each time: a resumed run does
 * not ask again for what is finished.
 */
export type RecordFilter = (part: PartToFilter) => Promise<readonly number[]>

/** Keeps the records whose InternalId passes. */
export const filterById =
  (passes: (id: bigint, content: Content) => boolean): RecordFilter =>
  async ({ part: { rows, members }, content }) =>
    members.filter((record) => passes(rows.records.columns.id[record]!, content))

/** Keeps the records for which a condition holds on the columns of the table of their content; all where there is none. */
export const filterBySql = (conditionOf: (content: Content) => string | undefined): RecordFilter => {
  const spare = new SpareFields()
  return async ({ engine, content, part, bytes }) => {
    const condition = conditionOf(content)
    if (condition === undefined) return part.members
    const odd = await oddValuesOf(engine, part.rows, bytes)
    const table = content === 'companies' ? companiesTable : relationsTable
    const { from, remove } = await engine.addTable(table({ part, bytes, odd, spare }))
    const session = await engine.connect()
    try {
      const kept = new Set<unknown>()
      for await (const [ids = []] of session.streamColumns(
        `SELECT internal_id FROM ${from} WHERE ${condition}`,
      ))
        for (const id of ids) kept.add(id)
      return part.members.filter((record) => kept.has(part.rows.records.columns.id[record]))
    } catch (error) {
      if (!isFailedValue(error)) throw error
      // DuckDB's message may quote the data.
      throw new ToolkitError(
        'PROJECTION_INVALID',
        `Cannot apply the condition on ${content}: it fails on a value; use functions such as TRY_CAST`,
        {},
        error,
      )
    } finally {
      session.close()
      remove()
    }
  }
}

/** Whether a record, as the service gives it, is loaded. */
export type KeepsRecord = (record: Readonly<Record<string, unknown>>, content: Content) => boolean

/** Keeps the records that a function of a program lets pass. */
export const filterByFunction =
  (keeps: KeepsRecord): RecordFilter =>
  async ({ content, part, bytes }) =>
    part.members.filter((record) => {
      const [from, next] = lineOf(part, record)
      return keeps(JSON.parse(bytes.toString('utf8', ...trimLine(bytes, from, next))), content)
    })
