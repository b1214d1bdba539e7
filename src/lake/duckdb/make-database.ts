/** Makes a DuckDB file that holds what statements make, readable by older releases of DuckDB. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from './engine.ts'
import { newSpillFolder } from './spill-folder.ts'
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

/** @returns the bytes of the file */
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
