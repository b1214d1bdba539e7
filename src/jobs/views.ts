/** `views`: the views and macros of a lake as SQL, or written to its `lake.duckdb`. */

import { printedStatements } from '../lake/views/lake-sql.ts'
import { readContents } from '../manifest/lake-file/lake-file.ts'
import { readRoot } from '../manifest/snapshots/snapshots.ts'
import { storageOf } from '../storage/open-storage.ts'

/**
 * The views and macros of a snapshot as SQL for any DuckDB from 1.3 on; the lake's place stands once, at its head.
 *
 * @param lake a folder, or `s3://bucket/prefix`
 * @param number of the snapshot @default the newest
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `RATES_UNREADABLE`
 */
export const viewsSql = async (lake: string, number?: number): Promise<string> => {
  const root = await readRoot(lake, number)
  const { uri } = storageOf(lake)
  const isBucket = !uri.startsWith('file:')
  const contents = await readContents(lake, root)
  return printedStatements(contents, isBucket ? uri.replace(/\/$/, '') : contents.lake, [
    `Views and macros of a firmlake lake, snapshot ${root.snapshot} of ${root.time}. For DuckDB from 1.3 on.`,
    'Files that "firmlake gc" removes are missing afterwards: print the views again, or keep their snapshot.',
    ...(isBucket ? ['DuckDB reads the bucket through its extension httpfs and a secret of yours.'] : []),
  ])
}
