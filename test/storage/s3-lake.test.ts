/** Whole commands on a lake in a bucket: runs that race, a server that is killed in their midst, readers. */

import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, type TestContext, test, vi } from 'vitest'
import { listTree } from '../../src/support/list-files.ts'
import { cli, errorCode, SAMPLE, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import type { S3Server } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { Fate, Passing } from './loopback-proxy.ts'
import { type Bench, LAKE, s3Bench } from './s3-bench.ts'
import { cliAnew, cliJsonAnew } from './s3-cli.ts'

// Several commands one after the other, each a process of its own.
vi.setConfig({ testTimeout: 240_000 })

const COUNTS = `SELECT (SELECT count(*) FROM companies) AS companies, (SELECT count(*) FROM financials) AS financials,
  (SELECT round(sum(value)) FROM financials) AS value`

const counted = (lake: string): Promise<unknown> => cliJsonAnew(['query', '--lake', lake, COUNTS])

/** What a folder gives for the same files. */
const expected = async (...sources: readonly string[]): Promise<unknown> => {
  const lake = join(await temporaryFolder(), 'lake')
  expect(await cliAnew(['convert', ...sources, '--lake', lake])).toMatchObject({ code: 0 })
  return await counted(lake)
}

const isTableFile = ({ method, url }: Passing): boolean => method === 'PUT' && url.includes('.parquet')
const isCommit = ({ method, url }: Passing): boolean => method === 'PUT' && /_manifest\/\d+\.json/.test(url)

/** Kills the server at a request and starts it again some requests later, or leaves that to the test. */
const bench = (
  context: TestContext,
  at: (passing: Passing) => boolean,
  startAfter: number,
  attempts?: string,
): Promise<Bench> => {
  let since = -1
  const decide = async (passing: Passing, server: S3Server): Promise<Fate> => {
    if (since < 0 && !at(passing)) return undefined
    since += 1
    if (since === 0) await server.kill()
    if (since === startAfter) await server.start()
    return undefined
  }
  return s3Bench(context, decide, { AWS_MAX_ATTEMPTS: attempts })
}

test('two runs that race both stand in the lake, and its queries give what a folder gives', async (context) => {
  const { open } = await s3Bench(context)
  const sources = ['companies-0001.jsonl.br', 'companies-0002.jsonl.br'].map((name) => join(SAMPLE, name))
  const runs = await Promise.all(sources.map((source) => cli(['convert', source, '--lake', LAKE])))
  expect(runs.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0])
  expect(
    (await open().list('_manifest')).map(({ path }) => path).filter((path) => /\d{8}\.json$/.test(path)),
  ).toEqual(['_manifest/00000001.json', '_manifest/00000002.json'])
  expect(await counted(LAKE)).toEqual(await expected(...sources))
  expect(await cliAnew(['verify', '--lake', LAKE])).toMatchObject({ code: 0 })
  // Nothing of the runs is left, neither there nor here.
  expect(await open().list('_runs')).toEqual([])
  const staged = (await listTree(join(open().local, '_runs'))).filter(({ kind }) => kind === 'file')
  expect(staged).toEqual([])
})

describe('a server that is killed in the midst of a run', () => {
  test.for([
    ['while tables are uploaded', isTableFile],
    ['at the commit', isCommit],
  ] as const)('%s and started again: the run comes to its end', async ([, at], context) => {
    await bench(context, at, 3)
    const run = await cli(['convert', SAMPLE_COMPANIES, '--lake', LAKE])
    expect(run.code === 0 ? '' : run.stderr).toBe('')
    expect(await counted(LAKE)).toEqual(await expected(SAMPLE_COMPANIES))
    expect(await cliAnew(['verify', '--lake', LAKE])).toMatchObject({ code: 0 })
  })

  test.for([
    ['while tables are uploaded', isTableFile],
    ['at the commit', isCommit],
  ] as const)(
    '%s and stays away: the run fails, shows nothing, and the same command ends it',
    async ([, at], context) => {
      const { server, open } = await bench(context, at, Number.POSITIVE_INFINITY, '2')
      const failed = await cli(['convert', SAMPLE_COMPANIES, '--lake', LAKE, '--json'])
      expect(failed.code).not.toBe(0)
      expect(errorCode(failed)).toBe('STORAGE_FAILED')
      expect(failed.stderr).not.toContain(server.secretKey)
      await server.start()
      expect((await open().list('_manifest')).filter(({ path }) => /\d{8}\.json$/.test(path))).toEqual([])
      const again = await cliAnew(['convert', SAMPLE_COMPANIES, '--lake', LAKE])
      expect(again.code === 0 ? '' : again.stderr).toBe('')
      expect(await counted(LAKE)).toEqual(await expected(SAMPLE_COMPANIES))
      expect(await cliAnew(['verify', '--lake', LAKE])).toMatchObject({ code: 0 })
    },
  )
})

test('a run that is killed after its first partition is resumed, and nothing of it is left', async (context) => {
  let child: ChildProcess | undefined
  const { open } = await s3Bench(context, ({ method, url }) => {
    // The second partition's files may be on their way just then.
    if (method === 'PUT' && url.includes('journal.jsonl.lines/00000002')) child?.kill('SIGKILL')
    return undefined
  })
  const sources = ['companies-0001.jsonl.br', 'companies-0002.jsonl.br'].map((name) => join(SAMPLE, name))
  const killed = await cli(['convert', ...sources, '--lake', LAKE], {
    onStart: (process) => {
      child = process
    },
  })
  expect(killed.code).toBeNull()
  const resumed = await cliAnew(['resume', '--lake', LAKE])
  expect(resumed.code === 0 ? '' : resumed.stderr).toBe('')
  expect(await counted(LAKE)).toEqual(await expected(...sources))
  expect(await cliAnew(['verify', '--lake', LAKE])).toMatchObject({ code: 0 })
  expect(await open().list('_runs')).toEqual([])
})

test('a command that is refused says so and repeats no credentials', async (context) => {
  const { server } = await s3Bench(context)
  const env = { AWS_SECRET_ACCESS_KEY: 'wrong-secret-4711' }
  const refused = await cli(['convert', SAMPLE_COMPANIES, '--lake', LAKE, '--json'], { env })
  expect(errorCode(refused)).toBe('STORAGE_REFUSED')
  for (const secret of ['wrong-secret-4711', server.accessKey, server.secretKey])
    expect(refused.stderr + refused.stdout).not.toContain(secret)
})
