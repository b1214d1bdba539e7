/** DuckDB's extension ducklake, which `.ci/install-tools` installs: of our DuckDB and of the oldest that can read a `lake.ducklake`. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TOOLS } from './s3-server.ts'

/** Releases of DuckDB that are held against `lake.ducklake`. */
export type DuckLakeRelease = '1.5.2' | '1.5.5'

/** The extension for a release of DuckDB, as `LOAD` takes it. */
export const duckLakeFile = (release: DuckLakeRelease = '1.5.5'): string =>
  join(TOOLS, `ducklake-${release}`, 'ducklake.duckdb_extension')

/** Python that finds DuckDB 1.5.2: the program and the environment that it is started with. */
export const PYTHON_OF_OLDEST = {
  python: join(TOOLS, 'python', 'bin', 'python'),
  env: { PYTHONPATH: join(TOOLS, 'duckdb-1.5.2'), PYTHONDONTWRITEBYTECODE: '1' },
} as const

/** What is missing to attach a `lake.ducklake`, for 1.5.2 with Python; for `needs`. */
export const missingDuckLake = (release: DuckLakeRelease = '1.5.5'): string | undefined => {
  const files = [
    duckLakeFile(release),
    ...(release === '1.5.2' ? [PYTHON_OF_OLDEST.python, PYTHON_OF_OLDEST.env.PYTHONPATH] : []),
  ]
  const missing = files.find((file) => !existsSync(file))
  return missing === undefined ? undefined : `no "${missing}"; run .ci/install-tools`
}
