/**
 * Files that DuckDB makes outside of a lake: a database readable by older releases, and a folder for each engine where it spills
 * what does not fit into memory. Spill folders are below one folder of the user among the temporary files; their names identify
 * their process.
 */

import { rmdirSync, rmSync } from 'node:fs'
import { lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '../../core/errors.ts'
import { removeLeftovers } from '../../support/list-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { Engine, type Session } from './engine.ts'
import { literal } from './sql.ts'

/** The oldest form that holds all that views and macros need. */
const STORAGE_VERSION = 'v1.0.0'
const MEMORY_BYTES = 256 * 1024 ** 2

export interface DatabaseParts {
  /** A file made before, which is changed. @default none: an empty one */
  readonly before?: Buffer | undefined
  /** Least size of blocks: with smaller ones `before` is written again. @default DuckDB's own */
  readonly blockBytes?: number | undefined
  /** Runs the statements, in a transaction. @param folder of this machine, for files that are gone afterwards */
  readonly fill: (session: Session, folder: string) => Promise<void>
}

/** Makes a database. @returns the bytes of its file */
export type MakeDatabase = (parts: DatabaseParts) => Promise<Buffer>

const attach = (file: string, name: string, blockBytes?: number): string =>
  `ATTACH ${literal(file)} AS ${name} (STORAGE_VERSION '${STORAGE_VERSION}'${blockBytes === undefined ? '' : `, BLOCK_SIZE ${blockBytes}`})`

/** The same content in blocks of another size. */
const withBlocks = (from: string, to: string, blockBytes: number): readonly string[] => [
  attach(from, 'before'),
  attach(to, 'made', blockBytes),
  'COPY FROM DATABASE before TO made',
  'DETACH before',
]

const blockBytesOf = async (session: Session): Promise<number> => {
  const [row] = await session.rows(
    "SELECT block_size FROM pragma_database_size() WHERE database_name = 'made'",
  )
  return Number(row?.block_size)
}

/** Makes databases, one after the other, in an engine of their own. */
export const withDatabases = async <T>(use: (make: MakeDatabase) => Promise<T>): Promise<T> => {
  const folder = await newSpillFolder()
  try {
    // A spill folder may be missing: DuckDB makes it where it needs one.
    await mkdir(folder.path, { recursive: true, mode: 0o700 })
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1, spillFolder: folder.path })
    try {
      return await use(async ({ before, blockBytes, fill }) => {
        const [smaller, file] = [
          join(folder.path, 'smaller.duckdb'),
          join(folder.path, 'made.duckdb'),
        ] as const
        const session = await engine.connect()
        const run = async (...statements: readonly string[]): Promise<void> => {
          for (const sql of statements) await session.run(sql)
        }
        try {
          if (before !== undefined) await writeFile(file, before)
          await run(attach(file, 'made', before === undefined ? blockBytes : undefined))
          if (blockBytes !== undefined && (await blockBytesOf(session)) < blockBytes) {
            await run('DETACH made')
            await rename(file, smaller)
            await run(...withBlocks(smaller, file, blockBytes))
          }
          await run('USE made', 'BEGIN')
          await fill(session, folder.path)
          await run('COMMIT', 'USE memory', 'DETACH made')
          return await readFile(file)
        } catch (error) {
          // The next one takes the same name.
          await run('ROLLBACK').catch(() => undefined)
          await run('USE memory', 'DETACH made').catch(() => undefined)
          throw error
        } finally {
          session.close()
          for (const path of [smaller, file]) await rm(path, { force: true })
        }
      })
    } finally {
      engine.close()
    }
  } finally {
    folder.remove()
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
    await mkdir(folder, { mode: 0o700 })
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
      await mkdir(path)
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
