/** Keeps which companies are not listed any more: those that were not loaded again, in one partition behind the others. */

import { listingEntry } from '../../commit/mark-gone.ts'
import type { PartitionEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { LISTINGS, mainTables } from '../../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'
import type { Work } from './compact-work.ts'
import { inputsOf, readGroup } from './read-group.ts'
import { filesAtOnce } from './sorted-at-once.ts'

const GONE = `${HIDDEN_SCHEMA}.gone`

export const compactListings = async (work: Work, sink: SinkRun): Promise<readonly PartitionEntry[]> => {
  const { session, snapshot, pieceBytes, signal, run } = work
  const listings = inputsOf(snapshot, LISTINGS)
  const main = mainTables().find(({ content }) => content === LISTINGS.content)
  if (listings.length === 0 || main === undefined) return []
  await readGroup(work, LISTINGS, listings, ({ versioned }) =>
    session.run(`CREATE TABLE ${GONE} AS SELECT * FROM (${versioned})
QUALIFY row_number() OVER (PARTITION BY internal_id ORDER BY version DESC) = 1`),
  )
  for (const group of cutByBytes(inputsOf(snapshot, main), pieceBytes, filesAtOnce(main))) {
    signal?.throwIfAborted()
    await readGroup(work, main, group, ({ versioned }) =>
      session.run(`DELETE FROM ${GONE} AS g USING (SELECT internal_id, version FROM (${versioned})) AS r
WHERE r.internal_id = g.internal_id AND r.version > g.version`),
    )
  }
  const columns = LISTINGS.columns.map(({ name }) => ident(name)).join(', ')
  const rows = session.relation(`SELECT ${columns} FROM ${GONE} ORDER BY internal_id`)
  const { files } = await sink.write(LISTINGS.name, LISTINGS.name, rows)
  await session.run(`DROP TABLE ${GONE}`)
  return files.every((file) => file.rows === 0) ? [] : [listingEntry(run, 'compaction', files)]
}
