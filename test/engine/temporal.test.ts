/** Runs on Temporal: the real server, workers and commands as processes. */

import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import { recordedUnits } from '../../src/manifest/runs/journal.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import { listTree } from '../../src/support/list-files.ts'
import { cli, errorCode } from '../cli/run-cli.ts'
import { companyLine, companyLines, hashLake, openBench, verify } from '../run/batch-bench.ts'
import { loadCompanies, makeServable, openServer, TOKEN } from '../service/serving.ts'
import { freePort } from '../support/free-port.ts'
import { needs } from '../support/needs.ts'
import type { CliResult } from '../support/run-command.ts'
import { missingTemporal, openTemporal, type TemporalServer } from '../support/temporal-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  historiesOf,
  openWorker,
  type WorkerOptions,
  type WorkerProcess,
  withClient,
} from './temporal-bench.ts'

vi.setConfig({ testTimeout: 600_000 })

const MAIN_QUEUE = 'main'

/** What the tests share, in this order: a server, and a worker of it for most of them. */
let server: TemporalServer
let folder = ''
let working: WorkerProcess
const missing = missingTemporal()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-engine-'))
  if (missing === undefined) server = await openTemporal()
})
afterAll(async () => {
  await working?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})
const needsTemporal = (context: TestContext): void =>
  needs(context, 'a Temporal server, which .ci/install-tools installs', missing)

const worker = async (
  args: readonly string[],
  options: Partial<WorkerOptions> = {},
): Promise<WorkerProcess> => {
  const env = { FIRMLAKE_TOKEN: TOKEN }
  const started = openWorker(server.address, args, { cwd: folder, env, ...options })
  await started.said(/^Working for task queue/)
  return started
}

/** A worker that ends with the test. */
const workerOfTest = async (
  args: readonly string[],
  options: Partial<WorkerOptions>,
): Promise<WorkerProcess> => {
  const started = await worker(args, options)
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started
}

/** Hands over to the server. */
const there = (queue = MAIN_QUEUE, address = server.address): readonly string[] => [
  ...['--engine', 'temporal', '--temporal', address, '--task-queue', queue],
]
const UNITS = ['--unit-bytes', '1']

/** What does not differ between one machine and many. */
const comparable = (printed: string): unknown => {
  const { run: _, lake: __, seconds: ___, decodedBytes: ____, ...report } = JSON.parse(printed)
  return report
}

