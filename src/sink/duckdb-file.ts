/**
 * A DuckDB database file: rows are staged as Parquet files and loaded all of a run in one transaction. Tables show
 * the current version of each record; above them stand the views and macros that the caller of a run provides.
 */

import { basename, dirname, join, resolve } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { DeliverySink, Receipt, SinkContext, SinkRun } from '../core/sink.ts'
import { loadPath } from '../lake/files/layout.ts'
import { fsyncFolder, makeFolder } from '../support/durable-files.ts'
import { statPath } from '../support/list-files.ts'
import { type DatabaseSink, sinkSettings } from './database-target.ts'
import { removeStaged, stageFile } from './stage-file.ts'

const DEFAULT_MEMORY_BYTES = 512 * 1024 ** 2

/** Loaded where they are used: a command that only names targets starts without DuckDB. */
const engineParts = async () => ({
  ...(await import('./duckdb-file-load.ts')),
  ...(await import('./with-database.ts')),
})

/**
 * A DuckDB database file as a sink: a table for each table of the lake, with keys and comments, and `firmlake_loads`
 * with the runs that it shows. One process at a time can use the file.
 *
 * @param file the database; made where it is missing
 * @param own takes precedence over what the caller of a run provides; memory is 512 MiB by default
 * @throws {ToolkitError} `TARGET_REFUSED` while another process has the file open, `TARGET_OF_ANOTHER_LAKE`, `TARGET_AHEAD`, `TARGET_FAILED`,
 *   `DISK_FULL`, of the work with it
 * @example
 * import { convert, duckdbFile } from 'firmlake'
 *
 * const { delivered } = await convert({ from: ['batches/'], lake: './lake', sinks: [duckdbFile('firms.duckdb')] })
 * console.log(delivered.map(({ sink, runs }) => `${sink} ${runs.length}`).join()) // duckdb 1
 */
export const duckdbFile = (file: string, own: SinkContext = {}): DeliverySink => {
  const path = resolve(file)
  const settingsOf = (lent?: SinkContext) => {
    const { memoryBytes = DEFAULT_MEMORY_BYTES, ...settings } = sinkSettings(own, lent)
    return {
      ...settings,
      database: {
        file: path,
        memoryBytes,
        spillFolder: join(settings.staging, 'spill'),
        staging: settings.staging,
      },
    }
  }

  const makeAbove = async (): Promise<void> => {
    const above = dirname(path)
    try {
      await makeFolder(above)
    } catch (error) {
      throw writeError(`Cannot make folder "${above}"`, error)
    }
  }

  const openRun = (run: string, lent?: SinkContext): SinkRun => {
    const { staging, signal, what, layer, taken, anew, database } = settingsOf(lent)
    const folder = join(staging, run)
    const stagedPath = ({ table, path }: Pick<FileEntry, 'table' | 'path'>): string =>
      join(folder, table, basename(path))
    return {
      async write(partition, table, rows): Promise<Receipt> {
        const file = { table, path: `${loadPath(table, run)}/${partition}.parquet` }
        const relation = rows.select((from) => `SELECT * FROM ${from}`)
        const { statistics, ...entry } = await stageFile(stagedPath(file), relation, { kind: 'parquet' })
        return { table, rows: entry.rows, files: [{ ...file, ...entry }], statistics }
      },

      async commit(files) {
        await makeAbove()
        const { loadRun, withDatabase } = await engineParts()
        await withDatabase({ ...database, action: `load ${what ?? `run "${run}"`}` }, (session) =>
          loadRun(session, { run, files, stagedPath, signal, layer, taken, anew }),
        )
        await fsyncFolder(dirname(path))
        await removeStaged(folder)
      },

      abort: () => removeStaged(folder),
    }
  }

  return {
    name: 'duckdb',
    open: async (run, lent) => openRun(run, lent),
    async deliveredRuns(lent) {
      const claim = lent?.claim
      if ((await statPath(path)) === null) {
        if (claim?.marks !== true) return new Set()
        await makeAbove()
      }
      const { claimedRuns, withDatabase } = await engineParts()
      const work = { ...settingsOf(lent).database, action: 'read the loaded runs' }
      return withDatabase(work, (session) => claimedRuns(session, path, claim))
    },
  }
}

export const duckdbSink: DatabaseSink = { sink: (file) => duckdbFile(file) }
