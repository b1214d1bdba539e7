/** Files of current rows: copies of the lake's files without the superseded ones, each under a name that is never used twice. */

import { randomBytes } from 'node:crypto'
import { copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { publishedHashPath, recordedHash } from '../../lake/files/layout.ts'
import { rowGroupRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { fsyncFile } from '../../support/durable-files.ts'
import { adoptFile } from '../../support/file-modes.ts'
import { hashFile } from '../../support/hash.ts'
import type { CountedFile } from '../current/superseded-rows.ts'
import { type MeasuredFile, measureLocal } from '../file-statistics.ts'
import type { TableFile } from '../table-files.ts'
import type { TableState } from './table-changes.ts'

const ENDING = '.parquet'

/** `<run>/<file>`: what the names of a file's copies begin with. */
export const copySource = ({ run, name }: Pick<TableFile, 'run' | 'name'>): string =>
  `${run}/${name.slice(name.lastIndexOf('/') + 1, -ENDING.length)}`

/** What a copy's name begins with. */
export const sourceOfCopy = (name: string): string => name.slice(0, -`-${'0'.repeat(16)}${ENDING}`.length)

/** The file as a whole. Its bytes are there already: another name is enough. */
const takeWhole = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch {
    // Another file system, or one without links.
    await copyFile(from, to)
    await fsyncFile(to)
  }
}

const copyCurrent = async (
  session: Session,
  { columns }: Table,
  { place, positions }: CountedFile,
  to: string,
): Promise<void> => {
  const selected = columns.map(({ name, type }) => `CAST(f.${ident(name)} AS ${type}) AS ${ident(name)}`)
  const groupRows = rowGroupRows(columns)
  await session.copy(
    `SELECT ${selected.join(', ')}
FROM read_parquet([${literal(place)}], file_row_number = true) AS f
ANTI JOIN (${positions('all')}) AS s ON s.pos = f.file_row_number ORDER BY f.file_row_number`,
    to,
    { kind: 'parquet', ...(groupRows !== undefined && { rowGroupRows: groupRows }) },
  )
}

/** Makes the file on this machine. @returns its length and hash */
const makeLocal = async (
  { context: { session, signal }, table }: TableState,
  counted: CountedFile,
  local: string,
): Promise<Pick<FileFacts, 'bytes' | 'sha256'>> => {
  const { file, place, superseded } = counted
  if (superseded > 0) await copyCurrent(session, table, counted, local)
  try {
    if (superseded === 0) {
      await takeWhole(place, local)
      return file
    }
    await adoptFile(local)
    await fsyncFile(local)
    return await hashFile(local, { signal })
  } catch (error) {
    throw writeError(`Cannot write "${local}"`, error)
  }
}

/** Writes a copy of a file's current rows. Nobody reads it before the log names it. @throws {ToolkitError} */
export const writeCopy = async (state: TableState, counted: CountedFile): Promise<MeasuredFile> => {
  const { context, table, log } = state
  const { file, superseded } = counted
  const storage = storageOf(context.lake)
  const name = `${copySource(file)}-${randomBytes(8).toString('hex')}${ENDING}`
  const path = `${log.form.root}/${name}`
  const local = join(context.scratch, name.slice(name.indexOf('/') + 1))
  const { bytes, sha256 } = await makeLocal(state, counted, local)
  const [facts, rows] = [{ path, bytes, sha256 }, file.rows - superseded]
  const statistics = await measureLocal(context.session, table, local, rows)
  await storage.stage(local, facts)
  await storage.publish([{ from: local, to: path }])
  await storage.replace(publishedHashPath(path), recordedHash(facts.sha256))
  return {
    file: { ...file, ...facts, name, version: 0, rows },
    statistics,
  }
}
