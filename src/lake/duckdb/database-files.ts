/**
 * Database files: attached wherever they stand, or made outside of a lake, readable by older releases. And a folder for each
 * engine where DuckDB spills what does not fit into memory. Spill folders are below one folder of the user among the temporary
 * files; their names identify their process.
 */

import { rmdirSync, rmSync } from 'node:fs'
import { copyFile, lstat, mkdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { systemCode } from '../../core/errors.ts'
import { fsyncFile, fsyncFolder, removeIfThere } from '../../support/durable-files.ts'
import { makeFolders, PRIVATE_FOLDER } from '../../support/file-modes.ts'
import { removeLeftovers, statPath } from '../../support/list-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { atMost } from '../../support/side-by-side.ts'
import type { Engine, Session } from './engine.ts'
import { literal } from './sql.ts'
import { refuseAllButTables } from './untrusted-database.ts'

/** How a database is written: the oldest release of DuckDB that reads it, and the size of its blocks. */
export interface DatabaseForm {
  readonly version: 'v1.0.0' | 'v1.4.0'
  readonly blockBytes: number
}

/** Blocks that make a small file. */
export const SMALL_BLOCK_BYTES = 16_384

const MEMORY_BYTES = 256 * 1024 ** 2

export interface DatabaseParts {
  /** A file made before, which is changed. @default none: an empty one */
  readonly before?: Buffer | undefined
  /** Whether that may be of anybody: it must hold tables alone. @default false */
  readonly isUntrusted?: boolean | undefined
  /** If `before` has smaller blocks it is written again. @default that of `before` */
  readonly form?: DatabaseForm | undefined
  /** Runs the statements, in a transaction. @param folder of this machine, for files that are gone afterwards */
  readonly fill: (session: Session, folder: string) => Promise<void>
}

/** Makes a database. @returns the bytes of its file */
export type MakeDatabase = (parts: DatabaseParts) => Promise<Buffer>

/** The name that a database has while it is made. */
const NAME = 'made'

/** Without a log: a database that is not made to its end is made again. @param form of a file that is not there yet */
const attach = (file: string, name: string, form?: DatabaseForm): string =>
  `ATTACH ${literal(file)} AS ${name} (RECOVERY_MODE NO_WAL_WRITES${form === undefined ? '' : `, STORAGE_VERSION '${form.version}', BLOCK_SIZE ${form.blockBytes}`})`

/** The same content in another form. */
const inForm = (from: string, to: string, form: DatabaseForm): readonly string[] => [
  attach(from, 'before'),
  attach(to, NAME, form),
  `COPY FROM DATABASE before TO ${NAME}`,
  'DETACH before',
]

const blockBytesOf = async (session: Session): Promise<number> => {
  const [row] = await session.rows(
    `SELECT block_size FROM pragma_database_size() WHERE database_name = '${NAME}'`,
  )
  return Number(row?.block_size)
}

/** A folder that no "?" leads to. Systems that allow one in a name have `/tmp`. */
const plainFolder = (): Promise<SpillFolder> => newSpillFolder(tmpdir().includes('?') ? '/tmp' : tmpdir())

/** Files in memory, where DuckDB's syncs, which it cannot do without, cost nothing. */
const MEMORY_FOLDER = '/dev/shm'
/** Room that must be there: containers have 64 MiB unless told otherwise. */
const NEEDED_BYTES = 512 * 1024 ** 2
/** Larger databases are made on the disk: what is in memory counts towards the limit of a container. */
const MOST_IN_MEMORY = 64 * 1024 ** 2

/** A folder for a database that is made and read back; `undefined` where there is no memory for it. */
const memoryFolder = async (): Promise<SpillFolder | undefined> => {
  const found = await statfs(MEMORY_FOLDER).catch(() => null)
  if (found === null || found.bavail * found.bsize < NEEDED_BYTES) return undefined
  return newSpillFolder(MEMORY_FOLDER)
}

/** A database file that a session has attached. */
export interface AttachedDatabase {
  /** Path of the file meanwhile. */
  readonly path: string
  /** Detaches it and keeps what was committed. */
  readonly save: () => Promise<void>
  /** Detaches it, whatever becomes of the file. */
  readonly drop: () => Promise<void>
}

/**
 * Attaches a database file, wherever it stands.
 *
 * @param options of ATTACH, such as `BLOCK_SIZE 16384`
 */
export const attachDatabase = async (
  session: Session,
  file: string,
  name: string,
  options: readonly string[] = [],
): Promise<AttachedDatabase> => {
  const attach = (path: string, how: readonly string[], as: string): Promise<void> =>
    session.run(`ATTACH ${literal(path)} AS ${as}${how.length === 0 ? '' : ` (${how.join(', ')})`}`)
  const detach = (): Promise<void> => session.run(`DETACH ${name}`)
  if (!dirname(resolve(file)).includes('?')) {
    await attach(file, options, name)
    return { path: file, save: detach, drop: detach }
  }
  // DuckDB takes a "?" for the begin of options, and would keep the log of `a?b/x.duckdb` at `a.wal?b/x.duckdb`.
  const folder = await plainFolder()
  const path = join(folder.path, basename(file))
  const original = `${name}_original`
  const isThere = (await statPath(file)) !== null
  const end = async (): Promise<void> => {
    if (isThere) await session.run(`DETACH ${original}`)
    folder.remove()
  }
  try {
    await makeFolders(folder.path)
    if (isThere) {
      // Keeps others from writing to it.
      await attach(file, ['READ_ONLY'], original)
      await copyFile(file, path)
    }
    await attach(path, options, name)
  } catch (error) {
    await end().catch(() => folder.remove())
    throw error
  }
  return {
    path,
    save: async () => {
      await detach()
      await placeCopy(path, file)
      await end()
    },
    drop: () => detach().finally(end),
  }
}

const placeCopy = async (from: string, to: string): Promise<void> => {
  const copy = join(dirname(to), temporaryName())
  try {
    await copyFile(from, copy)
    await fsyncFile(copy)
    await rename(copy, to)
  } catch (error) {
    await removeIfThere(copy)
    throw error
  }
  await fsyncFolder(dirname(to))
}

/** A locked engine of its own in which databases are made. */
export interface Databases {
  readonly make: MakeDatabase
  readonly close: () => void
}

/**
 * Makes databases in an engine, one after the other: beside a transaction of another one DuckDB would not write the file that it
 * detaches.
 *
 * @param folder for files of their own, and for large databases @param inMemory for small ones
 */
const databaseMaker = (engine: Engine, folder: string, inMemory: string): MakeDatabase => {
  const inTurn = atMost(1)
  const make: MakeDatabase = async ({ before, isUntrusted = false, form, fill }) => {
    const isLarge =
      (before?.length ?? 0) > MOST_IN_MEMORY || (form?.blockBytes ?? SMALL_BLOCK_BYTES) > SMALL_BLOCK_BYTES
    const place = isLarge ? folder : inMemory
    const [smaller, file] = [join(place, 'smaller.duckdb'), join(place, 'made.duckdb')] as const
    const session = await engine.connect()
    const run = async (...statements: readonly string[]): Promise<void> => {
      for (const sql of statements) await session.run(sql)
    }
    try {
      if (before !== undefined) await writeFile(file, before)
      await run(attach(file, NAME, before === undefined ? form : undefined))
      if (isUntrusted) await refuseAllButTables(session, NAME)
      const isSmall = before !== undefined && form !== undefined
      if (isSmall && (await blockBytesOf(session)) < form.blockBytes) {
        await run(`DETACH ${NAME}`)
        await rename(file, smaller)
        await run(...inForm(smaller, file, form))
      }
      await run(`USE ${NAME}; BEGIN`)
      await fill(session, folder)
      await run(`COMMIT; CHECKPOINT ${NAME}; USE memory; DETACH ${NAME}`)
      return await readFile(file)
    } catch (error) {
      // The next one takes the same name.
      await run('ROLLBACK').catch(() => undefined)
      await run('USE memory', `DETACH ${NAME}`).catch(() => undefined)
      throw error
    } finally {
      session.close()
      for (const path of [smaller, file]) await rm(path, { force: true })
    }
  }
  return (parts) => inTurn(() => make(parts))
}

/**
 * Opens a locked engine for databases.
 *
 * @param folders absolute, whose files `fill` reads or writes, beside those of its own folder @default none
 */
export const openDatabases = async (folders: readonly string[] = []): Promise<Databases> => {
  const folder = await plainFolder()
  const own = [folder]
  const close = (): void => {
    for (const one of own) one.remove()
  }
  try {
    const inMemory = await memoryFolder()
    if (inMemory !== undefined) own.push(inMemory)
    // A spill folder may be missing: DuckDB makes it where it needs one.
    for (const { path } of own) await makeFolders(path)
    const { Engine } = await import('./engine.ts')
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1, spillFolder: folder.path })
    const locking = await engine.connect()
    await locking.lock([...own.map(({ path }) => path), ...folders])
    locking.close()
    return {
      make: databaseMaker(engine, folder.path, own.at(-1)?.path ?? folder.path),
      close: () => {
        engine.close()
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Makes databases in a locked engine that is closed afterwards. @param folders as `openDatabases` has them */
export const withDatabases = async <T>(
  use: (make: MakeDatabase) => Promise<T>,
  folders: readonly string[] = [],
): Promise<T> => {
  const { make, close } = await openDatabases(folders)
  try {
    return await use(make)
  } finally {
    close()
  }
}

const ATTEMPTS = 5

export interface SpillFolder {
  /** Absolute. */
  readonly path: string
  readonly remove: () => void
}

/** Makes the folder that only this user can use. @returns whether it is one: anybody could have made that name */
const ownFolder = async (folder: string, user: number | undefined): Promise<boolean> => {
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER })
    return true
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') return false
  }
  const found = await lstat(folder).catch(() => null)
  return found?.isDirectory() === true && (user === undefined || found.uid === user)
}

/** Makes a folder of its own below the user's; `null` where there can be none. */
const makeBelow = async (above: string, user: number | undefined): Promise<string | null> => {
  const path = join(above, temporaryName())
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (!(await ownFolder(above, user))) return null
    try {
      await mkdir(path, { mode: PRIVATE_FOLDER })
      return path
    } catch (error) {
      // The last one to leave takes the user's folder away: it may have gone in between.
      if (systemCode(error) !== 'ENOENT') return null
    }
  }
  return null
}

/** A folder of its own; leftovers of killed processes of this user are removed. Never fails: DuckDB may not need it. */
export const newSpillFolder = async (temporary = tmpdir()): Promise<SpillFolder> => {
  const user = process.getuid?.()
  const above = join(temporary, user === undefined ? 'firmlake' : `firmlake-${user}`)
  const below = await makeBelow(above, user)
  if (below !== null) await removeLeftovers(above).catch(() => undefined)
  const path = below ?? join(temporary, temporaryName())
  if (below === null) await mkdir(path, { mode: PRIVATE_FOLDER }).catch(() => undefined)
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true })
    if (below === null) return
    try {
      rmdirSync(above)
    } catch {
      // Others use it.
    }
  }
  return { path, remove }
}
