/** Lines on standard error: as JSON, fewer of them, more of them. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLines } from './batches.ts'

interface LogLine {
  readonly time: string
  readonly level: string
  readonly run?: string
  readonly message: string
  readonly seconds?: number
  readonly snapshot?: number
  readonly stage?: string
  readonly error?: { readonly code: string; readonly message: string }
}

const linesOf = (stderr: string): LogLine[] =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Three companies, and a line that is none. */
const source = async (): Promise<{ readonly input: string; readonly lake: string }> => {
  const folder = await temporaryFolder()
  const input = join(folder, 'companies.jsonl')
  await writeFile(input, `${(await companyLines(3)).join('\n')}\n{"Secret AB":\n`)
  return { input, lake: join(folder, 'lake') }
}

test('as JSON each line has time, level and message, those of a run its id', async () => {
  const { input, lake } = await source()
  const args = ['convert', input, '--lake', lake, '--max-quarantined', '1', '--log-format', 'json', '--json']
  const { code, stdout, stderr } = await runCommand(args)
  expect(code).toBe(0)
  const { run } = JSON.parse(stdout)
  const lines = linesOf(stderr)
  for (const { time, level } of lines) {
    expect(new Date(time).toISOString()).toBe(time)
    expect(level).toMatch(/^(info|warning)$/)
  }
  expect(lines.map(({ message, run: of }) => [message.replaceAll(/\d+\.\d+ s|\d s/g, '… s'), of])).toEqual([
    [`Run ${run} begins`, run],
    ['Committing 1 partition', run],
    [`run done in … s: lake ${lake}, pipeline convert, attempt 1`, run],
  ])
  expect(lines.at(-1)).toMatchObject({ stage: 'run', seconds: expect.any(Number) })

  const failed = await runCommand(['--log-format=json', 'convert', input, '--lake', `${lake}2`])
  expect(failed.code).toBe(3)
  expect(linesOf(failed.stderr).at(-1)).toMatchObject({
    level: 'error',
    message: expect.stringMatching(/^QUARANTINE_LIMIT: Cannot commit run/),
    error: { code: 'QUARANTINE_LIMIT' },
  })
  expect(failed.stderr).not.toContain('Secret')
})

test('the variable asks for JSON too, and wrong usage is JSON then', async () => {
  const env = { FIRMLAKE_LOG_FORMAT: 'json' }
  expect(linesOf((await runCommand(['convert', '--nothing'], { env })).stderr)).toMatchObject([
    { level: 'error', error: { code: 'USAGE' } },
  ])
  const wrong = await runCommand(['status', '--lake', 'nowhere', '--log-format', 'xml'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^error USAGE: .*text, json/)])
})

test('--quiet leaves warnings and errors, --verbose adds a line for each stage', async () => {
  const { input, lake } = await source()
  const quiet = await runCommand(['convert', input, '--lake', lake, '--max-quarantined', '1', '--quiet'])
  expect(quiet.stderr).toMatch(/^warning: 1 of 4 lines went to the quarantine; [^\n]*\n$/)

  await writeFile(input, `${(await readFile(input, 'utf8')).replace('{"Secret AB":\n', '')}`)
  const verbose = await runCommand(['convert', input, '--lake', `${lake}2`, '--verbose'])
  const stages = [...verbose.stderr.matchAll(/^(\w+) done in [\d.]+ s: /gm)].map(([, stage]) => stage)
  expect(new Set(stages)).toEqual(new Set(['decode', 'sink', 'load', 'source', 'commit', 'run']))
  expect(verbose.stderr).toContain('Committing 1 partition')

  const both = await runCommand(['convert', input, '--lake', lake, '--verbose', '--quiet'])
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('error USAGE')])
})
