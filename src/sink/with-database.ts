/** Opens a database file for one piece of work, and says in the toolkit's words why it cannot. */

import { dirname } from 'node:path'
import { messageOf, ToolkitError, writeError } from '../core/errors.ts'
import { type AttachedDatabase, attachDatabase } from '../lake/duckdb/database-files.ts'
import { Engine, type Session } from '../lake/duckdb/engine.ts'
import { wrongInPlace } from '../lake/duckdb/untrusted-database.ts'
import { SINK_TABLES } from '../lake/tables/tables.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { adoptOutput } from '../support/file-modes.ts'
import { statPath } from '../support/list-files.ts'
import { atMost } from '../support/side-by-side.ts'
import { LOADS_TABLE } from './current-rows.ts'
import { LAKE_TABLE } from './delivered-runs.ts'

/** The name of the file's database in a session. */
export const TARGET = 'target'

const OWN_TABLES: ReadonlySet<string> = new Set([
  ...SINK_TABLES.map(({ name }) => name),
  ...[LOADS_TABLE, LAKE_TABLE],
])

export interface DatabaseWork {
  /** Absolute path. */
  readonly file: string
  readonly memoryBytes: number
  readonly spillFolder: string
  /** Folder of the files that are loaded. */
  readonly staging: string
  /** For messages: `load run "…"`. */
  readonly action: string
}

/** Work that waits for the file, by its path: DuckDB's lock holds off other processes, but not this one. */
const queues = new Map<string, ReturnType<typeof atMost>>()

/** @throws {ToolkitError} TARGET_REFUSED, TARGET_FAILED, DISK_FULL */
export const withDatabase = <T>(work: DatabaseWork, use: (session: Session) => Promise<T>): Promise<T> => {
  const inTurn = queues.get(work.file) ?? atMost(1)
  queues.set(work.file, inTurn)
  return inTurn(() => attached(work, use))
}

const attached = async <T>(work: DatabaseWork, use: (session: Session) => Promise<T>): Promise<T> => {
  const { file, memoryBytes, spillFolder, staging } = work
  const engine = await Engine.open({ memoryBytes, spillFolder })
  const session = await engine.connect()
  try {
    const isNew = (await statPath(file)) === null
    let database: AttachedDatabase
    try {
      database = await attachDatabase(session, file, TARGET)
      if (isNew) await adoptOutput(database.path, dirname(file))
      // The file may be of anybody.
      await session.lock([staging])
    } catch (error) {
      throw attachError(work, error)
    }
    try {
      const wrong = await wrongInPlace(session, TARGET, OWN_TABLES)
      if (wrong !== undefined) throw new ToolkitError('TARGET_REFUSED', `${startOf(work)}: ${wrong}`)
      const result = await use(session)
      // Brings what the log holds into the file: whoever copies the file has all of it.
      await database.save()
      return result
    } catch (error) {
      await database.drop().catch(() => undefined)
      throw useError(work, error)
    }
  } finally {
    // An open connection would keep the file until it is collected, and might write to it then.
    session.close()
    engine.close()
    await removeIfThere(spillFolder)
  }
}

const startOf = ({ file, action }: DatabaseWork): string => `Cannot ${action} in DuckDB file "${file}"`

/** The reason in the first sentence; what follows is advice for programmers. */
const attachError = (work: DatabaseWork, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const message = messageOf(error)
  const start = startOf(work)
  const holder = /\(PID (\d+)\)/.exec(message)?.[1]
  if (/could not set lock|conflicting lock/i.test(message)) {
    const who = holder === undefined ? 'another process' : `another process (${holder})`
    return new ToolkitError('TARGET_REFUSED', `${start}: it is in use by ${who}`, {}, error)
  }
  if (/no space left/i.test(message)) return writeError(start, error)
  const reason = message.split('\n')[0]?.replace(/^[A-Za-z ]+ Error: /, '') ?? message
  return new ToolkitError('TARGET_REFUSED', `${start}: ${reason.replace(/\.$/, '')}`, {}, error)
}

/** DuckDB's messages quote the data they stumble over: only the kind of the error is reported. */
const useError = (work: DatabaseWork, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const message = messageOf(error)
  const start = startOf(work)
  if (/no space left on device|not enough disk space/i.test(message)) return writeError(start, error)
  const kind = /^([A-Z][A-Za-z-]*(?: [A-Za-z-]+)* Error): /.exec(message)?.[1] ?? 'an error'
  const reason = kind.startsWith('Out of Memory') ? 'out of memory' : `DuckDB gave up with "${kind}"`
  return new ToolkitError('TARGET_FAILED', `${start}: ${reason}`, {}, error)
}
