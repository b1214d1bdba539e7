/**
 * Files that DuckDB makes outside of a lake: a database readable by older releases, and a folder for each engine where it spills
 * what does not fit into memory. Spill folders are below one folder of the user among the temporary files; their names identify
 * their process.
 */

import { rmdirSync, rmSync } from 'node:fs'
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '../../core/errors.ts'
import { removeLeftovers } from '../../support/list-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { Engine } from './engine.ts'
import { literal } from './sql.ts'

/** The oldest form that holds all that views and macros need. */
const STORAGE_VERSION = 'v1.0.0'
const MEMORY_BYTES = 256 * 1024 ** 2

export interface DatabaseParts {
  /** A file made before, whose views are used again where `ask` gives `name`. @default none */
  readonly before?: Buffer | undefined
  readonly ask: string
  readonly name: string
  readonly views: readonly string[]
  /** Run in any case. */
  readonly statements: Iterable<string> | AsyncIterable<string>
}

/** Makes a database of statements. @returns the bytes of its file */
export const makeDatabase = async ({
  before,
  ask,
  name,
  views,
  statements,
}: DatabaseParts): Promise<Buffer> => {
  const folder = await newSpillFolder()
  try {
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1 })
    const file = join(folder.path, 'made.duckdb')
    try {
      const session = await engine.connect()
      if (before !== undefined) await writeFile(file, before)
      await session.run(`ATTACH ${literal(file)} AS made (STORAGE_VERSION '${STORAGE_VERSION}')`)
      await session.run('USE made')
      const [found] = before === undefined ? [] : await session.rows(ask).catch(() => [])
      const missing = found !== undefined && Object.values(found)[0] === name ? [] : views
      for (const sql of ['BEGIN', ...missing]) await session.run(sql)
      for await (const sql of statements) await session.run(sql)
      for (const sql of ['COMMIT', 'USE memory', 'DETACH made']) await session.run(sql)
    } finally {
      engine.close()
    }
    return await readFile(file)
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
