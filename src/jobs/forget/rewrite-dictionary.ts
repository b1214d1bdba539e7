/** Dictionaries of runs without the line items that only the forgotten had. */

import type { CommittedPartition, FileEntry, FileOfRun } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'
import type { LeftInFile } from '../../manifest/form/forgotten.ts'
import { pathsSql } from './find-held.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import type { Identifiers } from './identifiers.ts'

const UNKNOWN = `${HIDDEN_SCHEMA}.unknown_items`

/** Leaves in the table the items that stand in none of some files. */
const dropUsed = async (work: ForgetWork, files: readonly FileEntry[]): Promise<void> => {
  const { session, localBytes, signal } = work
  for (const group of cutByBytes(files, localBytes)) {
    signal?.throwIfAborted()
    await withLakeFiles(work, group, (placeOf) =>
      session.run(`DELETE FROM ${UNKNOWN} AS u USING (
  SELECT DISTINCT category, line_item
  FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))}, hive_partitioning = false)
  SEMI JOIN ${UNKNOWN} USING (category, line_item)
) AS used WHERE u.category = used.category AND u.line_item = used.line_item`),
    )
  }
}

/** Line items that the contract does not know and whose names tell of the forgotten: their figures are of others. */
export const itemsThatTell = async (
  work: ForgetWork,
  dictionaries: readonly FileOfRun[],
  { standing }: Identifiers,
): Promise<readonly LeftInFile[]> => {
  const left: LeftInFile[] = []
  for (const file of dictionaries.filter(({ rows }) => rows > 0)) {
    const items = await withLakeFiles(work, [file], (placeOf) =>
      work.session.rows(`SELECT category || ' ' || line_item AS item
FROM read_parquet(${pathsSql([placeOf(file.path)])}, hive_partitioning = false) WHERE unit = 'unknown'`),
    )
    const values = items.filter(({ item }) => Object.values(standing(String(item))).includes(true)).length
    if (values > 0) left.push({ kind: file.table, path: file.path, values })
  }
  return left
}

/**
 * @param dictionary of a run
 * @param partitions of the run, as they are left
 * @returns the dictionary that takes its place, and how many items are gone; `null` where none is
 */
export const rewriteDictionary = async (
  work: ForgetWork,
  sink: SinkRun,
  dictionary: FileOfRun,
  partitions: readonly CommittedPartition[],
): Promise<{ readonly file: FileEntry; readonly rows: number } | null> => {
  const { session } = work
  return withLakeFiles(work, [dictionary], async (placeOf) => {
    const from = `read_parquet(${pathsSql([placeOf(dictionary.path)])}, hive_partitioning = false)`
    await session.run(`CREATE OR REPLACE TABLE ${UNKNOWN} AS
SELECT category, line_item FROM ${from} WHERE unit = 'unknown'`)
    const left = async (): Promise<number> =>
      Number((await session.rows(`SELECT count(*) AS items FROM ${UNKNOWN}`))[0]?.items)
    if ((await left()) === 0) return null
    const figures = partitions.flatMap(({ files }) =>
      files.filter(({ table, rows }) => table === 'financials' && rows > 0),
    )
    await dropUsed(work, figures)
    const rows = await left()
    if (rows === 0) return null
    const kept = session.relation(`FROM ${from} ANTI JOIN ${UNKNOWN} USING (category, line_item)`)
    // Each run has one, and all of them one name.
    const [file] = (await sink.write(`${dictionary.table}-${dictionary.run}`, dictionary.table, kept)).files
    return file ? { file, rows } : null
  })
}
