/** Commands on a lake in a bucket, one by one, as a user gives them: they do there what they do in a folder. */

import type { ChildProcess } from 'node:child_process'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, type TestContext, test, vi } from 'vitest'
import { companyLines } from '../cli/batches.ts'
import { cli, errorCode, SAMPLE, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import type { CliResult } from '../support/run-command.ts'
import type { S3Server } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { Passing } from './loopback-proxy.ts'
import { type Bench, LAKE, objectFile, s3Bench } from './s3-bench.ts'
import {
  ANSWERS,
  cliAnew,
  cliJsonAnew,
  elsewhere,
  localFiles,
  manifest,
  query,
  RELATIONS,
  succeed,
  tableFile,
} from './s3-cli.ts'

// Several commands one after the other, each a process of its own.
vi.setConfig({ testTimeout: 240_000 })

describe('a stored file that is', () => {
  const flip = async (file: string): Promise<void> => {
    const bytes = await readFile(file)
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    await writeFile(file, bytes)
  }
  test.for([
    ['changed', flip],
    ['cut', (file: string) => truncate(file, 1000)],
    ['missing', (file: string) => rm(file)],
  ] as const)('%s is named by verify, and no query reads it', async ([problem, spoil], context) => {
    const { server } = await s3Bench(context)
    await succeed('convert', SAMPLE_COMPANIES)
    const path = await tableFile('financials')
    await spoil(objectFile(server, path))
    const verified = await cliAnew(['verify', '--lake', LAKE, '--json'])
    expect(verified.code).toBe(1)
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, problems: [{ problem, path }] })
    const asked = await cliAnew(['query', '--lake', LAKE, 'SELECT sum(value) FROM financials', '--json'])
    expect([asked.code, errorCode(asked)]).toEqual([1, 'LAKE_DAMAGED'])
    expect(asked.stderr).toContain(path)
    // Other tables are still there to be read.
    expect(await query('SELECT count(*) AS n FROM companies')).toEqual([{ n: 300 }])
  })
})

describe('query', () => {
  /** A bench on a lake whose reads of table files hang until the test lets them go. */
  const slowBench = async (context: TestContext): Promise<{ bench: Bench; release: () => void }> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isTable = ({ method, url }: Passing): boolean => method === 'GET' && url.includes('.parquet')
    let [isMade, reads] = [false, 0]
    const bench = await s3Bench(context, async (passing) => {
      if (!isMade || !isTable(passing)) return undefined
      reads += 1
      // The first file comes, so that there is something to tell; the others do not.
      if (reads > 1) await promise
      return undefined
    })
    await succeed('convert', SAMPLE_COMPANIES)
    isMade = true
    return { bench, release: resolve }
  }

  test('is stopped while it fetches files, and leaves only whole copies', async (context) => {
    const { bench, release } = await slowBench(context)
    try {
      const asked = bench.proxy.requests.length
      const stop = async (child: ChildProcess): Promise<void> => {
        const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
        const reads = (): number =>
          bench.proxy.requests.slice(asked).filter((one) => /^GET .*\.parquet/.test(one)).length
        while (!isOver() && (reads() < 2 || (await localFiles(bench)).every((path) => path.endsWith('.tmp'))))
          await new Promise((resolve) => setImmediate(resolve))
        child.kill('SIGINT')
      }
      let stopping: Promise<void> | undefined
      const stopped = await cli(
        ['query', '--lake', LAKE, 'SELECT count(*) FROM financials SEMI JOIN companies USING (internal_id)'],
        {
          onStart: (child) => {
            stopping = stop(child)
          },
        },
      )
      await stopping
      expect(stopped.code).toBe(130)
      expect(stopped.stderr).toContain('error INTERRUPTED: ')
      const left = await localFiles(bench)
      expect(left.length).toBeGreaterThan(0)
      for (const path of left) expect(path).toMatch(/^(companies|financials)\/load=[^/]+\/[^/.]+\.parquet$/)
    } finally {
      release()
    }
  })
})

/** Starts `serve`, asks it, stops it. */
const serving = async (ask: (url: string) => Promise<void>): Promise<CliResult> => {
  const asked = Promise.withResolvers<void>()
  const result = cli(['serve', '--lake', LAKE, '--port', '0'], {
    env: { FIRMLAKE_SERVE_TOKEN: 'token-of-the-test-4711' },
    onStart: (child) => {
      let stderr = ''
      child.once('exit', () => asked.resolve())
      child.stderr?.on('data', (text: string) => {
        stderr += text
        const url = /Serving snapshot \d+ of .* at (http:\S+)\n/.exec(stderr)?.[1]
        if (url === undefined) return
        child.stderr?.removeAllListeners('data')
        ask(url)
          .then(asked.resolve, asked.reject)
          .finally(() => child.kill('SIGTERM'))
      })
    },
  })
  await asked.promise
  return result
}

