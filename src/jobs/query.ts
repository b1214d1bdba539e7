/** `query`: one question to a lake in SQL, in one call; `openQuery` for many, and for answers of any size. */

import { interruptOn } from '../lake/duckdb/stoppable.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import { type QueryRow, readRows } from '../lake/query/read-rows.ts'
import { readChosenRoot } from '../manifest/snapshots/held.ts'
import { openRoot } from '../manifest/snapshots/open-root.ts'
import type { OpenQueryOptions, QueryOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { OPEN_QUERY, QUERY } from '../options/query.ts'

/**
 * Opens a lake for many questions, read-only: `run(sql)` streams rows chunk by chunk, `notes(sql)` says what its sums add that
 * does not add up, `report()` what was read of a bucket and how, `close()` ends it.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `USAGE`; `run` throws
 *   `QUERY_REFUSED` for all but one SELECT, `QUERY_FAILED`
 * @example
 * import { convert, openQuery } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const questions = await openQuery({ lake: './lake' })
 * try {
 *   const { rows } = await questions.run('SELECT internal_id FROM companies ORDER BY 1')
 *   for await (const chunk of rows) console.log(chunk.length) // 3
 * } finally {
 *   questions.close()
 * }
 */
export const openQuery: (options: OpenQueryOptions) => Promise<LakeQuery> = job(
  'openQuery',
  OPEN_QUERY,
  async (options) => openRoot(await readChosenRoot(options.lake, options), options),
)

/**
 * Asks a lake one question in SQL, read-only: views such as `companies` and `financials` show the current version of each
 * record, `companies_history` and so on all versions. Nothing but the lake can be read.
 *
 * @returns all rows, in memory; integers are numbers (bigint beyond 2^53), decimals the text of their digits, instants
 *   ISO 8601 in UTC. For an answer of any size: `openQuery`, or `exportTables` with `sql`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `QUERY_REFUSED` for all but one SELECT, `QUERY_FAILED`,
 *   `INTERRUPTED`, `USAGE`
 * @example
 * import { convert, query } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const rows = await query({ lake: './lake', sql: 'SELECT country_code, count(*) AS companies FROM companies GROUP BY 1 ORDER BY 1' })
 * for (const { country_code, companies } of rows) console.log(country_code, companies) // NO 1, SE 2
 */
export const query: <Row extends object = QueryRow>(options: QueryOptions) => Promise<readonly Row[]> = job(
  'query',
  QUERY,
  // The rows are of the type that the caller says.
  async ({ sql, signal, onNote, ...opening }: QueryOptions): Promise<readonly never[]> => {
    const opened = await openQuery(opening)
    const ended = interruptOn(opened, signal)
    try {
      const started = performance.now()
      const rows = await readRows(await opened.run(sql))
      if (onNote) for (const one of await opened.notes(sql, performance.now() - started)) onNote(one)
      return rows as readonly never[]
    } finally {
      ended()
      opened.close()
    }
  },
  'The query',
)
