/** DuckDB's extension httpfs, by which it reads ranges over HTTP: found and loaded, never fetched. */

import { messageOf, ToolkitError } from '../../core/errors.ts'
import type { Session } from './engine.ts'
import { literal } from './sql.ts'

const firstLine = (error: unknown): string => messageOf(error).split('\n', 1)[0] ?? ''

const SETTINGS = [
  // Secrets of this user's own DuckDB are none of the toolkit's, and no statement may read them.
  'allow_persistent_secrets = false',
  // The reader of an address of this machine: a proxy of the environment would be sent the requests.
  "http_proxy = ''",
  "httpfs_client_implementation = 'httplib'",
  // httpfs takes credentials from the environment, where any statement could read them.
  ...['s3_access_key_id', 's3_secret_access_key', 's3_session_token'].map((name) => `${name} = ''`),
  // The server that answers retries by itself, and ends in any case.
  'http_retries = 0',
  'http_timeout = 3600',
  'enable_external_file_cache = true',
]

/**
 * Loads the extension into a session whose settings are not locked yet, for reading from the loopback.
 *
 * @param file of the very version of DuckDB @default `FIRMLAKE_HTTPFS`, else it is looked for in DuckDB's own extension folder
 * @returns why it is not there; `undefined` when it is loaded
 * @throws {ToolkitError} `USAGE` where the file that was named cannot be loaded
 */
export const loadHttpfs = async (
  session: Session,
  file = process.env.FIRMLAKE_HTTPFS || undefined,
): Promise<string | undefined> => {
  try {
    await session.run(`LOAD ${file === undefined ? 'httpfs' : literal(file)}`)
  } catch (error) {
    if (file === undefined) return firstLine(error)
    throw new ToolkitError('USAGE', `Cannot load httpfs from "${file}": ${firstLine(error)}`, {}, error)
  }
  for (const setting of SETTINGS) await session.run(`SET GLOBAL ${setting}`)
  return undefined
}
