/**
 * PostgreSQL: rows are staged as CSV files on the local disk and loaded by COPY, all of a run in one transaction.
 * Tables show the current version of each record; above them stand the views of the analysis layer that PostgreSQL takes.
 */

import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import { requirePart } from '../../core/optional-parts.ts'
import type { FileEntry } from '../../core/partition.ts'
import type { DeliverySink, Receipt, SinkContext, SinkRun } from '../../core/sink.ts'
import { loadPath } from '../../lake/files/layout.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { type DatabaseSink, sinkSettings } from '../database-target.ts'
import { removeStaged, stageFile } from '../stage-file.ts'
import {
  checkNameLength,
  checkStagedFile,
  copyForm,
  readColumns,
  targetColumns,
  writeColumns,
} from './staged-columns.ts'
import { readTls } from './tls.ts'

const DEFAULT_SCHEMA = 'firmlake'

/** Options of `postgres`. */
export interface PostgresOptions extends SinkContext {
  /** Schema of the tables; made where it is missing. @default 'firmlake' */
  readonly schema?: string
}

/**
 * A PostgreSQL database as a sink: one schema with a table for each table of the lake, and `firmlake_loads` with the
 * runs that it shows. Text of PostgreSQL cannot hold U+0000: it becomes U+FFFD, and a delivery's `warnings` say so.
 *
 * @param url `postgres://user@host:port/database`; what it leaves out comes from PGHOST, PGUSER, PGPASSWORD, …
 * @throws {ToolkitError} `PACKAGE_MISSING`; `TARGET_REFUSED`, `TARGET_OF_ANOTHER_LAKE`, `TARGET_AHEAD`, `TARGET_FAILED`, of the work with it
 * @example
 * import { convert, deliver, postgres } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const [database] = await deliver({ lake: './lake', sinks: [postgres('postgres://user@db/firms')] })
 * console.log(database?.sink, database?.runs.length) // postgres 1
 */
export const postgres = (
  url: string,
  { schema = DEFAULT_SCHEMA, ...own }: PostgresOptions = {},
): DeliverySink => {
  checkNameLength('a schema', schema)
  requirePart('postgres')

  const openRun = (run: string, lent?: SinkContext): SinkRun => {
    const { staging, signal, what, taken, anew } = sinkSettings(own, lent)
    const warnings: string[] = []
    const folder = join(staging, run)
    const stagedPath = ({ table, path }: Pick<FileEntry, 'table' | 'path'>): string =>
      join(folder, table, basename(path))
    return {
      warnings,

      async write(partition, table, rows): Promise<Receipt> {
        checkNameLength('a table', table)
        const path = `${loadPath(table, run)}/${partition}.csv`
        const staged = stagedPath({ table, path })
        // Names that occur twice in a statement are distinguished only by one around it.
        const relation = rows.select((from) => `SELECT * FROM ${from}`)
        const columns = await relation.columns()
        try {
          await makeFolder(dirname(staged))
          // Not before the rows are gone that were staged with other columns.
          await rm(staged, { force: true })
          await writeColumns(staged, targetColumns(columns))
        } catch (error) {
          throw writeError(`Cannot write "${staged}"`, error)
        }
        const { select, format } = copyForm(columns)
        const { statistics, ...entry } = await stageFile(staged, relation.select(select), format)
        return { table, rows: entry.rows, files: [{ table, path, ...entry }], statistics }
      },

      async commit(files) {
        const { inTransaction, withConnection } = await import('./with-connection.ts')
        const { deliveredRuns, loadRun } = await import('./load-run.ts')
        const action = `load ${what ?? `run "${run}"`}`
        const found = await withConnection(url, action, async (connection) => {
          const { client } = connection
          if (!anew && (await deliveredRuns(client, schema)).has(run)) return []
          for (const file of files) await checkStagedFile(stagedPath(file), file)
          return inTransaction(connection, signal, () =>
            loadRun(client, {
              schema,
              run,
              files,
              stagedPath,
              taken,
              anew,
              columnsOf: (file) => readColumns(stagedPath(file)),
            }),
          )
        })
        warnings.push(...found)
        await removeStaged(folder)
      },

      abort: () => removeStaged(folder),
    }
  }

  return {
    name: 'postgres',
    open: async (run, lent) => openRun(run, lent),
    async deliveredRuns(lent) {
      const { inTransaction, withConnection } = await import('./with-connection.ts')
      const { claimedRuns, deliveredRuns } = await import('./load-run.ts')
      const claim = lent?.claim
      return withConnection(url, 'read the loaded runs', (connection) =>
        claim === undefined
          ? deliveredRuns(connection.client, schema)
          : inTransaction(connection, lent?.signal, () => claimedRuns(connection.client, schema, claim)),
      )
    },
  }
}

export const postgresSink: DatabaseSink = {
  sink: (url) => postgres(url),
  check: (url) => readTls(url, process.env),
  async probe(url, limitMs) {
    requirePart('postgres')
    const { probe } = await import('./with-connection.ts')
    return probe(url, DEFAULT_SCHEMA, limitMs)
  },
}
