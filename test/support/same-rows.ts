/** Comparisons of rows that say something: of nothing with nothing they fail. */

import { expect } from 'vitest'
import type { Session } from '../../src/lake/duckdb/engine.ts'

/** Rows that are compared with others, one at least. @param text what they are */
export const someRows = <Row>(rows: readonly Row[], text: string): readonly Row[] => {
  expect(rows.length, `rows of ${text}`).toBeGreaterThan(0)
  return rows
}

/** Rows of one relation that the other lacks, the other way round, as often as they stand there; and rows of the first. */
export const compareRows = async (
  session: Session,
  one: string,
  other: string,
): Promise<{ readonly missing: number; readonly more: number; readonly rows: number }> => {
  const hashed = (sql: string): string => `(SELECT [count(*), sum(hash(r)::HUGEINT)] FROM (${sql}) AS r)`
  const [sums] = await session.rows(
    `SELECT here = there AS same, here[1] AS rows FROM (SELECT ${hashed(one)} AS here, ${hashed(other)} AS there)`,
  )
  // Most rows are the same, and hashed once: which are not costs several times as much.
  if (sums?.same === true) return { missing: 0, more: 0, rows: Number(sums.rows) }
  const [row] = await session.rows(`SELECT
  (SELECT count(*) FROM (SELECT * FROM (${one}) EXCEPT ALL SELECT * FROM (${other}))) AS missing,
  (SELECT count(*) FROM (SELECT * FROM (${other}) EXCEPT ALL SELECT * FROM (${one}))) AS more,
  (SELECT count(*) FROM (${one})) AS rows`)
  return { missing: Number(row?.missing), more: Number(row?.more), rows: Number(row?.rows) }
}

/** Expects the same rows on both sides, as often as they stand there, and some at all. */
export const expectSameRows = async (
  session: Session,
  one: string,
  other: string,
  text: string,
): Promise<void> => {
  const { rows, ...differences } = await compareRows(session, one, other)
  expect(differences, text).toEqual({ missing: 0, more: 0 })
  expect(rows, `rows of ${text}`).toBeGreaterThan(0)
}
