/**
 * A DuckDB database file: rows are staged as Parquet files and loaded all of a run in one transaction. Tables show
 * the current version of each record.
 */

import { basename, dirname, join, resolve } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { DeliverySink, Receipt, SinkRun } from '../core/sink.ts'
import { loadPath } from '../lake/lake/layout.ts'
import { fsyncFolder, makeFolder } from '../support/durable-files.ts'
import { statPath } from '../support/list-files.ts'
import { loadedRuns, loadRun } from './duckdb-file-load.ts'
import { withDatabase } from './duckdb-file-open.ts'
import { removeStaged, stageFile } from './stage-file.ts'

export interface DuckdbFileOptions {
  /** The database; made where it is missing. */
  readonly file: string
  /** Folder of this machine for rows that are not loaded yet. */
  readonly staging: string
  /** Memory in which a commit works, in bytes. @default 512 MiB */
  readonly memoryBytes?: number | undefined
  /** Stops a commit: its transaction is gone as a whole. */
  readonly signal?: AbortSignal | undefined
  /** What a commit loads, for messages. @default the run */
  readonly what?: string | undefined
}

const DEFAULT_MEMORY_BYTES = 512 * 1024 ** 2

/**
 * A database file as a sink. One process at a time can use the file: `commit` and `loaded` refuse (`TARGET_REFUSED`)
 * while another one has it open.
 */
export const duckdbFile = ({
  file,
  staging,
  memoryBytes = DEFAULT_MEMORY_BYTES,
  signal,
  what,
}: DuckdbFileOptions): DeliverySink => {
  const settings = { file: resolve(file), memoryBytes, spillFolder: join(staging, 'spill') }

  const openRun = (run: string): SinkRun => {
    const folder = join(staging, run)
    const stagedPath = ({ table, path }: Pick<FileEntry, 'table' | 'path'>): string =>
      join(folder, table, basename(path))
    return {
      async write(partition, table, rows): Promise<Receipt> {
        const path = `${loadPath(table, run)}/${partition}.parquet`
        const relation = rows.select((from) => `SELECT * FROM ${from}`)
        const { statistics, ...entry } = await stageFile(stagedPath({ table, path }), relation, {
          kind: 'parquet',
        })
        return { table, rows: entry.rows, files: [{ table, path, ...entry }], statistics }
      },

      async commit(files) {
        const above = dirname(settings.file)
        try {
          await makeFolder(above)
        } catch (error) {
          throw writeError(`Cannot make folder "${above}"`, error)
        }
        await withDatabase({ ...settings, action: `load ${what ?? `run "${run}"`}` }, (session) =>
          loadRun(session, { run, files, stagedPath, signal }),
        )
        await fsyncFolder(above)
        await removeStaged(folder)
      },

      abort: () => removeStaged(folder),
    }
  }

  return {
    name: 'duckdb',
    open: async (run) => openRun(run),
    async loaded() {
      if ((await statPath(settings.file)) === null) return new Set()
      return withDatabase({ ...settings, action: 'read the loaded runs' }, loadedRuns)
    },
  }
}
