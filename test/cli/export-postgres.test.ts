/** PostgreSQL as a target of the command line, on a real server. */

import type { ChildProcess } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { ADMIN, PASSWORD, withClient } from '../support/postgres-server.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { cli, errorCode, SAMPLE_COMPANIES } from './run-cli.ts'

const server = usePostgres()
let url = ''
/** An argument has no password. */
const newUrl = async (): Promise<string> => server().url(await server().newDatabase(), ADMIN, '')
beforeEach(async () => {
  stubEnvironment({ PGPASSWORD: PASSWORD })
  url ||= await newUrl()
})

const countOf = (table: string): Promise<string | undefined> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM firmlake.${table}`)
    return rows[0]?.n
  })

test('a run delivers to PostgreSQL, and export brings it in step', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const { code, stderr } = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', lake, '--sink', url])
  expect(code).toBe(0)
  expect(stderr).toMatch(/Delivered 1 run to postgres/)
  expect(await countOf('companies')).toBe('300')
  await runCommandJson(['export', '--lake', lake, '--to', url])
  expect(await countOf('companies')).toBe('300')
  await runCommandJson([
    'export',
    '--lake',
    lake,
    '--to',
    url,
    '--sql',
    'SELECT 42 AS answer',
    '--table',
    'answers',
  ])
  expect(await countOf('answers')).toBe('1')
})

test('a server that is not there is TARGET_FAILED, and no password is told', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  stubEnvironment({ PGPASSWORD: 'very-secret' })
  const nobody = 'postgres://someone@127.0.0.1:1/nothing'
  const failed = await runCommand([
    'export',
    '--lake',
    lake,
    '--to',
    nobody,
    '--table',
    'line_items',
    '--json',
  ])
  expect([failed.code, errorCode(failed)]).toEqual([1, 'TARGET_FAILED'])
  expect(failed.stderr).not.toContain('very-secret')
})

test('Ctrl-C ends a load with 130, and neither staged rows nor a part of them are left', async () => {
  const folder = await temporaryFolder()
  const [lake, temporary] = [join(folder, 'lake'), join(folder, 'temporary')]
  await mkdir(temporary)
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  const own = await newUrl()
  await withClient(own, async (other) => {
    // What a load waits for that finds another one at work.
    await other.query("SELECT pg_advisory_lock(hashtextextended('firmlake firmlake', 0))")
    let child: ChildProcess | undefined
    const running = cli(['export', '--lake', lake, '--to', own, '--table', 'companies'], {
      env: { TMPDIR: temporary },
      onStart: (one) => (child = one),
    })
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'firmlake'
      AND datname = current_database() AND wait_event_type = 'Lock'`
    await expect
      .poll(async () => (await other.query(waiting)).rows.length, { interval: 20, timeout: 20_000 })
      .toBe(1)
    child?.kill('SIGINT')
    const { code, stderr } = await running
    expect(code).toBe(130)
    expect(stderr).not.toContain('resume')
    expect((await other.query("SELECT to_regnamespace('firmlake') AS schema")).rows).toEqual([
      { schema: null },
    ])
  })
  expect((await readdir(temporary, { recursive: true })).filter((name) => name.includes('.tmp-'))).toEqual([])
})
