/** Finds the superseded records of a content by the ids of its main table, a group of files after the other. */

import { join } from 'node:path'
import type { Content } from '../contract/objects.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes, type PlaceOf, withFiles } from '../lake/files/fetch-tables.ts'
import { versionsTable } from '../lake/tables/past-tables.ts'
import { diskError } from '../lake/tables/sort-rows.ts'
import { mainTables, type RecordTable, type Table } from '../lake/tables/tables.ts'
import { chainMacro } from '../lake/views/base-views.ts'
import {
  HIDDEN_SCHEMA,
  isOneVersion,
  makeSuperseded,
  supersededTable,
  versionFacts,
  withAllCompanies,
} from '../lake/views/current-versions.ts'
import { chainOfLists, loadsOf } from '../lake/views/source-macros.ts'
import { mergedFiles } from '../lake/views/version-chain.ts'
import { lastVersionWith } from '../lake/views/version-order.ts'
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

/** The table of the versions of records that have several, not all of them in one partition: `owner`, `version`, `place`, `is_listing`, `merged_in`. */
export interface IntervalTables {
  readonly places: string
  /** Whether all records of the content are such. */
  readonly isAll: boolean
  /** Whether a compaction has put some of their versions together before. */
  readonly hasMerged: boolean
}

/** @param placeOf of the lists of versions, and of what earlier compactions kept of them */
const makeIntervals = async (
  { session, snapshot }: Work,
  content: CompactContent,
  main: RecordTable,
  placeOf: PlaceOf,
): Promise<IntervalTables | undefined> => {
  if (isOneVersion(snapshot, main)) return undefined
  const places = `${HIDDEN_SCHEMA}.places_${main.content}`
  const ofContent = ({ content }: { readonly content: Content }): boolean => content === main.content
  const listed = {
    ...snapshot,
    partitions: snapshot.partitions.filter(ofContent),
    merged: (snapshot.merged ?? []).filter(ofContent),
  }
  await session.run(loadsOf(main, listed))
  await session.run(chainOfLists(main, listed, placeOf, undefined, content.fromVersion))
  await session.run(`CREATE TABLE ${places} AS WITH chain AS MATERIALIZED (FROM ${chainMacro(main)}())
SELECT owner, version, place, is_listing, merged_in FROM chain
SEMI JOIN (SELECT owner FROM chain GROUP BY owner HAVING count(*) > 1 AND count(DISTINCT coalesce(merged_in, -version)) > 1) AS several ON several.owner = chain.owner`)
  const [found] =
    await session.rows(`SELECT (SELECT count(DISTINCT owner) FROM ${chainMacro(main)}()) AS owners,
  (SELECT count(DISTINCT owner) FROM ${places}) AS several`)
  return {
    places,
    isAll: found?.owners === found?.several,
    hasMerged: mergedFiles(listed, main).length > 0,
  }
}

export interface FoundVersions {
  /** `undefined`: of no record any version is superseded. */
  readonly intervals: IntervalTables | undefined
}

/** Makes the table of versions that others of the newest partitions supersede. @param paths SQL of the lists of versions */
const supersededAmong = ({ content, owner = '' }: RecordTable, fromVersion: number, paths: string): string =>
  `CREATE TABLE ${supersededTable(content)} AS SELECT owner, version, as_of, false AS is_gone FROM (
  SELECT *, ${lastVersionWith('is_listing')} OVER of_owner AS last,
    ${lastVersionWith('is_listing')} FILTER (NOT is_listing) OVER of_owner AS last_record
  FROM (
    SELECT ${ident(owner)} AS owner, version, max(as_of) AS as_of, bool_or(is_listing) AS is_listing
    FROM ${readParquet(paths, 'union_by_name = true')} WHERE version >= ${fromVersion} GROUP BY ALL
  ) WINDOW of_owner AS (PARTITION BY owner)
) WHERE version <> last.version AND (is_listing OR version <> last_record.version)`

/** Finds what is superseded, and over which versions rows are valid. @returns `undefined` where the content has no records */
export const findSuperseded = async (
  work: Work,
  compacted: CompactContent,
): Promise<FoundVersions | undefined> => {
  const { content } = compacted
  const { lake, session, snapshot, spill, signal } = work
  const main = mainTables().find((table) => table.content === content)
  const files = main ? inputsOf(snapshot, main) : []
  if (main === undefined) return undefined
  const isEmpty = sizesOf(files).rows === 0
  try {
    if (!isEmpty) await sampleRecords(work, content, main, files)
    const listed = versionFacts(
      snapshot.versions.filter(({ kind, table }) => table === main.name && kind !== 'confirmed'),
    )
    const merged = inputsOf(snapshot, versionsTable(content))
    return await withFiles(
      lake,
      [...listed, ...merged],
      join(spill, 'versions'),
      { signal },
      async (placeOf) => {
        // The last row of a company that is not listed any more stays.
        await session.run(
          compacted.fromVersion === 0
            ? makeSuperseded(withAllCompanies(snapshot), placeOf, main)
            : supersededAmong(main, compacted.fromVersion, pathsSql(listed.map(({ path }) => placeOf(path)))),
        )
        return isEmpty ? undefined : { intervals: await makeIntervals(work, compacted, main, placeOf) }
      },
    )
  } catch (error) {
    throw diskError(`Cannot find what is superseded in "${content}"`, error)
  }
}
