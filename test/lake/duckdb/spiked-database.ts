/** Database files as somebody else may make them: with what DuckDB runs when a statement reads a table or calls a function. */

import { existsSync } from 'node:fs'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'

export interface Spiked {
  readonly file: string
  /** A table of the file, which a view takes the place of. */
  readonly table: string
  /** A file outside, which the view writes when it is read. */
  readonly trace: string
}

/** Changes a database file with statements. */
export const changeDatabase = async (file: string, ...statements: readonly string[]): Promise<void> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(file)} AS spiked`)
    await session.run('USE spiked')
    for (const sql of statements) await session.run(sql)
    await session.run('USE memory')
    await session.run('DETACH spiked')
  } finally {
    engine.close()
  }
}

const effect = (trace: string): string =>
  `enable_profiling(save_location := ${literal(trace)}, format := 'json')`

/** Statements that put a view in place of a table. */
export const viewInPlace = ({ table, trace }: Pick<Spiked, 'table' | 'trace'>): readonly string[] => [
  `ALTER TABLE "${table}" RENAME TO moved_away`,
  `CREATE VIEW "${table}" AS SELECT moved_away.* FROM moved_away, (SELECT 1 AS one, * FROM ${effect(trace)}) AS p`,
]

/** A statement that puts a macro in place of a function of DuckDB. */
export const macroInPlace = (name: string, trace: string): string =>
  `CREATE MACRO ${name}(a) AS (SELECT 1 FROM ${effect(trace)})`

export const hasTrace = (trace: string): boolean => existsSync(trace)