test('a worker of another release leaves units to one of this release, or the command ends with 75', async (context) => {
  needsTemporal(context)
  const { folder: own, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  const convert = ['convert', 'a.jsonl', '--lake', 'lake', '--json', ...there()]
  const old = await workerOfTest(['--task-queue', MAIN_QUEUE], { main: await otherRelease(own) })
  const late = await cli([...convert, '--max-wait', '1s'], { cwd: own })
  expect([late.code, errorCode(late)]).toEqual([75, 'RUN_OTHER_RELEASE'])
  const waiting = cli(convert, { cwd: own })
  const metrics = `127.0.0.1:${await freePort()}`
  working = await worker(['--slots', '2', '--task-queue', MAIN_QUEUE, '--metrics', metrics])
  expect((await waiting).code).toBe(0)
  const text = await (await fetch(`http://${metrics}/metrics`)).text()
  expect(text).toContain('firmlake_steps_total{code="0",step="commit"} 1')
  expect(text).toContain('temporal_activity_execution_latency_count{')
  expect(await old.end('SIGTERM')).toBe(0)
})

test('convert on an engine reports what one machine reports, with the same exit code', async (context) => {
  needsTemporal(context)
  const { folder: own, write } = openBench(await temporaryFolder())
  await write('in/a.jsonl', companyLines(3))
  await write('in/b.jsonl', [companyLine(9, { Strange: 1 }), '{"bad'])
  await write('in/c.jsonl', companyLines(3))
  await write('in/d.jsonl.gz', ['no gzip'])
  const args = ['convert', 'in', '--skip-bad-files', '--json']
  const onEngine = (...more: readonly string[]): Promise<CliResult> =>
    cli([...args, '--lake', 'there', ...UNITS, ...there(), ...more], { cwd: own })
  const refused = await onEngine()
  expect([refused.code, errorCode(refused)]).toEqual([3, 'QUARANTINE_LIMIT'])
  // What is done is kept: the same with a higher limit only commits.
  const done = await onEngine('--max-quarantined', '50%', '--sink', 'csv:out')
  const here = await cli([...args, '--lake', 'here', '--max-quarantined', '50%'], { cwd: own })
  expect([done.code, here.code]).toEqual([6, 6])
  expect(comparable(done.stdout)).toEqual(comparable(here.stdout))
  expect(await hashLake(join(own, 'there'))).toEqual(await hashLake(join(own, 'here')))
  expect((await listTree(join(own, 'out'))).length).toBeGreaterThan(0)
  // The histories name files and numbers, nothing of a record.
  const histories = await historiesOf(server.address, JSON.parse(done.stdout).run)
  expect(histories).toContain(join(own, 'there'))
  expect(histories).toContain('d.jsonl.gz')
  for (const content of ['Strange', 'Company', 'InternalId']) expect(histories).not.toContain(content)
})

test('a load on an engine is checked by the command that asked for it, and held back', async (context) => {
  needsTemporal(context)
  const { folder: own, write } = openBench(await temporaryFolder())
  await write('firmlake.toml', ['[check]', 'data = false', 'min_companies = 5'])
  await write('a.jsonl', companyLines(3))
  await write('b.jsonl', companyLines(9))
  const load = (file: string): Promise<CliResult> =>
    cli(['convert', file, '--lake', 'lake', '--json', '--check', ...UNITS, ...there()], { cwd: own })
  const held = await load('a.jsonl')
  expect([held.code, errorCode(held)]).toEqual([5, 'LOAD_HELD'])
  const { run } = JSON.parse((await cli(['status', '--lake', 'lake', '--json'], { cwd: own })).stdout).held
  expect(await historiesOf(server.address, run)).not.toContain('min_companies')
  const waits = await load('b.jsonl')
  expect([waits.code, errorCode(waits)]).toEqual([5, 'LOAD_HELD'])
  expect((await cli(['release', '--lake', 'lake', '--json'], { cwd: own })).code).toBe(0)
  const done = await load('b.jsonl')
  expect([done.code, JSON.parse(done.stdout).snapshot]).toEqual([0, 2])
  expect(JSON.parse(done.stdout)).not.toHaveProperty('failing')
})

test('pull, sync and batches pull on an engine report what one machine reports; no history has the token', async (context) => {
  needsTemporal(context)
  const served = openBench(await temporaryFolder())
  await loadCompanies(served)
  await makeServable(served.lake)
  const service = await openServer(served.lake)
  onTestFinished(() => service.close())
  const own = await temporaryFolder()
  const env = { FIRMLAKE_URL: service.address, FIRMLAKE_TOKEN: TOKEN }
  // A worker sends its token only to the service of its own setting.
  const queue = 'pulls'
  await workerOfTest(['--task-queue', queue, '--lakes', own], { env })
  // A company that the service does not list: it is marked by the pull.
  const { write } = openBench(own)
  await write('left.jsonl', [companyLine(9999)])
  for (const lake of ['here', 'far'])
    expect((await cli(['convert', 'left.jsonl', '--lake', lake], { cwd: own })).code).toBe(0)
  const search = ['--search', '{"CountryCode":["SE"]}', '--max-gone', '1']
  const commands = {
    pull: ['pull', 'companies', ...search, '--page-size', '10', '--cap', '40'],
    sync: ['sync', ...search],
    batches: ['batches', 'pull', '--new'],
  }
  for (const [name, args] of Object.entries(commands)) {
    const on = (lake: string, ...more: readonly string[]) =>
      cli([...args, '--json', '--lake', lake, ...more], { cwd: own, env })
    const [here, far] = await Promise.all([on('here'), on('far', ...there(queue))])
    expect([here.code, far.code], far.stderr).toEqual([0, 0])
    const [one, many] = [here, far].map(({ stdout }) => JSON.parse(stdout))
    // Counted are the requests of all, and each asks for the parameters itself.
    if (name !== 'batches') expect(many[name].requests).toBeGreaterThanOrEqual(one[name].requests)
    const counters = { requests: 0, bytes: 0, asOf: '', run: '' }
    for (const report of [one, many]) report[name] = { ...report[name], ...counters }
    expect(comparable(JSON.stringify(many))).toEqual(comparable(JSON.stringify(one)))
    expect(many.gone?.[0]?.marked).toBe(name === 'pull' ? 1 : undefined)
    if (many.run === null) continue
    const histories = await historiesOf(server.address, many.run)
    expect(histories).not.toContain(TOKEN)
    expect(histories).not.toContain('CountryCode')
  }
  expect(await hashLake(join(own, 'far'))).toEqual(await hashLake(join(own, 'here')))
})

test('the steps of a worker take the configuration that the worker was given', async (context) => {
  needsTemporal(context)
  const { folder: own, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  const cwd = await temporaryFolder()
  // What stands in the working folder would stop each step.
  await writeFile(join(cwd, 'firmlake.toml'), 'lake = 3\n')
  await writeFile(join(cwd, 'mine.toml'), '')
  const queue = 'configured'
  await workerOfTest(['--task-queue', queue, '--config', 'mine.toml'], { cwd })
  const args = ['convert', 'a.jsonl', '--lake', 'lake', '--json', ...there(queue)]
  const { code, stdout, stderr } = await cli(args, { cwd: own })
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ snapshot: 1, records: 2 })
})

