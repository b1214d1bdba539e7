/** What `doctor --online` says of a PostgreSQL server. */

import { expect, test } from 'vitest'
import { askServer, needsOf } from '../../src/doctor/check-targets.ts'
import { PASSWORD, withClient } from '../support/postgres-server.ts'
import { usePostgres } from '../support/use-postgres.ts'

const server = usePostgres()

const told = async (sink: string): Promise<readonly [state: string, says: string]> => {
  const { servers, parts } = needsOf(undefined, [sink])
  expect([...parts]).toEqual(['postgres'])
  const [one] = servers
  if (one === undefined) throw new Error('the address is of no server')
  const { state, says } = await askServer(one, 10_000)
  expect(says).not.toContain(PASSWORD)
  return [state, says]
}

test('a database is connected, and nothing is made in it', async () => {
  const database = await server().newDatabase()
  const url = server().url(database)
  expect(await told(url)).toEqual(['well', expect.stringMatching(/^PostgreSQL \d+.* at ".*\/test\d+"$/)])
  const schemas = await withClient(url, (client) =>
    client.query(`SELECT nspname FROM pg_namespace WHERE nspname = 'firmlake'`),
  )
  expect(schemas.rows).toEqual([])
})

test('a wrong password, a database that is not there and a port where nobody listens are said', async () => {
  const database = await server().newDatabase()
  expect(await told(server().url(database, undefined, 'wrong-1'))).toEqual([
    'missing',
    expect.stringMatching(/^TARGET_REFUSED: .*password authentication failed/),
  ])
  expect((await told(server().url('nowhere')))[1]).toMatch(/^TARGET_REFUSED: .*"nowhere" does not exist/)
  expect((await told(`postgres://me:${PASSWORD}@127.0.0.1:1/x`))[1]).toMatch(/^TARGET_FAILED: .*ECONNREFUSED/)
})

test('a user who may make no tables is said, with the right that is missing', async () => {
  const database = await server().newDatabase()
  await withClient(server().url(database), (client) =>
    client.query(`CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'`),
  )
  const url = server().url(database, 'reader')
  expect((await told(url))[1]).toContain(
    'the user "reader" may not make the schema "firmlake", expected GRANT CREATE',
  )
  await withClient(server().url(database), (client) => client.query('CREATE SCHEMA firmlake'))
  expect((await told(url))[1]).toContain('may not make tables in the schema "firmlake"')
  await withClient(server().url(database), (client) =>
    client.query('GRANT CREATE, USAGE ON SCHEMA firmlake TO reader'),
  )
  expect((await told(url))[0]).toBe('well')
})
