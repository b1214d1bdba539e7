/** DuckDB's extension httpfs, which `.ci/install-tools` installs. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TOOLS } from './s3-server.ts'

export const HTTPFS = join(TOOLS, 'httpfs.duckdb_extension')

/** What is missing to read in place, if anything is. */
export const missingHttpfs = (): string | undefined => (existsSync(HTTPFS) ? undefined : `no "${HTTPFS}"`)
