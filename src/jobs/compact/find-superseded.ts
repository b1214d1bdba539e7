/** Which records of a content are superseded, by the ids of its main table, a group of files after the other. */

import { join } from 'node:path'
import { cutByBytes, withFiles } from '../../lake/files/fetch-tables.ts'
import { diskError } from '../../lake/tables/sort-rows.ts'
import { mainTables, type Table } from '../../lake/tables/tables.ts'
import {
  makeSuperseded,
  versionFacts,
  versionFilesOf,
  withAllCompanies,
} from '../../lake/views/current-versions.ts'
import { sizesOf, type Work, watchStatement } from './compact-work.ts'
import { type CompactContent, filesAtOnce } from './plan-compaction.ts'
import { type GroupRows, inputsOf, readGroup, type VersionedEntry } from './read-group.ts'
import { sampleOwners, sampleTable } from './sort-ranges.ts'

/** Samples the records, by which tables are cut into pieces. */
const sampleRecords = async (
  work: Work,
  { content }: CompactContent,
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

/** Makes the table of what is superseded. @returns whether the content has records */
export const findSuperseded = async (work: Work, content: CompactContent): Promise<boolean> => {
  const { lake, session, snapshot, spill, signal } = work
  const main = mainTables().find((table) => table.content === content.content)
  const files = main ? inputsOf(snapshot, main) : []
  if (main === undefined) return false
  const isEmpty = sizesOf(files).rows === 0
  try {
    if (!isEmpty) await sampleRecords(work, content, main, files)
    const listed = versionFacts(versionFilesOf(snapshot, 'superseded', main))
    await withFiles(lake, listed, join(spill, 'versions'), { signal }, (placeOf) =>
      // The last row of a company that is not listed any more stays.
      session.run(makeSuperseded(withAllCompanies(snapshot), placeOf, main)),
    )
  } catch (error) {
    throw diskError(`Cannot find what is superseded in "${content.content}"`, error)
  }
  return !isEmpty
}
