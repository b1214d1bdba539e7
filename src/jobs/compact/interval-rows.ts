/**
 * The rows of a table, each once over the interval of versions that had exactly it. Records of which nothing is superseded have one
 * version, and their rows cost nothing more; of all others equal neighbours are put together first, in a database file.
 */

import { join } from 'node:path'
import { memoryError } from '../../core/errors.ts'
import { attachDatabase } from '../../lake/duckdb/database-files.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { FIRST_VERSION, pastOf, withFirstVersion } from '../../lake/tables/past-tables.ts'
import { diskError, rowGroupRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { intervalRows, withoutRepeats } from '../../lake/views/intervals.ts'
import { discard } from '../../support/durable-files.ts'
import type { Work } from './compact-work.ts'
import type { IntervalTables } from './find-superseded.ts'
import type { HistoryLimit } from './history-limit.ts'
import { type GroupRows, inputsOf } from './read-group.ts'

/** SQL of rows with `version` and `until`. */
export interface Intervals {
  /** Of records of which nothing is superseded: without an end those of the last version. */
  readonly settled: string
  /** Of the others, where there are some: neighbours may be equal. */
  readonly others: string | undefined
}

const ownersOf = ({ places }: IntervalTables): string => `(SELECT owner FROM ${places} WHERE is_last)`

/** Splits rows by whether anything of their record is superseded. */
const split = (
  { owner = '' }: Table,
  rows: string,
  tables: IntervalTables,
): { readonly settled: string; readonly others: string } => {
  const of = `FROM (${rows}) AS r`
  const same = `JOIN ${ownersOf(tables)} AS s ON s.owner = r.${ident(owner)}`
  return { settled: `SELECT r.* ${of} ANTI ${same}`, others: `SELECT r.* ${of} SEMI ${same}` }
}

/** The rows of files of the lake. */
export const intervalsOf = (
  table: Table,
  { held }: Pick<GroupRows, 'held'>,
  tables: IntervalTables | undefined,
): Intervals => {
  const settled = (rows: string): string => intervalRows(table, rows)
  if (tables === undefined) return { settled: settled(held), others: undefined }
  const parts = split(table, held, tables)
  return {
    settled: settled(parts.settled),
    others: intervalRows(table, parts.others, tables),
  }
}

/** The same of pieces, whose rows have their intervals. */
export const intervalsOfPiece = (
  table: Table,
  { rows }: Pick<GroupRows, 'rows'>,
  tables: IntervalTables | undefined,
): Intervals => (tables === undefined ? { settled: rows, others: undefined } : split(table, rows, tables))

/** All of them as one, as a piece has them. */
export const allIntervals = ({ settled, others }: Intervals): string =>
  others === undefined ? settled : `${settled}\nUNION ALL\n${others}`

/** Rows of a table as they are written, in SQL. */
export interface WrittenRows {
  /** Of `withFirstVersion`: what each record had in its last version. */
  readonly current: string
  /** Of `pastOf`; absent where there are none. */
  readonly past: string | undefined
}

const JOINED = 'compact_joined'

interface WrittenRequest {
  readonly intervals: IntervalTables | undefined
  readonly limit: HistoryLimit
  /** Conditions on the rows' owner, of which each owner is in one. */
  readonly ranges: readonly string[]
}

/** Puts equal neighbours together for as long as `use` runs. */
export const withWrittenRows = async <T>(
  { session, spill, snapshot, signal }: Work,
  table: Table,
  { settled, others }: Intervals,
  { intervals, limit: { fromVersion }, ranges }: WrittenRequest,
  use: (rows: WrittenRows) => Promise<T>,
): Promise<T> => {
  const [current, past] = [withFirstVersion(table), pastOf(table)].map(({ columns }) =>
    columns.map(({ name }) => ident(name)).join(', '),
  )
  const named = `SELECT *, version AS ${FIRST_VERSION.name}`
  const isKept = fromVersion === 0 ? '' : ` AND greatest(version, until) >= ${fromVersion}`
  const keepsPast = Number.isFinite(fromVersion)
  const hasPast = keepsPast && inputsOf(snapshot, pastOf(table)).length > 0
  const ofSettled = {
    current: `SELECT ${current} FROM (${named} FROM (${settled}) WHERE until IS NULL)`,
    past: hasPast ? `SELECT ${past} FROM (${settled}) WHERE until IS NOT NULL${isKept}` : undefined,
  }
  if (others === undefined || intervals === undefined) return use(ofSettled)
  const path = join(spill, 'joined.duckdb')
  const groups = rowGroupRows(table.columns)
  const attached = await attachDatabase(session, path, JOINED, [
    'RECOVERY_MODE no_wal_writes',
    ...(groups === undefined ? [] : [`ROW_GROUP_SIZE ${groups}`]),
  ])
  try {
    for (const [at, range] of ranges.entries()) {
      signal?.throwIfAborted()
      const rows = withoutRepeats(table, `SELECT * FROM (${others}) WHERE ${range}`, intervals.places)
      await session.run(
        at === 0 ? `CREATE TABLE ${JOINED}.joined AS ${rows}` : `INSERT INTO ${JOINED}.joined ${rows}`,
      )
      await session.releaseMemory()
    }
    return await use({
      current: `${ofSettled.current}\nUNION ALL\nSELECT ${current} FROM (${named} FROM ${JOINED}.joined WHERE is_last)`,
      past: keepsPast
        ? [
            ...(ofSettled.past === undefined ? [] : [ofSettled.past]),
            `SELECT ${past} FROM ${JOINED}.joined WHERE NOT is_last${isKept}`,
          ].join('\nUNION ALL\n')
        : undefined,
    })
  } catch (error) {
    const action = `Cannot put rows of table "${table.name}" together`
    throw memoryError(action, error) ?? diskError(action, error)
  } finally {
    await attached.drop().catch(() => undefined)
    await discard(path)
  }
}
