/** What the PostgreSQL sink says when something is wrong, and what is left when a process is killed. */

import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { startChild } from '../support/children.ts'
import { PASSWORD, withClient } from '../support/postgres-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { companies, postgresBench, sales } from './postgres-bench.ts'

const server = usePostgres({ durable: true })

/** The error of loading an empty run. */
const failure = async (url: string): Promise<unknown> => {
  const run = await postgres(url, { staging: await temporaryFolder() }).open('run-1')
  return run.commit([]).then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** A port on which nothing listens. */
const closedPort = async (): Promise<number> => {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('an error', () => {
  test('of a wrong password is TARGET_REFUSED and does not tell it', async () => {
    const error = await failure(server().url('postgres', 'postgres', 'falsch-91'))
    expect(error).toMatchObject({ code: 'TARGET_REFUSED', context: { sqlstate: '28P01' } })
    expect(String(error)).not.toContain('falsch-91')
  })

  test('of no password is TARGET_REFUSED and says where to put it', async () => {
    vi.stubEnv('PGPASSWORD', undefined)
    vi.stubEnv('PGPASSFILE', '/none')
    onTestFinished(() => void vi.unstubAllEnvs())
    const url = server().url('postgres').replace(`:${PASSWORD}@`, '@')
    expect(await failure(url)).toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('asks for a password and none is given; set PGPASSWORD'),
    })
  })

  test('of a missing database is TARGET_REFUSED', async () => {
    const error = await failure(server().url('nowhere'))
    expect(error).toMatchObject({ code: 'TARGET_REFUSED', message: expect.stringContaining('"nowhere"') })
    expect(String(error)).not.toContain(PASSWORD)
  })

  test('of missing rights is TARGET_REFUSED', async () => {
    const database = await server().newDatabase()
    await withClient(server().url(database), (client) => client.query(`CREATE ROLE guest LOGIN PASSWORD 'x'`))
    expect(await failure(server().url(database, 'guest', 'x'))).toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('permission denied'),
    })
  })

  test('of a database in another encoding is TARGET_REFUSED', async () => {
    const database = await server().newDatabase(`ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    expect(await failure(server().url(database))).toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('LATIN1'),
    })
  })

  test('of a server that does not answer is TARGET_FAILED', async () => {
    const error = await failure(`postgres://me:${PASSWORD}@127.0.0.1:${await closedPort()}/db`)
    expect(error).toMatchObject({ code: 'TARGET_FAILED', message: expect.stringContaining('ECONNREFUSED') })
    expect(String(error)).not.toContain(PASSWORD)
  })

  test.each([`http://me:${PASSWORD}@host/db`, `postgres://me:${PASSWORD}@host:port/db`, PASSWORD])(
    'of an address that is none is TARGET_REFUSED and does not tell it',
    async (url) => {
      const error = await failure(url)
      expect(error).toMatchObject({ code: 'TARGET_REFUSED' })
      expect(String(error)).not.toContain(PASSWORD)
    },
  )

  test('of a value names table and class and no value', async () => {
    const { load } = await postgresBench(server().url(await server().newDatabase()))
    const secret = `SELECT ['nan'::DOUBLE] AS numbers, 'secret-5' AS text`
    const error = await load('run-1', { 'p-0': { answer: secret } }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'TARGET_REFUSED', context: { sqlstate: '22P02' }, cause: undefined })
    expect(String(error)).not.toMatch(/secret-5|NaN/i)
  })

  test('of a record twice in a partition is TARGET_REFUSED and names the key', async () => {
    const { load } = await postgresBench(server().url(await server().newDatabase()))
    const twice = companies([1, 'one'], [1, 'uno'])
    await expect(load('run-1', { 'p-0': { companies: twice } })).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('companies_pkey'),
    })
  })
})

/** A database with a run loaded, a second one staged, and a lock that stops its commit in its midst. */
const halfway = async () => {
  const url = server().url(await server().newDatabase())
  const bench = await postgresBench(url)
  const { load, stage, ask } = bench
  await load('run-1', { 'p-0': { companies: companies([1, 'one']), financials: sales([1, 2022, 10]) } })
  const staged = await stage('run-2', {
    'p-0': { companies: companies([1, 'uno'], [2, 'two']), financials: sales([1, 2023, 11]) },
  })
  const { Client } = await import('pg')
  const locker = new Client(url)
  locker.on('error', () => undefined)
  await locker.connect()
  onTestFinished(() => locker.end().catch(() => undefined))
  await locker.query('BEGIN')
  await locker.query('LOCK TABLE firmlake.financials IN ACCESS EXCLUSIVE MODE')
  return {
    ...bench,
    url,
    staged,
    unlock: () => locker.query('ROLLBACK'),
    /** Resolves when `count` sessions wait for a lock. */
    waiting: async (count: number): Promise<void> => {
      let found = ''
      while (found !== String(count)) {
        const [row] = await ask(`SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`)
        found = row?.[0] ?? ''
      }
    },
    state: async () => ({
      companies: await ask('SELECT internal_id, name FROM firmlake.companies ORDER BY 1'),
      years: await ask('SELECT fiscal_year FROM firmlake.financials'),
    }),
  }
}
const BEFORE = { companies: [['1', 'one']], years: [['2022']] }
const AFTER = {
  companies: [
    ['1', 'uno'],
    ['2', 'two'],
  ],
  years: [['2023']],
}

describe('a commit', () => {
  test('of a server that is killed in its midst is gone as a whole, and the next one goes through', async () => {
    const { staged, waiting, state } = await halfway()
    const commit = staged.run.commit(staged.files).catch((reason: unknown) => reason)
    await waiting(1)
    server().kill()
    expect(await commit).toMatchObject({ code: 'TARGET_FAILED' })
    server().start()
    expect(await state()).toEqual(BEFORE)
    await staged.run.commit(staged.files)
    expect(await state()).toEqual(AFTER)
  })

  test('of a server that ends the session is TARGET_FAILED', async () => {
    const { staged, waiting, ask } = await halfway()
    const commit = staged.run.commit(staged.files).catch((reason: unknown) => reason)
    await waiting(1)
    await ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    expect(await commit).toMatchObject({ code: 'TARGET_FAILED' })
  })

  test('of a process that is killed in its midst is gone as a whole, and the next one goes through', async () => {
    const { staged, waiting, unlock, state, url, staging, sink } = await halfway()
    const child = startChild(
      new URL('child-loads-postgres.ts', import.meta.url),
      url,
      staging,
      'run-2',
      JSON.stringify(staged.files),
    )
    await waiting(1)
    await child.kill()
    await unlock()
    expect(await state()).toEqual(BEFORE)
    await (await sink().open('run-2')).commit(staged.files)
    expect(await state()).toEqual(AFTER)
  })
})
