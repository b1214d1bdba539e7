import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { OWN_PARTITION_BYTES, writeBatches } from './batches.ts'
import { cli } from './run-cli.ts'

interface UnfinishedRun {
  readonly run: string
  readonly state: string
  readonly partitions: number
}

const FILES = 25

const batchFolder = async (): Promise<{ batches: string; lake: string }> => {
  const folder = await temporaryFolder()
  const batches = join(folder, 'batches')
  await mkdir(batches)
  await writeBatches(batches, FILES, OWN_PARTITION_BYTES)
  return { batches, lake: join(folder, 'lake') }
}

/** Sends a signal as soon as the first partition stands in the run's journal. */
const signalWhenBegun = (signal: NodeJS.Signals, lake: string) => (child: ChildProcess) => {
  const runs = join(lake, '_runs')
  const journal = (run: string): string => join(runs, run, 'journal.jsonl')
  const look = setInterval(() => {
    const names = existsSync(runs) ? readdirSync(runs).filter((name) => existsSync(journal(name))) : []
    if (names.every((name) => statSync(journal(name)).size === 0)) return
    clearInterval(look)
    child.kill(signal)
  }, 10)
  child.once('exit', () => clearInterval(look))
}

const unfinished = async (lake: string): Promise<readonly UnfinishedRun[]> =>
  (await runCommandJson<{ unfinished: readonly UnfinishedRun[] }>(['status', '--lake', lake])).unfinished

test('Ctrl-C stops a run cleanly, and resume brings it to its end', async () => {
  const { batches, lake } = await batchFolder()
  const stopped = await cli(['convert', batches, '--lake', lake], {
    onStart: signalWhenBegun('SIGINT', lake),
  })
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toContain('Stopping: what is finished is kept.')
  expect(stopped.stderr).toContain('error INTERRUPTED: ')
  const [run, ...others] = await unfinished(lake)
  expect(others).toEqual([])
  expect(run).toMatchObject({ state: 'gone', partitions: expect.any(Number) })
  expect(run?.partitions).toBeGreaterThan(0)
  expect(run?.partitions).toBeLessThan(FILES)

  const resumed = await runCommandJson(['resume', '--lake', lake])
  expect(resumed).toMatchObject({ resumed: [{ run: run?.run, snapshot: 1, partitions: FILES }], failed: [] })
  expect(await unfinished(lake)).toEqual([])
})
