/** Which records of a content are superseded, by the ids of its main table, a group of files after the other. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import { ident, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { cutByBytes, type PlaceOf, withFiles } from '../../lake/files/fetch-tables.ts'
import { versionsTable } from '../../lake/tables/past-tables.ts'
import { diskError } from '../../lake/tables/sort-rows.ts'
import { mainTables, type RecordTable, type Table } from '../../lake/tables/tables.ts'
import {
  HIDDEN_SCHEMA,
  makeSuperseded,
  versionFacts,
  versionFilesOf,
  withAllCompanies,
} from '../../lake/views/current-versions.ts'
import { placesSql } from '../../lake/views/intervals.ts'
import { knownVersions } from '../../lake/views/known-versions.ts'
import { sizesOf, type Work, watchStatement } from './compact-work.ts'
import { type CompactContent, filesAtOnce } from './plan-compaction.ts'
import { type GroupRows, inputsOf, readGroup, type VersionedEntry } from './read-group.ts'
import { sampleOwners, sampleTable } from './sort-ranges.ts'

/** Samples the records, by which tables are cut into pieces. */
const sampleRecords = async (
  work: Work,
  content: Content,
  main: Table,
  files: readonly VersionedEntry[],
): Promise<void> => {
  const { session, pieceBytes, signal, report } = work
  const of = sizesOf(files).rows
  await session.run(`CREATE TABLE ${sampleTable(content)} (owner BIGINT, country VARCHAR)`)
  let done = 0
  for (const group of cutByBytes(files, pieceBytes, filesAtOnce(main))) {
    signal?.throwIfAborted()
    const { rows } = sizesOf(group)
    const onShare = (share: number): void =>
      report({
        kind: 'progress',
        phase: 'finding',
        table: content,
        rows: Math.round(done + share * rows),
        of,
      })
    const insert = ({ rows: unversioned }: GroupRows): Promise<void> =>
      session.run(sampleOwners(main, content, unversioned, of))
    await readGroup(work, main, group, (read) => watchStatement(session, onShare, () => insert(read)))
    done += rows
  }
}

/** The table of the versions of records of a content of which any is superseded. */
export interface IntervalTables {
  readonly places: string
  /** Whether of every record of the content some version is superseded. */
  readonly isAll: boolean
  /** Whether a compaction has put some of their versions together before. */
  readonly hasMerged: boolean
}

/** @param placeOf of the lists of superseded versions, and of merged ones */
const makeIntervals = async (
  work: Work,
  main: RecordTable,
  placeOf: PlaceOf,
): Promise<IntervalTables | undefined> => {
  const { session, snapshot } = work
  const known = knownVersions(snapshot, main, placeOf)
  if (known === undefined) return undefined
  const places = `${HIDDEN_SCHEMA}.places_${main.content}`
  await session.run(`CREATE TABLE ${places} AS ${placesSql(known)}`)
  const last = versionFacts(versionFilesOf(snapshot, 'last', main)).map(({ path }) => placeOf(path))
  const [found] =
    await session.rows(`SELECT (SELECT count(DISTINCT ${ident(main.owner ?? '')}) FROM ${readParquet(pathsSql(last))}) AS all_owners,
  (SELECT count(DISTINCT owner) FROM ${places}) AS touched`)
  return { places, isAll: found?.all_owners === found?.touched, hasMerged: known.merged !== undefined }
}

export interface FoundVersions {
  /** `undefined`: of no record any version is superseded. */
  readonly intervals: IntervalTables | undefined
}

/** Finds what is superseded, and over which versions rows are valid. @returns `undefined` where the content has no records */
export const findSuperseded = async (
  work: Work,
  { content }: CompactContent,
): Promise<FoundVersions | undefined> => {
  const { lake, session, snapshot, spill, signal } = work
  const main = mainTables().find((table) => table.content === content)
  const files = main ? inputsOf(snapshot, main) : []
  if (main === undefined) return undefined
  const isEmpty = sizesOf(files).rows === 0
  try {
    if (!isEmpty) await sampleRecords(work, content, main, files)
    const listed = versionFacts(snapshot.versions.filter((file) => file.table === main.name))
    const merged = inputsOf(snapshot, versionsTable(content))
    return await withFiles(
      lake,
      [...listed, ...merged],
      join(spill, 'versions'),
      { signal },
      async (placeOf) => {
        // The last row of a company that is not listed any more stays.
        await session.run(makeSuperseded(withAllCompanies(snapshot), placeOf, main))
        return isEmpty ? undefined : { intervals: await makeIntervals(work, main, placeOf) }
      },
    )
  } catch (error) {
    throw diskError(`Cannot find what is superseded in "${content}"`, error)
  }
}
