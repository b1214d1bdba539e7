/** Compaction of a lake in a bucket: what it leaves there and here, a server that is killed, runs beside it. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, type TestContext, test, vi } from 'vitest'
import { cli, errorCode, SAMPLE, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import type { CliResult } from '../support/run-command.ts'
import type { Passing } from './loopback-proxy.ts'
import { type Bench, LAKE, s3Bench } from './s3-bench.ts'
import { ANSWERS, cliJsonAnew, elsewhere, localFiles, manifest, query, succeed, tableFile } from './s3-cli.ts'

// Several commands one after the other, each a process of its own.
vi.setConfig({ testTimeout: 240_000 })

const twoRuns = async (): Promise<unknown> => {
  await succeed('convert', SAMPLE_COMPANIES)
  await succeed('convert', SAMPLE_COMPANIES, '--again')
  return query(ANSWERS)
}
/** Files of the bucket that no snapshot knows. */
const unknownFiles = async ({ open }: Bench): Promise<readonly string[]> => {
  const strings = await Promise.all(
    (await open().list('_manifest')).map(async ({ path }) => ({
      path,
      text: String(await open().read(path)),
    })),
  )
  const roots = strings.flatMap(({ path, text }) => (path.endsWith('.json') ? [text] : [])).join('')
  const parts = strings.filter(
    ({ path }) => path.endsWith('.jsonl') && roots.includes(path.split('/').at(-1) ?? ''),
  )
  const known = parts.map(({ text }) => text).join('')
  const stored = (await open().list('')).map(({ path }) => path)
  return stored.filter((path) => !/^(_manifest\/|lake\.ducklake)/.test(path) && !known.includes(path))
}
const atWork = async (bench: Bench): Promise<readonly string[]> =>
  (await localFiles(bench)).filter(
    (path) => path.startsWith('_') && !/^_manifest\/parts\/.*\.parquet$/.test(path),
  )

test('compact puts its files into the bucket, keeps none here, and leaves old snapshots readable', async (context) => {
  const bench = await s3Bench(context)
  const before = await twoRuns()
  const { snapshot } = await cliJsonAnew<{ snapshot: number }>(['compact', '--lake', LAKE])
  expect(snapshot).toBe(3)
  expect(await atWork(bench)).toEqual([])
  const compacted = await tableFile('financials')
  expect(await localFiles(bench)).not.toContain(compacted)
  expect(await bench.open().stat(compacted)).not.toBeNull()
  expect(await query(ANSWERS)).toEqual(before)
  expect(await query('SELECT count(*) AS n FROM companies_history')).toEqual([{ n: 300 }])
  expect(await query('SELECT count(*) AS n FROM companies_history', '--snapshot', '2')).toEqual([{ n: 600 }])
  await succeed('verify')
  await succeed('gc', '--keep', '1')
  await elsewhere()
  expect(await query(ANSWERS)).toEqual(before)
  await succeed('verify')
})

/** A server that is killed when the compaction does something, and started again some requests later. */
const failing = async (
  context: TestContext,
  at: (passing: Passing) => boolean,
  startAfter: number,
): Promise<{ bench: Bench; arm: () => void }> => {
  let [armed, since] = [false, -1]
  const bench = await s3Bench(
    context,
    async (passing, server) => {
      if (!armed || (since < 0 && !at(passing))) return undefined
      since += 1
      if (since === 0) await server.kill()
      if (since === startAfter) await server.start()
      return undefined
    },
    startAfter === Number.POSITIVE_INFINITY ? { AWS_MAX_ATTEMPTS: '2' } : {},
  )
  return {
    bench,
    arm: () => {
      armed = true
    },
  }
}
const isUpload = ({ method, url }: Passing): boolean => method === 'PUT' && url.includes('.parquet')
const isRead = ({ method, url }: Passing): boolean => method === 'GET' && url.includes('.parquet')
const isCommit = ({ method, url }: Passing): boolean => method === 'PUT' && /_manifest\/\d+\.json/.test(url)

test.for([
  ['while it reads', isRead],
  ['while it uploads', isUpload],
  ['at its commit', isCommit],
] as const)(
  'a compaction comes to its end where the server is killed %s and started again',
  async ([, at], context) => {
    const { bench, arm } = await failing(context, at, 3)
    const before = await twoRuns()
    await elsewhere()
    arm()
    await succeed('compact')
    expect(await query(ANSWERS)).toEqual(before)
    expect(await query('SELECT count(*) AS n FROM companies_history')).toEqual([{ n: 300 }])
    await succeed('verify')
    expect(await unknownFiles(bench)).toEqual([])
    expect(await atWork(bench)).toEqual([])
  },
)

test('a compaction that the server leaves changes nothing, and the next one clears away what it left', async (context) => {
  const { bench, arm } = await failing(context, isCommit, Number.POSITIVE_INFINITY)
  const before = await twoRuns()
  arm()
  const failed = await cli(['compact', '--lake', LAKE, '--json'])
  expect([failed.code, errorCode(failed)]).toEqual([1, 'STORAGE_FAILED'])
  await bench.server.start()
  expect(await query('SELECT count(*) AS n FROM companies_history')).toEqual([{ n: 600 }])
  await succeed('compact')
  expect(await query(ANSWERS)).toEqual(before)
  await succeed('verify')
  expect(await unknownFiles(bench)).toEqual([])
  expect(await atWork(bench)).toEqual([])
})

test('a compaction that is killed leaves files that the next one clears away, on another machine too', async (context) => {
  let child: ChildProcess | undefined
  const bench = await s3Bench(context, async (passing) => {
    if (child === undefined || !isCommit(passing)) return undefined
    child.kill('SIGKILL')
    await once(child, 'exit')
    return { kind: 'answered', status: 500, body: '' }
  })
  const before = await twoRuns()
  const killed = await cli(['compact', '--lake', LAKE], {
    onStart: (process) => {
      child = process
    },
  })
  child = undefined
  expect(killed.code).toBeNull()
  expect((await unknownFiles(bench)).some((path) => path.endsWith('.parquet'))).toBe(true)
  await elsewhere()
  await succeed('compact')
  expect(await query(ANSWERS)).toEqual(before)
  await succeed('verify')
  expect(await unknownFiles(bench)).toEqual([])
})

test('a compaction and a run that commits meanwhile both stand in the lake', async (context) => {
  const second = join(SAMPLE, 'companies-0002.jsonl.br')
  let [compacting, converted]: [boolean, Promise<CliResult> | undefined] = [false, undefined]
  await s3Bench(context, async (passing) => {
    if (!compacting || !isCommit(passing) || converted !== undefined) return undefined
    // The compaction's commit waits until the other run has taken the number that it wants.
    converted = cli(['convert', second, '--lake', LAKE])
    await converted
    return undefined
  })
  await twoRuns()
  compacting = true
  await succeed('compact')
  expect(await converted).toMatchObject({ code: 0 })
  expect(await query('SELECT count(*) AS n FROM companies')).toEqual([{ n: 600 }])
  expect(await query('SELECT count(*) AS n FROM companies_history')).toEqual([{ n: 600 }])
  expect(await manifest()).toMatchObject({ snapshot: 4, pipeline: 'compact' })
  await succeed('verify')
})
