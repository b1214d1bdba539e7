/** A PostgreSQL server for the tests of a file. */

import { afterAll, beforeAll, beforeEach } from 'vitest'
import { needs } from './needs.ts'
import { type PostgresServer, postgresMissing, startPostgres } from './postgres-server.ts'

/**
 * Starts a server before the tests of a file and removes it after them; where there is none to start they are skipped.
 *
 * @returns the server, for tests and hooks that run before each of them
 */
export const usePostgres = (options: Parameters<typeof startPostgres>[0] = {}): (() => PostgresServer) => {
  const missing = postgresMissing()
  let server: PostgresServer | undefined
  beforeAll(() => {
    if (missing === undefined) server = startPostgres(options)
  })
  afterAll(() => server?.remove())
  beforeEach((context) => needs(context, 'a PostgreSQL server', missing))
  return () => {
    if (server === undefined) throw new Error('Cannot use the PostgreSQL server: it is not started yet')
    return server
  }
}
