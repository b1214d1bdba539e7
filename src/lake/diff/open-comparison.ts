/**
 * Compares two snapshots of a lake: records new, changed and gone, and restated figures. Reads only the
 * records whose current version is in another partition, and of them only values: versions that are alike are equal.
 */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError, writeError } from '../../core/errors.ts'
import { newSpillFolder } from '../duckdb/database-files.ts'
import { Engine, type Session } from '../duckdb/engine.ts'
import { interruptOn } from '../duckdb/stoppable.ts'
import type { QueryResult } from '../query/lake-query.ts'
import { compareSnapshots, type SnapshotsToCompare } from './compare-snapshots.ts'
import { allRows, COLUMN_ROWS, RECORD_ROWS, RESTATEMENT_ROWS } from './diff-sql.ts'

interface ComparisonOptions extends SnapshotsToCompare {
  readonly threads?: number | undefined
}

interface RecordCounts {
  readonly new: number
  readonly changed: number
  /** Records that the older snapshot shows and the newer one does not: companies that left the service, too. */
  readonly gone: number
}

/** How much differs between two snapshots. */
export interface DiffSummary {
  readonly from: { readonly snapshot: number; readonly time: string }
  readonly to: { readonly snapshot: number; readonly time: string }
  /** `currencyChanged`: of those changed, the ones whose amounts all came in another currency. */
  readonly companies: RecordCounts & { readonly currencyChanged: number }
  readonly relations: RecordCounts
  readonly restatements: {
    readonly changed: number
    readonly added: number
    readonly withdrawn: number
    /** How many companies have one. */
    readonly companies: number
  }
}

/**
 * `records` has companies and relations, in columns of its own as `restatements` and `columns`, which has what changed in the
 * records themselves; `all` has one set of columns.
 */
export type DiffRows = 'records' | 'columns' | 'restatements' | 'all' | 'all-records' | 'all-restatements'

const ROWS: Readonly<Record<DiffRows, string>> = {
  records: RECORD_ROWS,
  columns: COLUMN_ROWS,
  restatements: RESTATEMENT_ROWS,
  all: allRows(`'company', 'relations', 'restatement'`),
  'all-records': allRows(`'company', 'relations'`),
  'all-restatements': allRows(`'restatement'`),
}

/** A comparison that is open: its differences are read from it. */
export interface LakeDiff {
  readonly summary: DiffSummary
  /** Rows in a stable order. One result at a time. */
  rows(which: DiffRows): Promise<QueryResult>
  close(): void
}

const summarize = async (session: Session, { from, to }: ComparisonOptions): Promise<DiffSummary> => {
  const records = (content: Content): string => `(SELECT {
    'new': count(*) FILTER (change = 'new'), 'changed': count(*) FILTER (change = 'changed'),
    'gone': count(*) FILTER (change = 'gone')} FROM changes_${content})`
  const [row = {}] = await session.rows(`SELECT to_json({
    'companies': ${records('companies')}, 'relations': ${records('relations')},
    'currencyChanged': (SELECT count(*) FROM recurrencied),
    'restatements': (SELECT {'changed': count(*) FILTER (change = 'changed'),
      'added': count(*) FILTER (change = 'added'), 'withdrawn': count(*) FILTER (change = 'withdrawn'),
      'companies': count(DISTINCT internal_id)} FROM restatements)})::VARCHAR AS summary`)
  const counts: Pick<DiffSummary, 'relations' | 'restatements'> & {
    readonly companies: RecordCounts
    readonly currencyChanged: number
  } = JSON.parse(String(row.summary))
  return {
    from: { snapshot: from.snapshot, time: from.time },
    to: { snapshot: to.snapshot, time: to.time },
    companies: { ...counts.companies, currencyChanged: counts.currencyChanged },
    relations: counts.relations,
    restatements: counts.restatements,
  }
}

/** A full disk and a limit of open files keep their own codes; whatever else the engine says is in its message. */
const diffFailed = (error: unknown): ToolkitError => {
  const failed = writeError('Cannot compare the snapshots', error)
  if (error instanceof ToolkitError || failed.code !== 'WRITE_FAILED') return failed
  return new ToolkitError('QUERY_FAILED', failed.message, {}, error)
}

/**
 * Compares two snapshots of a lake, in either order.
 *
 * @throws {ToolkitError} QUERY_FAILED, DISK_FULL; INTERRUPTED by the signal; LAKE_DAMAGED and a storage's errors where files must be fetched
 */
export const openComparison = async (options: ComparisonOptions): Promise<LakeDiff> => {
  const { memoryBytes, threads } = options
  const spill = await newSpillFolder()
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    spillFolder: spill.path,
  })
  const session = await engine.connect()
  const { signal } = options
  const diffEnded = interruptOn(session, signal)
  const close = (): void => {
    diffEnded()
    session.close()
    engine.close()
    spill.remove()
  }
  try {
    await compareSnapshots(session, options)
    const summary = await summarize(session, options)
    return {
      summary,
      rows: (which) => session.streamRows(ROWS[which]),
      close,
    }
  } catch (error) {
    close()
    if (signal?.aborted) throw new ToolkitError('INTERRUPTED', 'Interrupted', {}, error)
    throw diffFailed(error)
  }
}