test('serve answers from a bucket on a machine that has nothing of it, batch files and loaded rates too', async (context) => {
  await s3Bench(context)
  await succeed('convert', SAMPLE_COMPANIES, RELATIONS)
  await elsewhere()
  const csv = join(await temporaryFolder(), 'rates.csv')
  await writeFile(csv, 'currency,year,units_per_usd\nXTS,2024,4.5\n')
  await succeed('rates', 'load', csv)
  await elsewhere()
  const rates = await cliJsonAnew<object[]>(['rates', 'list', '--lake', LAKE, '--year', '2024'])
  expect(rates).toContainEqual({ currency: 'XTS', year: 2024, unitsPerUsd: 4.5 })
  expect((await succeed('batches', 'make')).stdout).toContain('570 records')
  const headers = { authorization: 'Bearer token-of-the-test-4711', 'content-type': 'application/json' }
  const { code } = await serving(async (url) => {
    const body = JSON.stringify({ SearchParameters: { CountryCode: ['SE', 'NO'] } })
    const found = await fetch(`${url}/v2/companies`, { method: 'POST', headers, body })
    expect(found.status).toBe(200)
    const { TotalCount } = JSON.parse(found.headers.get('x-pagination') ?? '{}')
    expect(await query("SELECT count(*) AS n FROM companies WHERE country_code IN ('SE', 'NO')")).toEqual([
      { n: TotalCount },
    ])
  })
  expect(code).toBe(0)
})

test('records restores from a bucket what it restores from a folder', async (context) => {
  await s3Bench(context)
  const folder = join(await temporaryFolder(), 'lake')
  await succeed('convert', SAMPLE_COMPANIES, RELATIONS)
  expect((await cliAnew(['convert', SAMPLE_COMPANIES, RELATIONS, '--lake', folder])).code).toBe(0)
  const { stdout } = await succeed('records')
  expect(stdout.split('\n')).toHaveLength(571)
  expect(stdout === (await cliAnew(['records', '--lake', folder])).stdout).toBe(true)
})

test('quarantine lists and replays lines from a machine that has nothing of the lake', async (context) => {
  await s3Bench(context)
  const file = join(await temporaryFolder(), 'deep.jsonl')
  await writeFile(file, [...(await companyLines(1)), '{'].join('\n'))
  await succeed('convert', file, '--max-depth', '2', '--max-quarantined', '2')
  await elsewhere()
  expect(await cliJsonAnew(['quarantine', 'list', '--lake', LAKE])).toMatchObject([{ line: 1 }, { line: 2 }])
  expect((await succeed('quarantine', 'replay')).stdout).toContain('1 record')
  await elsewhere()
  expect(await cliJsonAnew(['quarantine', 'list', '--lake', LAKE])).toMatchObject([{ code: 'NOT_JSON' }])
  expect(await query('SELECT count(*) AS n FROM companies')).toEqual([{ n: 1 }])
  await succeed('verify')
})

/** Kills the process with its first line in the journal. */
const killed = async (context: TestContext, sources: readonly string[]): Promise<S3Server> => {
  let child: ChildProcess | undefined
  const { server } = await s3Bench(context, ({ method, url }) => {
    if (method === 'PUT' && url.includes('journal.jsonl.lines/00000002')) child?.kill('SIGKILL')
    return undefined
  })
  const onStart = (process: ChildProcess): void => {
    child = process
  }
  expect((await cli(['convert', ...sources, '--lake', LAKE], { onStart })).code).toBeNull()
  return server
}

test('a run that was killed is resumed with another work folder', async (context) => {
  await killed(
    context,
    ['1', '2', '3'].map((no) => join(SAMPLE, `companies-000${no}.jsonl.br`)),
  )
  await elsewhere()
  await succeed('resume')
  expect(await query('SELECT count(*) AS n FROM companies')).toEqual([{ n: 900 }])
  await succeed('verify')
})

