/** Compares a lake's DuckLake catalog with its manifest: whatever it says of files and snapshots must be what the newest snapshot says. */

import { dirname } from 'node:path/posix'
import { messageOf, ToolkitError } from '../../core/errors.ts'
import { withDatabases } from '../../lake/duckdb/database-files.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { CATALOG_FILE, DELETES_FOLDER, deleteFilePath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { readKnownRoot } from '../snapshots/snapshots.ts'
import { VERSION_BITS } from './catalog-views.ts'
import { FileRows, NEW_FILES } from './file-rows.ts'
import { StatementQueue } from './statement-queue.ts'
import { listDifference } from './step-entries.ts'

export interface CheckedCatalog {
  readonly lake: string
  readonly first: number
  readonly newest: SnapshotRoot
  readonly bytes: Buffer
}

type AddProblem = (path: string, problem: 'missing' | 'changed', detail: string) => void

/**
 * Runs questions on the bytes of a database that may be of anybody.
 *
 * @param isUntrusted whether it must hold tables alone; `ask` of others looks at what it reads
 */
export const askDatabase = async <T>(
  bytes: Buffer,
  ask: (session: Session) => Promise<T>,
  isUntrusted = true,
): Promise<T> =>
  withDatabases(async (make) => {
    const answers: T[] = []
    await make({
      before: bytes,
      isUntrusted,
      fill: async (session) => void answers.push(await ask(session)),
    })
    const [answer] = answers
    if (answer === undefined) throw new TypeError('Cannot ask a database: no answer')
    return answer
  })

const deletePaths = async (session: Session): Promise<readonly string[]> =>
  (await session.rows('SELECT path FROM ducklake_delete_file ORDER BY path')).map(({ path }) => String(path))

/** Paths of the files of superseded rows that a catalog names. */
export const deleteFilesOf = (bytes: Buffer): Promise<readonly string[]> => askDatabase(bytes, deletePaths)

export const verifyCatalog = async (checked: CheckedCatalog, add: AddProblem): Promise<void> => {
  const changed = (detail: string): void => add(CATALOG_FILE, 'changed', detail)
  const deletes = await askDatabase(checked.bytes, async (session) => {
    await checkSnapshots(session, checked, changed)
    await checkFiles(session, checked, changed)
    return deletePaths(session)
  }).catch((error: unknown): readonly string[] => {
    if (error instanceof ToolkitError && error.code !== 'LAKE_DAMAGED') throw error
    changed(messageOf(error).split('\n', 1)[0] ?? '')
    return []
  })
  for (const path of deletes) {
    if (dirname(path) !== DELETES_FOLDER) {
      changed(`it names "${path}" as deleted rows, expected files of "${DELETES_FOLDER}"`)
      continue
    }
    const sha256 = await storageOf(checked.lake).examine(path, {}, async (hash) => hash.sha256)
    if (sha256 === null) add(path, 'missing', 'the file is missing')
    else if (deleteFilePath(sha256) !== path) add(path, 'changed', `its SHA-256 is ${sha256}`)
  }
}

const checkSnapshots = async (
  session: Session,
  { lake, first, newest }: CheckedCatalog,
  changed: (detail: string) => void,
): Promise<void> => {
  const rows =
    await session.rows(`SELECT snapshot_id AS number, epoch_ms(snapshot_time) AS time, commit_extra_info AS info
FROM ducklake_snapshot JOIN ducklake_snapshot_changes USING (snapshot_id)`)
  const shown = new Map(rows.map(({ number, time, info }) => [Number(number), `${Number(time)} ${info}`]))
  for (let number = first; number <= newest.snapshot; number += 1) {
    const { time, run } = number === newest.snapshot ? newest : await readKnownRoot(lake, number)
    if (shown.get(number) !== `${Date.parse(time)} ${JSON.stringify({ run })}`)
      changed(`it does not show snapshot ${number} as the manifest has it`)
    shown.delete(number)
  }
  for (const number of shown.keys()) changed(`it shows snapshot ${number}, which the lake does not have`)
}

/** The files that are shown now, and since when: all of them as all versions, of current rows no others. */
const checkFiles = async (
  session: Session,
  { lake, newest }: CheckedCatalog,
  changed: (detail: string) => void,
): Promise<void> => {
  const step = { lake, before: null, after: newest }
  const statements = new StatementQueue(session)
  const files = await FileRows.open(statements)
  for (const name of ['partitions', 'files'] as const)
    for await (const entry of (await listDifference(step, name)).added())
      await files.add('files' in entry ? entry.files : [entry], entry)
  await statements.flush()
  const columns = `path, rows, bytes, snapshot, (version << ${VERSION_BITS}) + first_row AS row_id`
  const expected = (table: string): string =>
    `SELECT ${table} AS table_id, ${columns} FROM ${NEW_FILES} WHERE ${table} IS NOT NULL`
  const shown = (
    table: string,
  ): string => `SELECT table_id, path, record_count, file_size_bytes, begin_snapshot, row_id_start
FROM ducklake_data_file WHERE end_snapshot IS NULL AND table_id IN (SELECT ${table} FROM ${NEW_FILES})`
  for (const [what, sql] of [
    ['it does not name', `${expected('all_table')} EXCEPT ${shown('all_table')}`],
    ['it names', `${shown('all_table')} EXCEPT ${expected('all_table')}`],
    ['it names as current', `${shown('current_table')} EXCEPT ${expected('current_table')}`],
  ] as const) {
    const [found] = await session.rows(`SELECT count(*)::INTEGER AS n, min(path) AS path FROM (${sql})`)
    if (Number(found?.n) > 0)
      changed(`${what} ${found?.n} files otherwise than the newest snapshot, such as "${found?.path}"`)
  }
}
