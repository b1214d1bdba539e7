/** Which records of a content are superseded, by the ids of its main table, a group of files after the other. */

import { cutByBytes } from '../../lake/files/files-in-turn.ts'
import { diskError } from '../../lake/query/sort-rows.ts'
import { mainTables, type Table } from '../../lake/tables/tables.ts'
import { makeSupersededOf } from '../../lake/views/current-versions.ts'
import { sizesOf, type Work, watchStatement } from './compact-work.ts'
import { ownersTable, sampleOwners, sampleTable } from './cut-pieces.ts'
import { type CompactContent, filesAtOnce } from './plan-compaction.ts'
import { type GroupRows, inputsOf, readGroup, type VersionedEntry } from './read-group.ts'

const readOwners = async (
  work: Work,
  { content }: CompactContent,
  main: Table,
  files: readonly VersionedEntry[],
): Promise<void> => {
  const { session, pieceBytes, signal, report } = work
  const of = sizesOf(files).rows
  const owners = ownersTable(content)
  await session.run(`CREATE TABLE ${owners} (owner BIGINT, version INTEGER)`)
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
    const insert = async ({ versioned, rows: unversioned }: GroupRows): Promise<void> => {
      await session.run(`INSERT INTO ${owners} SELECT internal_id, version FROM (${versioned})`)
      await session.run(sampleOwners(main, content, unversioned, of))
    }
    await readGroup(work, main, group, (read) => watchStatement(session, onShare, () => insert(read)))
    done += rows
  }
}

/** Makes the table of what is superseded; without a record there is nothing to make it of. */
export const findSuperseded = async (work: Work, content: CompactContent): Promise<boolean> => {
  const { session, snapshot } = work
  const main = mainTables().find((table) => table.content === content.content)
  const files = main ? inputsOf(snapshot, main) : []
  if (main === undefined || sizesOf(files).rows === 0) return false
  try {
    await readOwners(work, content, main, files)
    const owners = ownersTable(content.content)
    await session.run(makeSupersededOf(content.content, `SELECT owner, version FROM ${owners}`, files))
    await session.run(`DROP TABLE ${owners}`)
  } catch (error) {
    throw diskError(`Cannot find what is superseded in "${content.content}"`, error)
  }
  return true
}
