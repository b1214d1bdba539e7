/** Rows on their way into tables of a database, some thousands at a time: so many may come that they do not fit into memory at once. */

import type { Session } from '../../lake/duckdb/engine.ts'
import { rowsFrom } from './catalog-tables.ts'

const ROWS_AT_ONCE = 5_000

/** A table that rows are put into. */
export interface RowTarget {
  /** Types of the fields of a row, in SQL. */
  readonly types: Readonly<Record<string, string>>
  /** The statement that takes the rows. @param rows SQL that gives them */
  readonly insert: (rows: string) => string
}

export class PendingRows {
  readonly #session: Session
  readonly #pending = new Map<RowTarget, object[]>()

  constructor(session: Session) {
    this.#session = session
  }

  async add(target: RowTarget, rows: Iterable<object>): Promise<void> {
    const pending = this.#pending.get(target) ?? []
    this.#pending.set(target, pending)
    for (const row of rows) {
      pending.push(row)
      if (pending.length === ROWS_AT_ONCE) await this.#insert(target, pending)
    }
  }

  async flush(): Promise<void> {
    for (const [target, rows] of this.#pending) await this.#insert(target, rows)
  }

  async #insert({ types, insert }: RowTarget, rows: object[]): Promise<void> {
    if (rows.length === 0) return
    // As a value and not in the text: DuckDB takes thirty times the length of a text that it parses.
    await this.#session.run(insert(`(${rowsFrom(types, '$1::VARCHAR')})`), [JSON.stringify(rows)])
    rows.length = 0
  }
}
