/** A backup takes the lake's place, by every format and database that `restored-lake.test.ts` leaves out. */

import { join } from 'node:path'
import { test } from 'vitest'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { withConnection } from '../../src/sink/postgres/with-connection.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { expectRefusedUntilAnew, folderOf, type Target } from './restored-target.ts'

const server = usePostgres()

const postgresAt = async (): Promise<Target> => {
  const url = server().url(await server().newDatabase())
  return {
    address: postgres(url),
    ids: () =>
      withConnection(url, 'ask', async ({ client }) =>
        (await client.query('SELECT internal_id FROM firmlake.companies ORDER BY 1')).rows.map((row) =>
          Number(row.internal_id),
        ),
      ),
  }
}

test('deliver to postgres: what the lake has lost is refused, and gone with overwrite', () =>
  expectRefusedUntilAnew(postgresAt))

test.each(['csv', 'jsonl', 'arrow', 'arrows'])(
  'deliver to %s: what the lake has lost is refused, and gone with overwrite',
  (format) => expectRefusedUntilAnew((one, runs) => folderOf(format, join(one.folder, 'out'), runs)),
)
