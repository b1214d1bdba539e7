/** Whether a delivery to PostgreSQL could begin: the server answers, and the user may write where the tables stand or come to stand. */

import { ToolkitError } from '../../core/errors.ts'
import { withConnection } from './with-connection.ts'

interface Rights {
  readonly version: string
  readonly user: string
  /** Whether the user may make tables in the schema; `null` where it does not exist yet. */
  readonly tables: boolean | null
  /** Whether the user may make the schema. */
  readonly schemas: boolean
}

const RIGHTS = `
  SELECT current_setting('server_version') AS version,
         current_user AS user,
         (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1) AS tables,
         has_database_privilege(current_database(), 'CREATE') AS schemas`

/**
 * Asks, and changes nothing.
 *
 * @returns the server's version and place
 * @throws {ToolkitError} TARGET_REFUSED, TARGET_FAILED
 */
export const probe = (url: string, schema: string, limitMs: number): Promise<string> =>
  withConnection(
    url,
    'connect',
    async ({ client, server }) => {
      const { rows } = await client.query<Rights>(RIGHTS, [schema])
      const [rights] = rows
      if (rights && (rights.tables ?? rights.schemas)) return `PostgreSQL ${rights.version} at "${server}"`
      const what = rights?.tables === null ? `the schema "${schema}"` : `tables in the schema "${schema}"`
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot deliver to PostgreSQL server "${server}": the user "${rights?.user ?? ''}" may not make ${what}, expected GRANT CREATE`,
      )
    },
    limitMs,
  )
