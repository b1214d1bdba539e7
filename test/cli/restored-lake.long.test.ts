/** A backup takes the lake's place: what each command says of targets of the lake that was lost. */

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { type CliResult, runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

const TOML = `lake = "lake"
[targets]
sinks = ["sink.duckdb"]
[[files]]
name = "fourth"
from = ["4.jsonl"]
`

test('every command refuses a target of the lost lake, verify names it, and --overwrite loads it anew', async () => {
  const { folder, write } = openBench(await temporaryFolder())
  for (const id of [1, 2, 3, 4]) await write(`${id}.jsonl`, [companyLine(id)])
  const run = (...args: readonly string[]): Promise<CliResult> =>
    runCommand([...args], { cwd: folder, env: { FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '' } })
  const done = async (...args: readonly string[]): Promise<CliResult> => {
    const result = await run(...args)
    expect([args, result.code, result.stderr]).toEqual([args, 0, expect.any(String)])
    return result
  }
  const refused = async (...args: readonly string[]): Promise<void> => {
    const result = await run(...args, '--json')
    expect([args, result.code, errorCode(result)]).toEqual([args, 1, 'TARGET_AHEAD'])
    expect(result.stderr).toContain('--overwrite')
  }
  await done('convert', '1.jsonl', '--lake', 'lake')
  await done('copy', 'lake', 'backup', '--same-lake')
  await done('convert', '2.jsonl', '--lake', 'lake', '--sink', 'sink.duckdb')
  await done('export', '--lake', 'lake', '--to', 'export.duckdb')
  await rm(join(folder, 'lake'), { recursive: true })
  await rename(join(folder, 'backup'), join(folder, 'lake'))
  await refused('convert', '3.jsonl', '--lake', 'lake', '--sink', 'sink.duckdb')
  await refused('compact', '--lake', 'lake', '--sink', 'sink.duckdb')
  await refused('export', '--lake', 'lake', '--to', 'export.duckdb')
  for (const file of ['sink.duckdb', 'export.duckdb'])
    await refused('verify', '--lake', 'lake', '--sink', file)
  await writeFile(join(folder, 'firmlake.toml'), TOML)
  expect((await done('verify')).stdout).not.toContain('target')
  await refused('verify', '--targets')
  await refused('verify', '--lake', 'lake', '--targets')
  expect((await run('verify', '--targets')).stdout).toMatch(/sink\.duckdb +TARGET_AHEAD/)
  await done('export', '--to', 'export.duckdb', '--overwrite')
  expect((await done('export', '--to', 'export.duckdb')).stdout).toContain('loaded it last')
  const night = await run('nightly', '--json')
  expect([night.code, night.stdout]).toEqual([1, expect.stringContaining('TARGET_AHEAD')])
  await done('nightly', '--overwrite')
  expect((await done('verify', '--targets')).stdout).toMatch(/sink\.duckdb +current/)
})
