/** A database of the views that are the same for every lake, made once a release on this machine. */

import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeDatabase } from '../../lake/duckdb/make-database.ts'
import { keptViews, MADE_OF_QUERY } from '../../lake/views/lake-sql.ts'
import { sha256Of } from '../../support/hash.ts'
import { readCached, writeCached } from '../../support/user-cache.ts'
import { workBase } from '../../support/work-base.ts'

const HASH_CHARACTERS = 64

/** The bytes after their hash; `undefined` where they are not those that were written. */
const unhashed = (text: Buffer | undefined): Buffer | undefined => {
  const bytes = text?.subarray(HASH_CHARACTERS)
  return bytes && sha256Of(bytes) === text?.toString('latin1', 0, HASH_CHARACTERS) ? bytes : undefined
}

const remember = async (path: string, bytes: Buffer): Promise<void> => {
  try {
    await writeCached(path, Buffer.concat([Buffer.from(sha256Of(bytes), 'latin1'), bytes]))
    const folder = dirname(path)
    for (const name of await readdir(folder))
      if (name.endsWith('.duckdb') && name !== basename(path)) await rm(join(folder, name), { force: true })
  } catch {
    // No home, or no room: they are made again for the next lake.
  }
}

/** The bytes of the database, in which `MADE_OF_QUERY` gives the name of its views. */
export const madeViews = async (env: NodeJS.ProcessEnv = process.env): Promise<Buffer> => {
  const { name, statements } = keptViews()
  const path = join(workBase(env), 'views', `${name.slice(0, 32)}.duckdb`)
  const kept = unhashed(await readCached(path))
  if (kept !== undefined) return kept
  const bytes = await makeDatabase({ ask: MADE_OF_QUERY, name, views: statements, statements: [] })
  await remember(path, bytes)
  return bytes
}
