/**
 * Files of one table, brought to where DuckDB reads them and checked: they are what the manifest says, and this release
 * knows all that stands in them.
 */

import type { FileEntry, Snapshot } from '../../core/partition.ts'
import { withFiles } from '../../lake/files/fetch-tables.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { readTable } from '../../lake/views/current-versions.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { checkColumns } from './check-inputs.ts'
import type { Work } from './compact-work.ts'

/** A file of a table, and the version of its rows. */
export interface VersionedEntry extends FileEntry {
  readonly version: number
}

/** The files of a table in the order of their versions. */
export const inputsOf = (
  { partitions, files }: Pick<Snapshot, 'partitions' | 'files'>,
  { name }: Table,
): readonly VersionedEntry[] => [
  ...partitions.flatMap(({ version, files: own }) =>
    own.filter(({ table }) => table === name).map((file) => ({ ...file, version })),
  ),
  ...files.filter(({ table }) => table === name),
]

/** SQL of the rows of some files. */
export interface GroupRows {
  readonly rows: string
  /** With their `version`. */
  readonly versioned: string
}

/** A file that the compaction has written itself: no version of it counts any more. */
export type InputFile = FileFacts & { readonly version: number }

export const readGroup = <T>(
  work: Work,
  table: Table,
  files: readonly InputFile[],
  use: (rows: GroupRows) => Promise<T>,
): Promise<T> => {
  const { session, lake, copies, known, signal, onFetched } = work
  const options = { known, signal, onProgress: onFetched() }
  return withFiles(lake, files, copies, options, async (placeOf) => {
    const placed = files.map(({ path, version }) => ({ path: placeOf(path), version }))
    const columns = await checkColumns(session, lake, table, placed)
    return use({
      rows: readTable(table, placed, undefined, undefined, columns),
      versioned: readTable(table, placed, 'with-version', undefined, columns),
    })
  })
}
