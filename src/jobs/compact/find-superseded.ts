/** Which records of a content are superseded, by the ids of its main table, a group of files after the other. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
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
import { cutsSql, endsSql, placesSql } from '../../lake/views/intervals.ts'
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

/** The tables that say over which versions rows of a content are valid, and which records any version of is superseded. */
export interface IntervalTables {
  readonly places: string
  readonly ends: string
  /** `undefined`: nothing cuts the interval of a compacted row. */
  readonly cuts: string | undefined
}

const countOf = async ({ session }: Work, table: string): Promise<number> =>
  Number((await session.rows(`SELECT count(*) AS n FROM ${table}`))[0]?.n)

/** @param placeOf of the lists of superseded versions, and of merged ones */
const makeIntervals = async (
  work: Work,
  main: RecordTable,
  placeOf: PlaceOf,
): Promise<IntervalTables | undefined> => {
  const { session, snapshot } = work
  const known = knownVersions(snapshot, main, placeOf)
  if (known === undefined) return undefined
  const named = (name: string): string => `${HIDDEN_SCHEMA}.${name}_${main.content}`
  const [places, ends, cuts] = [named('places'), named('ends'), named('cuts')]
  await session.run(`CREATE TABLE ${places} AS ${placesSql(known)}`)
  await session.run(`CREATE TABLE ${ends} AS ${endsSql(places, known)}`)
  await session.run(`CREATE TABLE ${cuts} AS ${cutsSql(places)}`)
  return { places, ends, cuts: (await countOf(work, cuts)) > 0 ? cuts : undefined }
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
    const listed = versionFacts(versionFilesOf(snapshot, 'superseded', main))
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
