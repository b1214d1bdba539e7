/**
 * Statements on their way to a database, and rows on their way into its tables. Short statements share a text; rows go some thousands at
 * a time, as all of them may not fit into memory at once.
 */

import type { Row, Session } from '../../lake/duckdb/engine.ts'
import { fitsBehind, LONGEST_TEXT, literal } from '../../lake/duckdb/sql.ts'
import { rowsFrom } from './catalog-tables.ts'

const ROWS_AT_ONCE = 5_000

/** A table that rows are put into. */
export interface RowTarget {
  /** Types of the fields of a row, in SQL. */
  readonly types: Readonly<Record<string, string>>
  /** The statement that takes the rows. @param rows SQL that gives them */
  readonly insert: (rows: string) => string
}

export class StatementQueue {
  readonly #session: Session
  readonly #pending = new Map<RowTarget, object[]>()
  #text = ''

  constructor(session: Session) {
    this.#session = session
  }

  /** Runs a statement behind those before it, at the latest when rows are asked for. */
  async run(sql: string): Promise<void> {
    if (!fitsBehind(this.#text, sql)) await this.#send()
    this.#text += `${sql};\n`
  }

  /** Puts rows into a table, at the latest when rows are asked for. */
  async add(target: RowTarget, rows: Iterable<object>): Promise<void> {
    const pending = this.#pending.get(target) ?? []
    this.#pending.set(target, pending)
    for (const row of rows) {
      pending.push(row)
      if (pending.length === ROWS_AT_ONCE) await this.#insert(target, pending)
    }
  }

  /** Puts all rows into their tables that were added before. */
  async insertPending(): Promise<void> {
    for (const [target, rows] of this.#pending) await this.#insert(target, rows)
  }

  /** Runs all that is not run yet. */
  async flush(): Promise<void> {
    await this.insertPending()
    await this.#send()
  }

  /** The rows of a query, behind all that is not run yet. */
  async rows(sql: string): Promise<readonly Row[]> {
    await this.insertPending()
    if (!fitsBehind(this.#text, sql)) await this.#send()
    const text = this.#text + sql
    this.#text = ''
    return this.#session.rows(text)
  }

  /** Writes the rows of a query to a file of Parquet. */
  async copy(sql: string, path: string): Promise<void> {
    await this.flush()
    await this.#session.copy(sql, path, { kind: 'parquet' })
  }

  async #send(): Promise<void> {
    const text = this.#text
    this.#text = ''
    if (text !== '') await this.#session.run(text)
  }

  async #insert({ types, insert }: RowTarget, rows: object[]): Promise<void> {
    if (rows.length === 0) return
    const json = JSON.stringify(rows)
    rows.length = 0
    if (json.length <= LONGEST_TEXT) return this.run(insert(`(${rowsFrom(types, literal(json))})`))
    await this.#send()
    await this.#session.run(insert(`(${rowsFrom(types, '$1::VARCHAR')})`), [json])
  }
}
