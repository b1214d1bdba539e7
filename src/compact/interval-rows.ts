/**
 * The rows of a table, each once over the interval of versions that had exactly it. Records of which nothing is superseded have one
 * version, and their rows cost nothing more; of all others equal neighbours are put together first, in a database file.
 */

import { join } from 'node:path'
import { memoryError } from '../core/errors.ts'
import { attachDatabase } from '../lake/duckdb/database-files.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { FIRST_VERSION, pastOf, withFirstVersion } from '../lake/tables/past-tables.ts'
import { diskError, type Enums, rowGroupRows, withEnums } from '../lake/tables/sort-rows.ts'
import type { Table } from '../lake/tables/tables.ts'
import { compactedRows, loadedRows, settledRows, versionedRows } from '../lake/views/intervals.ts'
import { joinRepeats } from '../lake/views/join-repeats.ts'
import { removeIfThere } from '../support/durable-files.ts'
import type { Work } from './compact-work.ts'
import type { IntervalTables } from './find-superseded.ts'
import type { HistoryLimit } from './history-limit.ts'
import { type GroupRows, inputsOf } from './read-group.ts'

/** SQL of rows with `version` and `until`. */
export interface Intervals {
  /** Records of which nothing is superseded: rows without an end are those of the last version. */
  readonly settled: string
  /** The others, where there are some: by places, and neighbours may be equal. @param places of all of them, or of some */
  readonly others: ((places: string) => string) | undefined
}

/** Splits rows by whether anything of their record is superseded. */
const isTouched = (join: 'ANTI' | 'SEMI', { owner = '' }: Table, rows: string, places: string): string =>
  `SELECT r.* FROM (${rows}) AS r ${join} JOIN (SELECT DISTINCT owner FROM ${places}) AS s ON s.owner = r.${ident(owner)}`

/** The rows of files of the lake. */
export const intervalsOf = (
  table: Table,
  { held }: Pick<GroupRows, 'held'>,
  tables: IntervalTables | undefined,
): Intervals => {
  if (tables === undefined) return { settled: settledRows(table, held), others: undefined }
  const { hasMerged } = tables
  return {
    settled: settledRows(
      table,
      tables.isAll ? `SELECT * FROM (${held}) WHERE false` : isTouched('ANTI', table, held, tables.places),
    ),
    others: (places) =>
      [loadedRows(table, held, places), ...(hasMerged ? [compactedRows(table, held, places)] : [])].join(
        '\nUNION ALL\n',
      ),
  }
}

/** The same of pieces, whose rows have their intervals. */
export const intervalsOfPiece = (
  table: Table,
  { rows }: Pick<GroupRows, 'rows'>,
  tables: IntervalTables | undefined,
): Intervals =>
  tables === undefined
    ? { settled: rows, others: undefined }
    : {
        settled: isTouched('ANTI', table, rows, tables.places),
        others: (places) => isTouched('SEMI', table, rows, places),
      }

/** The intervals in one statement, as a piece has them. */
export const allIntervals = ({ settled, others }: Intervals, tables: IntervalTables | undefined): string =>
  others === undefined || tables === undefined ? settled : `${settled}\nUNION ALL\n${others(tables.places)}`

/** Rows of a table as they are written, in SQL. */
export interface WrittenRows {
  /** Columns of `withFirstVersion`: what each record had in its last version. */
  readonly current: string
  /** Columns of `pastOf`; absent where there are none. */
  readonly past: string | undefined
}

const JOINED = 'compact_joined'
const JOINED_ROWS = `${JOINED}.joined`

interface WrittenRequest {
  readonly intervals: IntervalTables | undefined
  readonly limit: HistoryLimit
  /** Conditions on the rows' owner, of which each owner is in one. */
  readonly ranges: readonly string[]
  readonly enums: Enums
}

/** Puts equal neighbours together for as long as `use` runs. */
export const withWrittenRows = async <T>(
  { session, spill, snapshot, signal }: Work,
  table: Table,
  { settled, others }: Intervals,
  { intervals, limit: { fromVersion }, ranges, enums }: WrittenRequest,
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
      const rows = (places: string): string =>
        `SELECT ${withEnums(pastOf(table), enums)} FROM (${others(places)}) WHERE ${range}`
      await joinRepeats(session, { name: JOINED_ROWS, isThere: at > 0 }, table, {
        rows,
        places: intervals.places,
      })
      await session.releaseMemory()
    }
    const joined = versionedRows(table, `FROM ${JOINED_ROWS}`, intervals.places)
    return await use({
      current: `${ofSettled.current}\nUNION ALL\nSELECT ${current} FROM (${named} FROM (${joined}) WHERE is_last)`,
      past: keepsPast
        ? [
            ...(ofSettled.past === undefined ? [] : [ofSettled.past]),
            `SELECT ${past} FROM (${joined}) WHERE NOT is_last${isKept}`,
          ].join('\nUNION ALL\n')
        : undefined,
    })
  } catch (error) {
    const action = `Cannot put rows of table "${table.name}" together`
    throw memoryError(action, error) ?? diskError(action, error)
  } finally {
    await attached.drop().catch(() => undefined)
    await removeIfThere(path)
  }
}
