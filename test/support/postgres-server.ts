/** A PostgreSQL server of the tests' own: in a temporary folder, on a socket, as a user who may run one. */

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'

/** Where Debian and others keep the server's programs. */
const PROGRAM_FOLDERS = ['/usr/lib/postgresql', '/usr/local/opt', '/opt/homebrew/opt']

const run = (program: string, args: readonly string[]) =>
  spawnSync(program, args, { encoding: 'utf8', cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })

/** The newest version's folder of programs; `undefined` where there is none. */
const findPrograms = (): string | undefined => {
  const found = PROGRAM_FOLDERS.flatMap((folder) => {
    try {
      return readdirSync(folder).map((version) => join(folder, version, 'bin'))
    } catch {
      return []
    }
  }).filter((folder) => run(join(folder, 'initdb'), ['--version']).status === 0)
  const version = (folder: string): number => Number(/\d+/.exec(folder)?.[0])
  return found.toSorted((a, b) => version(b) - version(a))[0]
}

const isRoot = process.getuid?.() === 0

/** The server refuses to run as root. */
const asServer = (program: string, args: readonly string[]) =>
  isRoot
    ? run('setpriv', ['--reuid=postgres', '--regid=postgres', '--init-groups', program, ...args])
    : run(program, args)

/** What is missing to run a server, for `needs`. */
export const postgresMissing = (): string | undefined => {
  const programs = findPrograms()
  if (programs === undefined) return `no "initdb" below ${PROGRAM_FOLDERS.join(' or ')}`
  const tried = asServer(join(programs, 'postgres'), ['--version'])
  return tried.status === 0 ? undefined : (tried.error?.message ?? tried.stderr.trim())
}

export const ADMIN = 'postgres'
/** Told apart from everything else in a message. */
export const PASSWORD = 'geheim-7f3a'

export interface PostgresServer {
  /** Folder of `psql` and the others. */
  readonly programs: string
  /** The URL of a database, by default of the administrator and with the right password. */
  readonly url: (database: string, user?: string, password?: string) => string
  /** A new, empty database. @returns its name */
  readonly newDatabase: (more?: string) => Promise<string>
  readonly start: () => void
  /** Ends it at once, with all its processes, as a power failure would. */
  readonly kill: () => void
  /** Ends it for good and removes its files. */
  readonly remove: () => void
}

const succeed = (what: string, { status, stderr, stdout, error }: ReturnType<typeof run>): void => {
  if (status !== 0) throw new Error(`${what} failed: ${error?.message ?? ''} ${stderr} ${stdout}`)
}

const MAX_ATTEMPTS = 50
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

/**
 * Starts a server. @param durable writes to the disk as a real one does; otherwise it is only fast
 */
export const startPostgres = ({ durable = false } = {}): PostgresServer => {
  const programs = findPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is missing')
  const folder = mkdtempSync(join(tmpdir(), 'firmlake-pg-'))
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')]
  writeFileSync(passwordFile, PASSWORD)
  chmodSync(folder, 0o755)
  if (isRoot) succeed('chown', run('chown', ['-R', 'postgres:postgres', folder]))
  const initdb = ['-D', data, '-U', ADMIN, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  succeed('initdb', asServer(join(programs, 'initdb'), [...initdb, '-E', 'UTF8', '--locale=C', '--no-sync']))
  const settings = [`unix_socket_directories='${folder}'`, "listen_addresses=''", ...(durable ? [] : FAST)]
  writeFileSync(join(data, 'postgresql.auto.conf'), settings.map((line) => `${line}\n`).join(''))
  const control = (...args: string[]) => asServer(join(programs, 'pg_ctl'), ['-D', data, ...args])
  const tryStart = () => control('start', '-w', '-t', '60', '-l', join(folder, 'log'))
  const start = (): void => {
    let outcome = tryStart()
    // Processes that were just killed may still hold its memory.
    for (let attempt = 1; outcome.status !== 0 && attempt < MAX_ATTEMPTS; attempt += 1) outcome = tryStart()
    succeed('start', outcome)
  }
  start()
  let databases = 0
  const url = (database: string, user = ADMIN, password = PASSWORD): string =>
    `postgres://${user}:${password}@/${database}?host=${folder}`
  return {
    programs,
    url,
    start,
    newDatabase: async (more = '') => {
      databases += 1
      await withClient(url(ADMIN), (client) => client.query(`CREATE DATABASE test${databases} ${more}`))
      return `test${databases}`
    },
    kill: () => {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
      const children = run('ps', ['-o', 'pid=', '--ppid', String(pid)]).stdout
      const pids = [pid, ...children.split('\n').filter(Boolean).map(Number)]
      for (const one of pids) run('kill', ['-9', String(one)])
    },
    remove: () => {
      control('stop', '-m', 'immediate', '-w')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A connection for one piece of work. */
export const withClient = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