test('gc removes old snapshots from the bucket with their files, their copies and what dead runs left', async (context) => {
  const bench = await s3Bench(context)
  await succeed('convert', SAMPLE_COMPANIES)
  await succeed('convert', SAMPLE_COMPANIES, '--again')
  await succeed('compact')
  // Copies of all files, the old ones too.
  await query('SELECT count(*) FROM companies_history', '--snapshot', '2')
  await succeed('gc', '--keep', '1')
  const listed = await manifest()
  const wanted = [...listed.partitions.flatMap(({ files }) => files), ...listed.files].map(({ path }) => path)
  const stored = (await bench.open().list('')).map(({ path }) => path)
  expect(stored.filter((path) => !/^(_manifest\/|lake\.ducklake)/.test(path))).toEqual(wanted.toSorted())
  for (const path of await localFiles(bench)) expect(wanted).toContain(path)
  const old = await cliAnew(['query', '--lake', LAKE, '--snapshot', '1', 'SELECT 1', '--json'])
  expect(errorCode(old)).toBe('SNAPSHOT_NOT_FOUND')
  expect(await query('SELECT count(*) AS n FROM companies')).toEqual([{ n: 300 }])
  await succeed('verify')
})

test('sinks and exports take from a bucket what stands there', async (context) => {
  const bench = await s3Bench(context)
  const out = await temporaryFolder()
  const [database, csv] = [join(out, 'lake.duckdb'), join(out, 'csv')]
  const sinks = ['--sink', `duckdb:${database}`, '--sink', `csv:${csv}`]
  const ran = await succeed('convert', SAMPLE_COMPANIES, RELATIONS, ...sinks)
  expect(ran.stderr).toMatch(/Delivered 1 run to duckdb[\s\S]*Delivered 1 run to csv/)
  const before = await query(ANSWERS)
  await elsewhere()
  const exported = join(out, 'all.duckdb')
  await succeed('export', '--to', `duckdb:${exported}`)
  await succeed('export', '--to', `parquet:${join(out, 'parquet')}`)
  const { stdout } = await succeed('export', '--to', '-', '--format', 'csv', '--sql', ANSWERS)
  expect(stdout.trimEnd().split('\n')[1]?.replace(/\.0$/, '')).toBe(
    Object.values((before as object[])[0] ?? {}).join(','),
  )
  const { Engine } = await import('../../src/lake/duckdb/engine.ts')
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    for (const [at, path] of [database, exported].entries()) {
      await session.run(`ATTACH '${path}' AS db${at} (READ_ONLY)`)
      await session.run(`USE db${at}`)
      expect(await session.rows(ANSWERS), path).toMatchObject([
        { companies: expect.anything(), financials: expect.anything() },
      ])
    }
    const [delivered, whole] = await Promise.all(
      [0, 1].map((at) => session.rows(`SELECT count(*)::INT AS n FROM db${at}.financials`)),
    )
    expect(delivered).toEqual(whole)
    const parquet = await session.rows(
      `SELECT count(*)::INT AS n FROM read_parquet('${join(out, 'parquet', 'financials.parquet')}')`,
    )
    expect(parquet).toEqual(whole)
    const rows = await session.rows(
      `SELECT count(*)::INT AS n FROM read_csv('${csv}/financials/load=*/*.csv', all_varchar=true)`,
    )
    expect(rows).toEqual(whole)
  } finally {
    engine.close()
  }
  // The delivery read copies; nothing of it is left in the bucket.
  expect(await bench.open().list('_runs')).toEqual([])
})

test('diff tells of two snapshots in a bucket what it tells of a folder', async (context) => {
  await s3Bench(context)
  const folder = join(await temporaryFolder(), 'lake')
  const [line = ''] = await companyLines(1)
  const source = join(await temporaryFolder(), 'changed.jsonl')
  await writeFile(source, line.replace(/"CompanyName":"[^"]*"/, '"CompanyName":"Renamed"'))
  const first = join(await temporaryFolder(), 'first.jsonl')
  await writeFile(first, (await companyLines(3)).join('\n'))
  const told: unknown[] = []
  for (const lake of [LAKE, folder]) {
    for (const what of [[first], [source, '--as-of', 'now']])
      expect((await cliAnew(['convert', ...what, '--lake', lake])).code).toBe(0)
    await elsewhere()
    const { rows, summary } = await cliJsonAnew<{ rows: unknown; summary: Record<string, unknown> }>([
      'diff',
      '--lake',
      lake,
    ])
    told.push({ rows, companies: summary.companies })
  }
  expect(told[0]).toMatchObject({ companies: { new: 0, changed: 1, gone: 0 } })
  expect(told[0]).toEqual(told[1])
})
