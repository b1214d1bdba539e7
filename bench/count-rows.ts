/** Rows that a contender wrote, read from its Parquet files, so that a fast run that lost rows is seen. */

import { DuckDBInstance } from '@duckdb/node-api'
import type { Dataset } from './dataset.ts'

const TABLES = ['companies', 'financials', 'employees'] as const

/** @throws {Error} when a table has another number of rows than the control totals */
export const checkRows = async (directory: string, expected: Dataset['rows']): Promise<void> => {
  const connection = await (await DuckDBInstance.create()).connect()
  for (const table of TABLES) {
    const reader = await connection.runAndReadAll(
      `SELECT count(*)::BIGINT AS rows FROM read_parquet('${directory}/${table}/**/*.parquet', hive_partitioning=false)`,
    )
    const rows = Number(reader.getRows()[0]?.[0])
    if (rows !== expected[table]) {
      throw new Error(`Cannot trust "${directory}": ${table} has ${rows} rows, expected ${expected[table]}`)
    }
  }
  connection.closeSync()
}
