/** A connection to PostgreSQL: from a URL and the usual environment (PGHOST, PGUSER, PGPASSWORD, …). */

import type { Client, ClientConfig } from 'pg'
import { ToolkitError } from '../../core/errors.ts'
import { type Attempt, targetError } from './target-error.ts'

const CONNECT_TIMEOUT_MS = 30_000

export interface PostgresConnection {
  readonly client: Client
  /** Host, port and database, for messages. */
  readonly server: string
  /** Ends it at the server too, which otherwise would finish the statement that it is at and keep its locks so long. */
  readonly terminate: () => Promise<void>
}

const serverOf = ({ host, port, database }: Client): string =>
  host.startsWith('/') ? `${host}/${database ?? ''}` : `${host}:${port}/${database ?? ''}`

/** A bad address is reported without its text: the password stands in it. */
const newClient = async (url: string, limitMs?: number): Promise<Client> => {
  const pg = await import('pg')
  const config: ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: limitMs ?? CONNECT_TIMEOUT_MS,
    ...(limitMs !== undefined && { query_timeout: limitMs }),
    keepAlive: true,
    application_name: 'firmlake',
  }
  try {
    if (!/^postgres(ql)?:\/\//i.test(url)) throw new TypeError('another scheme')
    return new pg.Client(config)
  } catch {
    throw new ToolkitError(
      'TARGET_REFUSED',
      'Cannot read the address of the PostgreSQL server: expected postgres://user@host:port/database',
    )
  }
}

/** Waits for the end of the connection; whether that fails is of no interest any more. */
const endQuietly = async (client: Client): Promise<void> => {
  await client.end().catch(() => undefined)
}

/**
 * Opens a connection for `work` and closes it in every case; a transaction left open by an error is rolled back by it.
 *
 * @param limitMs longest wait for the connection and for each statement @default 30 s for the connection alone
 * @throws {ToolkitError} TARGET_REFUSED, TARGET_FAILED
 */
export const withConnection = async <T>(
  url: string,
  action: string,
  work: (connection: PostgresConnection) => Promise<T>,
  limitMs?: number,
): Promise<T> => {
  const client = await newClient(url, limitMs)
  const attempt: Attempt = { action, server: serverOf(client) }
  // A connection that ends between two statements says so here; the next statement fails and is reported.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseOtherEncoding(client, attempt)
    const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid')
    const terminate = (): Promise<void> => terminateBackend(url, client, rows[0]?.pid)
    return await work({ client, server: attempt.server, terminate })
  } catch (error) {
    throw targetError(attempt, error)
  } finally {
    await endQuietly(client)
  }
}

/** By a second connection: the first one is busy. Where there is none, it is closed from this side at least. */
const terminateBackend = async (url: string, client: Client, pid: number | undefined): Promise<void> => {
  try {
    const second = await newClient(url)
    second.on('error', () => undefined)
    try {
      await second.connect()
      await second.query('SELECT pg_terminate_backend($1)', [pid])
    } finally {
      await endQuietly(second)
    }
  } catch {
    // Reported by the work that fails now.
  }
  await endQuietly(client)
}

/**
 * Does all of some work, or nothing of it.
 *
 * @param signal ends the connection, and the transaction with it; while it commits it has no effect
 * @throws {ToolkitError} `INTERRUPTED` after the signal; errors of the server as they came
 */
export const inTransaction = async <T>(
  { client, terminate }: PostgresConnection,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  const stopped = (cause: unknown): ToolkitError => new ToolkitError('INTERRUPTED', 'interrupted', {}, cause)
  if (signal?.aborted) throw stopped(signal.reason)
  let ended: Promise<void> | undefined
  const stop = (): void => {
    ended = terminate()
  }
  signal?.addEventListener('abort', stop, { once: true })
  let result: T
  try {
    await client.query('BEGIN')
    result = await work()
    if (signal?.aborted) throw stopped(signal.reason)
  } catch (error) {
    await ended
    throw signal?.aborted ? stopped(error) : error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  await client.query('COMMIT')
  return result
}

/** Only a database in UTF-8 holds every text. */
const refuseOtherEncoding = async (client: Client, { server }: Attempt): Promise<void> => {
  const { rows } = await client.query<{ readonly server_encoding: string }>('SHOW server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding === 'UTF8') return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot use the database at PostgreSQL server "${server}": its encoding is ${encoding}, expected UTF8`,
  )
}
