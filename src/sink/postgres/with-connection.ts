/**
 * A connection to PostgreSQL from a URL and the usual environment (PGHOST, PGUSER, PGPASSWORD, …), and what the server
 * answers as errors of the toolkit: no password, no value of a row.
 */

import type { Client, ClientConfig } from 'pg'
import { type ErrorCode, systemCode, ToolkitError } from '../../core/errors.ts'
import { readTls, tlsHint } from './tls.ts'

/** The action of a failed attempt, and its server. */
export interface Attempt {
  /** `load table "companies"` */
  readonly action: string
  /** `localhost:5432/firmlake` */
  readonly server: string
}

/**
 * Classes of SQLSTATE whose message names objects and no data, and whether someone has to change something first
 * (REFUSED) or trying again may help (FAILED).
 */
const CLASSES: Readonly<Record<string, { readonly code: ErrorCode; readonly isShown: boolean }>> = {
  '08': { code: 'TARGET_FAILED', isShown: true },
  '0A': { code: 'TARGET_REFUSED', isShown: true },
  '22': { code: 'TARGET_REFUSED', isShown: false },
  '23': { code: 'TARGET_REFUSED', isShown: false },
  '25': { code: 'TARGET_REFUSED', isShown: true },
  '28': { code: 'TARGET_REFUSED', isShown: true },
  '2B': { code: 'TARGET_REFUSED', isShown: true },
  '3D': { code: 'TARGET_REFUSED', isShown: true },
  '3F': { code: 'TARGET_REFUSED', isShown: true },
  '40': { code: 'TARGET_FAILED', isShown: true },
  '42': { code: 'TARGET_REFUSED', isShown: true },
  '53': { code: 'TARGET_FAILED', isShown: true },
  '54': { code: 'TARGET_REFUSED', isShown: true },
  '55': { code: 'TARGET_FAILED', isShown: true },
  '57': { code: 'TARGET_FAILED', isShown: true },
  '58': { code: 'TARGET_FAILED', isShown: true },
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/** Facts of an answer that name no data: table, column, constraint. */
const NAMES = ['table', 'column', 'constraint'] as const

const namesOf = (error: object): string =>
  NAMES.flatMap((part) => {
    const name: unknown = Reflect.get(error, part)
    return typeof name === 'string' && name !== '' ? [` ${part} "${name}"`] : []
  }).join(',')

/** The message of a server's answer, or where it might hold data only what it is about. */
const reasonOf = (error: Error, state: string, isShown: boolean): string =>
  isShown ? `${error.message} (${state})` : `it does not take a value (${state})${namesOf(error)}`

/** Problems of the address or of TLS: the same address fails again. */
const ADDRESS_CODES = /^(ENOTFOUND|EACCES|EPERM|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_INVALID)/

/** The server's own text of an answer may hold rows in its detail: it is not handed on as a cause. */
const targetError = ({ action, server }: Attempt, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const start = `Cannot ${action} at PostgreSQL server "${server}"`
  if (!(error instanceof Error)) return new ToolkitError('TARGET_FAILED', `${start}: ${String(error)}`)
  const state = systemCode(error) ?? ''
  if (SQLSTATE.test(state) && 'severity' in error) {
    const { code, isShown } = CLASSES[state.slice(0, 2)] ?? { code: 'TARGET_FAILED', isShown: false }
    return new ToolkitError(code, `${start}: ${reasonOf(error, state, isShown)}`, { sqlstate: state })
  }
  const refused =
    ADDRESS_CODES.test(state) ||
    /server does not support SSL|must be a string|no pg_hba|certificate/i.test(error.message)
  // A name with several addresses has a failure for each, and the whole has no message.
  const reason = NO_PASSWORD.test(error.message)
    ? 'it asks for a password and none is given; set PGPASSWORD, or put it into ~/.pgpass'
    : `${error.message || state}${tlsHint(error)}`
  return new ToolkitError(refused ? 'TARGET_REFUSED' : 'TARGET_FAILED', `${start}: ${reason}`, {}, error)
}

/** Said by the driver where a server asks for a password and there is none. */
const NO_PASSWORD = /client password must be a/

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
  const { address, tlsTo } = await readTls(url, process.env)
  const config: ClientConfig = {
    connectionString: address,
    connectionTimeoutMillis: limitMs ?? CONNECT_TIMEOUT_MS,
    ...(limitMs !== undefined && { query_timeout: limitMs }),
    keepAlive: true,
    application_name: 'firmlake',
  }
  try {
    if (!/^postgres(ql)?:\/\//i.test(url)) throw new TypeError('another scheme')
    // The host may come from the address or the environment: the driver says which one it is.
    const { host } = new pg.Client({ ...config, ssl: true })
    return new pg.Client({ ...config, ...tlsTo(host) })
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

/** Ends the backend by a second connection: the first one is busy. If there is none, the first is closed from this side at least. */
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
