/** Makes a DuckDB file that holds what statements make, readable by older releases of DuckDB. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from './engine.ts'
import { newSpillFolder } from './spill-folder.ts'
import { literal } from './sql.ts'

/** The oldest form that holds all that views and macros need. */
const STORAGE_VERSION = 'v1.0.0'
const MEMORY_BYTES = 256 * 1024 ** 2

/** @returns the bytes of the file */
export const makeDatabase = async (statements: readonly string[]): Promise<Buffer> => {
  const folder = await newSpillFolder()
  try {
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1 })
    const file = join(folder.path, 'made.duckdb')
    try {
      const session = await engine.connect()
      await session.run(`ATTACH ${literal(file)} AS made (STORAGE_VERSION '${STORAGE_VERSION}')`)
      await session.run(
        ['USE made', 'BEGIN', ...statements, 'COMMIT', 'USE memory', 'DETACH made'].join(';\n'),
      )
    } finally {
      engine.close()
    }
    return await readFile(file)
  } finally {
    folder.remove()
  }
}
