/** The command line on the lake of a bench: what the tests of whole commands share. */

import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { listTree } from '../../src/support/list-files.ts'
import { SAMPLE } from '../cli/run-cli.ts'
import { type CliResult, type CommandOptions, jsonOf } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, LAKE } from './s3-bench.ts'

export const RELATIONS = join(SAMPLE, 'relations-0001.jsonl.br')

/** Runs a command in this process with modules of its own: nothing of the lake is known to it, as to another process. */
export const cliAnew = async (args: readonly string[], options: CommandOptions = {}): Promise<CliResult> => {
  vi.resetModules()
  const { runCommand } = await import('../support/run-command.ts')
  return runCommand(args, options)
}

/** The same, which must end with 0. @returns its JSON */
export const cliJsonAnew = async <T>(args: readonly string[]): Promise<T> =>
  jsonOf<T>(args, await cliAnew([...args, '--json']))

/** Runs a command on the lake that must end with 0. */
export const succeed = async (...args: readonly string[]): Promise<CliResult> => {
  const result = await cliAnew([...args, '--lake', LAKE])
  expect(result.code === 0 ? '' : `${args.join(' ')}: ${result.stderr}`).toBe('')
  return result
}

export const query = (sql: string, ...more: readonly string[]): Promise<unknown> =>
  cliJsonAnew(['query', '--lake', LAKE, sql, ...more])

/** Companies, figures and their sum. */
export const ANSWERS = `SELECT (SELECT count(*) FROM companies) AS companies,
  (SELECT count(*) FROM financials) AS financials, (SELECT round(sum(value)) FROM financials) AS value`

/** All files on this machine that belong to the lake. */
export const localFiles = async ({ open }: Bench): Promise<readonly string[]> =>
  (await listTree(open().local))
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => path.slice(open().local.length + 1))
    .filter((path) => !path.startsWith('_readers/'))

/** From here on the lake is another machine's: nothing of it is known here. */
export const elsewhere = async (): Promise<void> => {
  vi.stubEnv('FIRMLAKE_WORK_DIR', await temporaryFolder())
}

interface Manifest {
  readonly snapshot: number
  readonly pipeline: string
  readonly partitions: readonly {
    readonly files: readonly { readonly table: string; readonly path: string }[]
  }[]
  readonly files: readonly { readonly path: string }[]
}

/** The newest snapshot. */
export const manifest = async (): Promise<Manifest> =>
  JSON.parse((await succeed('status', '--manifest')).stdout)

/** A file of a table that the newest snapshot lists. */
export const tableFile = async (table: string): Promise<string> => {
  const { partitions } = await manifest()
  const file = partitions.flatMap(({ files }) => files).find((one) => one.table === table)
  return file?.path ?? ''
}
