/**
 * A table that is too large for the local disk or DuckDB's memory, in pieces of its order: group after group of its files is sorted and
 * cut into ranges, which are put into the storage; a piece is what all groups have of some neighbouring ranges. Every
 * row is sorted twice, read twice and written once more, with the interval of versions that had it: no piece needs another one.
 */

import { join } from 'node:path'
import type { Content } from '../contract/objects.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { runPath } from '../lake/files/layout.ts'
import { pastOf } from '../lake/tables/past-tables.ts'
import { compactOrder, makeEnums, type SortedRows, sortRows } from '../lake/tables/sort-rows.ts'
import type { Table } from '../lake/tables/tables.ts'
import { stageFile } from '../sink/stage-file.ts'
import { storageOf } from '../storage/open-storage.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { type Work, watchSort } from './compact-work.ts'
import type { IntervalTables } from './find-superseded.ts'
import { allIntervals, intervalsOf } from './interval-rows.ts'
import { type CompactContent, filesAtOnce } from './plan-compaction.ts'
import { type InputFile, readGroup, type VersionedEntry } from './read-group.ts'
import { sampleTable, sortRanges } from './sort-ranges.ts'

/** So many ranges for each piece: companies differ in size, and neighbouring ranges are put together as they fit. */
const RANGES_A_PIECE = 3
const MOST_RANGES = 4096

/** Puts a range of one group into the storage, below the run's folder: it goes with the run. */
const storeRange = async (
  { lake, run, spill }: Work,
  name: string,
  sorted: SortedRows,
  from: number,
  until: number,
): Promise<InputFile> => {
  const storage = storageOf(lake)
  const [staged, path] = [join(spill, 'range.parquet'), `${runPath(run)}/ranges/${name}.parquet`]
  const { bytes, sha256 } = await stageFile(staged, sorted.slice(from, until), { kind: 'parquet' })
  await storage.stage(staged, { path, bytes, sha256 })
  await storage.publish([{ from: staged, to: path }])
  return { path, bytes, sha256, version: 0 }
}

/**
 * @param mostBytes of files that are sorted at once
 * @returns the files of each piece, in the order of their rows
 */
export const cutPieces = async (
  work: Work,
  table: Table,
  { content }: CompactContent,
  intervals: IntervalTables | undefined,
  files: readonly VersionedEntry[],
  mostBytes: number,
): Promise<readonly (readonly InputFile[])[]> => {
  const { session, spill, signal, report } = work
  const groups = cutByBytes(files, mostBytes, filesAtOnce(table))
  const chosen = Math.min(MOST_RANGES, RANGES_A_PIECE * groups.length)
  const cuts = await splitPoints(session, content, table, chosen)
  const ranges: InputFile[][] = Array.from({ length: cuts.length + 1 }, () => [])
  const of = files.reduce((sum, file) => sum + file.rows, 0)
  const path = join(spill, 'group.duckdb')
  let done = 0
  for (const [number, group] of groups.entries()) {
    signal?.throwIfAborted()
    const rows = group.reduce((sum, file) => sum + file.rows, 0)
    const onShare = (share: number): void =>
      report({
        kind: 'progress',
        phase: 'cutting',
        table: table.name,
        rows: Math.round(done + share * rows),
        of,
      })
    onShare(0)
    const sorted = await readGroup(work, table, group, async (read) => {
      const ranges = await sortRanges(work, table, content, read)
      const enums = await makeEnums(session, table, [read.rows])
      return watchSort(session, ranges, onShare, (onRange) =>
        sortRows({
          ...{ session, table: pastOf(table), path, ranges, onRange },
          ...{ rows: allIntervals(intervalsOf(table, read, intervals), intervals), enums },
        }),
      )
    })
    let from = 0
    for (const [range, parts] of ranges.entries()) {
      signal?.throwIfAborted()
      const cut = cuts[range]
      const until = cut === undefined ? sorted.rows : await sorted.find(cut, from)
      if (until > from)
        parts.push(await storeRange(work, `${table.name}-${range}-${number}`, sorted, from, until))
      from = until
    }
    await sorted.close()
    await removeIfThere(path)
    done += rows
  }
  const sized = ranges.map((parts) => ({ parts, bytes: parts.reduce((sum, one) => sum + one.bytes, 0) }))
  // A range has a file of each group.
  return cutByBytes(sized, mostBytes, Math.max(1, Math.floor(filesAtOnce(table) / groups.length)))
    .map((some) => some.flatMap(({ parts }) => parts))
    .filter((parts) => parts.length > 0)
}

const isByCountry = (table: Table): boolean => compactOrder(table)[0] === 'country_code'

/**
 * Conditions that hold for the rows behind each of some cuts, the first cut first.
 *
 * @param ranges how many ranges there are to be
 */
const splitPoints = async (
  session: Session,
  content: Content,
  table: Table,
  ranges: number,
): Promise<readonly string[]> => {
  const order = isByCountry(table) ? 'country, owner' : 'owner'
  const rows = await session.rows(`SELECT country, owner FROM (
  SELECT country, owner, row_number() OVER (ORDER BY ${order}) AS n, count(*) OVER () AS total
  FROM ${sampleTable(content)}
) WHERE n * ${ranges} // total > (n - 1) * ${ranges} // total AND n < total ORDER BY n`)
  return rows.map(({ country, owner }) =>
    isBehind(table, country === null ? null : String(country), String(owner)),
  )
}

const isBehind = (table: Table, country: string | null, owner: string): string => {
  const later = `${table.owner} > ${owner}`
  if (!isByCountry(table)) return later
  // No country comes last.
  if (country === null) return `country_code IS NULL AND ${later}`
  const own = literal(country)
  return `coalesce(country_code > ${own} OR (country_code = ${own} AND ${later}), true)`
}
