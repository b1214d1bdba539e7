/** `run plan`, `run work`, `run commit`, `run status`, `run cancel` as processes, with the exit codes that schedulers go by. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { inLake, runPath } from '../../src/lake/files/layout.ts'
import { listTree } from '../../src/support/list-files.ts'
import { companyLine, companyLines, openBench } from '../run/batch-bench.ts'
import { type CliResult, runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, errorCode } from './run-cli.ts'

vi.setConfig({ testTimeout: 240_000 })

interface Planned {
  readonly run: string
  readonly units: number
}

const planOf = (folder: string, ...paths: readonly string[]): Promise<Planned> =>
  runCommandJson<Planned>(['convert', '--plan-only', ...paths, '--lake', 'lake', '--unit-bytes', '1'], {
    cwd: folder,
  })

const stepIn =
  (folder: string) =>
  (...args: readonly string[]): Promise<CliResult> =>
    runCommand(['run', ...args, '--lake', 'lake'], { cwd: folder })

test('each step says by its exit code whether to try it again', async () => {
  const { folder, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  await write('b.jsonl', [...companyLines(2, 5), '{"bad'])
  const step = stepIn(folder)
  const { run, units } = await planOf(folder, 'a.jsonl', 'b.jsonl')
  expect(units).toBe(2)
  expect((await runCommand(['convert', '--plan-only', '-', '--lake', 'lake'], { cwd: folder })).code).toBe(2)
  const committing = await runCommand(
    ['convert', '--plan-only', 'a.jsonl', '--lake', 'lake', '--sink', 'a.csv'],
    {
      cwd: folder,
    },
  )
  expect([committing.code, committing.stderr]).toEqual([2, expect.stringContaining('run commit')])
  const engine = ['convert', '--plan-only', 'a.jsonl', '--lake', 'lake', '--temporal', '127.0.0.1:1']
  expect((await runCommand(engine, { cwd: folder })).code).toBe(2)
  const tokenless = ['--search', '{"CountryCode":["SE"]}', '--url', 'http://127.0.0.1:1', '--lake', 'lake']
  const pull = ['pull', 'companies', ...tokenless]
  expect((await runCommand([...pull, '--plan-only'], { cwd: folder })).code).toBe(4)
  expect((await runCommand(pull, { cwd: folder })).code).toBe(1)
  expect((await step('work', run)).code).toBe(2)
  expect((await step('work', run, '--unit', '7')).code).toBe(2)
  expect((await step('work', run, '--unit', '0')).code).toBe(0)
  const early = await step('commit', run, '--json')
  expect([early.code, errorCode(early)]).toEqual([75, 'RUN_INCOMPLETE'])
  const changed = await write('b.jsonl', companyLines(1, 5))
  expect(changed.length).toBeGreaterThan(0)
  const refused = await step('work', run, '--shard', '1/2', '--json')
  expect([refused.code, errorCode(refused)]).toEqual([4, 'SOURCE_CHANGED'])
  await write('b.jsonl', [...companyLines(2, 5), '{"bad'])
  expect((await step('work', run, '--shard', '1/2')).code).toBe(0)
  expect((await step('commit', run)).code).toBe(3)
  expect(JSON.parse((await step('status', run, '--json')).stdout)).toMatchObject({
    units: 2,
    done: 2,
    quarantined: 1,
  })
  const committed = await step('commit', run, '--max-quarantined', '1')
  expect(committed).toMatchObject({ code: 0, stdout: expect.not.stringContaining('decoded') })
  expect((await step('commit', run)).stdout).toContain('committed already: snapshot 1')
  expect((await step('work', run, '--unit', '0')).stdout).toContain('Nothing to do')
  const gone = await step('work', '20261121T094920744Z-54d23e', '--unit', '0', '--json')
  expect([gone.code, errorCode(gone)]).toEqual([4, 'RUN_NOT_FOUND'])
})

test('a cancel that was stopped halfway is shown by run status, and run cancel finishes it', async () => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  const step = stepIn(folder)
  const { run } = await planOf(folder, 'a.jsonl')
  await rm(join(inLake(lake, runPath(run)), 'plan.json'))
  expect(await step('status', run)).toMatchObject({
    code: 0,
    stdout: `Run ${run} is cancelled, but not to the end: "firmlake run cancel" removes what is left of it.\n`,
  })
  expect(await step('cancel', run)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is cancelled'),
  })
  expect(errorCode(await step('status', run, '--json'))).toBe('RUN_NOT_FOUND')
})

test('a worker that is stopped ends with 143, and nothing of its unit is recorded', async () => {
  const { folder, write } = openBench(await temporaryFolder())
  await write(
    'a.jsonl',
    Array.from({ length: 400 }, (_, at) => companyLine(at + 1, { Note: 'x'.repeat(100_000) })),
  )
  const { run } = await planOf(folder, 'a.jsonl')
  const work = join(folder, 'work')
  const stopped = await cli(['run', 'work', run, '--lake', 'lake', '--unit', '0'], {
    cwd: folder,
    env: { FIRMLAKE_WORK_DIR: work },
    onStart: async (child) => {
      // Its rows are on their way when files of them stand somewhere.
      const staged = async (): Promise<boolean> =>
        (await listTree(folder)).some(({ path }) => path.includes('/staging/'))
      while (child.exitCode === null && !(await staged())) await pause(5)
      child.kill('SIGTERM')
    },
  })
  expect(stopped.code).toBe(143)
  const step = stepIn(folder)
  expect(JSON.parse((await step('status', run, '--json')).stdout)).toMatchObject({ done: 0 })
  expect((await step('cancel', run)).stdout).toContain('cancelled')
  expect(await runCommand(['status', '--lake', 'lake'], { cwd: join(folder) })).toMatchObject({ code: 0 })
})