test('a command that is stopped detaches, its run goes on, and the same command attaches again', async (context) => {
  needsTemporal(context)
  const { folder: own, lake, write } = openBench(await temporaryFolder())
  for (const [at, name] of ['a', 'b', 'c'].entries())
    await write(`in/${name}.jsonl`, companyLines(2, at * 2 + 1))
  const convert = ['convert', 'in', '--lake', 'lake', ...UNITS, ...there()]
  working.child.kill('SIGSTOP')
  onTestFinished(() => void working.child.kill('SIGCONT'))
  const stopped = await cli(convert, {
    cwd: own,
    onStart: (child) => {
      child.stderr?.on('data', (text: string) => {
        if (text.includes('is handed over')) child.kill('SIGINT')
      })
    },
  })
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toContain('the run continues, the same command attaches again')
  const { run } = /Run (?<run>\S+) is handed over: 3 units/.exec(stopped.stderr)?.groups ?? {}
  const attached = cli([...convert, '--json'], { cwd: own })
  working.child.kill('SIGCONT')
  expect(JSON.parse((await attached).stdout)).toMatchObject({ run, snapshot: 1, records: 6 })
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a run that is cancelled ends its processes, and the same command goes on with it', async (context) => {
  needsTemporal(context)
  const { folder: own, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  const stuck = await workerOfTest(['--task-queue', 'stuck'], { main: await hangingSteps(own) })
  const convert = ['convert', 'a.jsonl', '--lake', 'lake', '--json']
  const cancelled = cli([...convert, ...there('stuck')], { cwd: own })
  const run = await pollFor(async () => (await runsOf(lake))[0])
  const pid = stuck.child.pid ?? 0
  await pollFor(async () => (await childrenOf(pid)).length > 0 || undefined)
  await withClient(server.address, (client) => client.workflow.getHandle(`firmlake/${run}`).cancel())
  const ended = await cancelled
  expect([ended.code, errorCode(ended)]).toEqual([1, 'ENGINE_ENDED'])
  expect(stuck.lines.join('\n')).toContain('unit 0: ended with 143')
  expect(await childrenOf(pid)).toEqual([])
  expect(await stuck.end('SIGTERM')).toBe(0)
  const again = await cli([...convert, ...there()], { cwd: own })
  expect(JSON.parse(again.stdout)).toMatchObject({ run, snapshot: 1, records: 2 })
})

test('a server that is killed and loses its state costs an attached command nothing', async (context) => {
  needsTemporal(context)
  const { folder: own, lake, write } = openBench(await temporaryFolder())
  for (const [at, name] of ['a', 'b', 'c', 'd'].entries())
    await write(`in/${name}.jsonl`, companyLines(2, at * 2 + 1))
  const converted = cli(['convert', 'in', '--lake', 'lake', '--json', ...UNITS, ...there()], { cwd: own })
  const run = await pollFor(async () => (await runsOf(lake))[0])
  await pollFor(async () => (await recordedUnits(lake, run)).size > 0 || undefined)
  await server.kill()
  await server.forget()
  await working.end('SIGKILL')
  await server.start()
  working = await worker(['--slots', '2', '--task-queue', MAIN_QUEUE])
  const { code, stdout, stderr } = await converted
  expect(code, stderr).toBe(0)
  expect(stderr).toContain(`Temporal has forgotten run ${run}`)
  expect(JSON.parse(stdout)).toMatchObject({ run, snapshot: 1, records: 8 })
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a server that does not answer is unreachable, for commands before they plan and for workers', async () => {
  const { folder: own, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  const address = `127.0.0.1:${await freePort()}`
  const convert = cli(['convert', 'a.jsonl', '--lake', 'lake', '--json', ...there('q', address)], {
    cwd: own,
  })
  const worked = await cli(['worker', '--temporal', address], { cwd: own })
  for (const lakes of ['s3://', 'gs://bucket', 's3:/bucket', 'a,,b']) {
    const refused = await cli(['worker', '--temporal', address, '--lakes', `${own},${lakes}`], { cwd: own })
    expect([lakes, refused.code, refused.stderr]).toEqual([lakes, 2, expect.stringContaining('USAGE')])
  }
  expect([(await convert).code, errorCode(await convert)]).toEqual([75, 'ENGINE_UNREACHABLE'])
  expect(await runsOf(lake)).toEqual([])
  expect(worked.code).toBe(75)
  expect(worked.stderr).toContain(`error ENGINE_UNREACHABLE: Cannot reach Temporal at ${address}`)
})

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

const runsOf = (lake: string): Promise<readonly string[]> => listRunIds(lake).catch(() => [])

const pollFor = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await pause(50)
  }
}

const childrenOf = async (pid: number): Promise<readonly string[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).split(' ').filter(Boolean)

/** An entry whose steps never end by themselves: a worker starts them as it was started. */
const hangingSteps = async (own: string): Promise<string> => {
  const entry = join(own, 'main.mjs')
  const real = JSON.stringify(new URL('../../src/cli/main.ts', import.meta.url).href)
  const hanging = `process.on('SIGTERM', () => process.exit(143)); setInterval(() => {}, 1000)`
  await writeFile(entry, `if (process.argv[2] === 'run') { ${hanging} } else await import(${real})`)
  return entry
}

/** The sources with another version. */
const otherRelease = async (own: string): Promise<string> => {
  const other = join(own, 'other')
  await cp(join(PROJECT, 'src'), join(other, 'src'), { recursive: true })
  const manifest = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
  await writeFile(join(other, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }))
  await symlink(join(PROJECT, 'node_modules'), join(other, 'node_modules'))
  return join(other, 'src', 'cli', 'main.ts')
}
