/** The process that tries to install httpfs into a folder that goes away: what hangs in DuckDB ends with its process alone. */

import { Engine } from '../../lake/duckdb/engine.ts'
import { loadHttpfs } from '../../lake/duckdb/httpfs.ts'
import { literal } from '../../lake/duckdb/sql.ts'

const [, , folder = '', repository = ''] = process.argv

const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
try {
  const session = await engine.connect()
  await session.run(`SET extension_directory = ${literal(folder)}`)
  if (repository !== '') await session.run(`SET custom_extension_repository = ${literal(repository)}`)
  await loadHttpfs(session, { installExtensions: true })
} catch {
  process.exitCode = 1
} finally {
  engine.close()
}
