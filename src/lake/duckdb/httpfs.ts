/** DuckDB's extension httpfs, by which it reads ranges over HTTP: found and loaded, never fetched unless allowed. */

import { ToolkitError } from '../../core/errors.ts'
import type { Session } from './engine.ts'
import { literal } from './sql.ts'

/** Where the extension comes from. */
export interface HttpfsSource {
  /** Its file, of the very version of DuckDB. @default `FIRMLAKE_HTTPFS`, else DuckDB's own extension folder */
  readonly httpfs?: string | undefined
  /** Whether DuckDB may download and keep it where it is in neither place. @default false */
  readonly installExtensions?: boolean | undefined
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''

const SETTINGS = [
  // Secrets of this user's own DuckDB are none of the toolkit's, and no statement may read them.
  'allow_persistent_secrets = false',
  // The reader of an address of this machine: a proxy of the environment would be sent the requests.
  "http_proxy = ''",
  "httpfs_client_implementation = 'httplib'",
  // It takes them from the environment, where any statement could read them.
  ...['s3_access_key_id', 's3_secret_access_key', 's3_session_token'].map((name) => `${name} = ''`),
  // Whoever answers repeats what fails, and ends in any case.
  'http_retries = 0',
  'http_timeout = 3600',
  'parquet_metadata_cache = true',
]

/**
 * Loads the extension into a session whose settings are not locked yet, for reading from the loopback.
 *
 * @returns why it is not there; `undefined` when it is loaded
 * @throws {ToolkitError} `USAGE` where the file that was named cannot be loaded, or the download that was allowed failed
 */
export const loadHttpfs = async (
  session: Session,
  { httpfs = process.env.FIRMLAKE_HTTPFS || undefined, installExtensions = false }: HttpfsSource,
): Promise<string | undefined> => {
  try {
    await session.run(`LOAD ${httpfs === undefined ? 'httpfs' : literal(httpfs)}`)
  } catch (error) {
    if (httpfs !== undefined)
      throw new ToolkitError('USAGE', `Cannot load httpfs from "${httpfs}": ${firstLine(error)}`, {}, error)
    if (!installExtensions) return firstLine(error)
    await install(session)
  }
  for (const setting of SETTINGS) await session.run(`SET GLOBAL ${setting}`)
  return undefined
}

const install = async (session: Session): Promise<void> => {
  try {
    await session.run('INSTALL httpfs')
    await session.run('LOAD httpfs')
  } catch (error) {
    throw new ToolkitError(
      'USAGE',
      `Cannot install httpfs: ${firstLine(error)}; leave out --install-extensions to read copies`,
      {},
      error,
    )
  }
}
