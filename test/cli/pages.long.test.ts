/** What the pages show is run as it stands there, as far as it needs no service. */

import { randomBytes } from 'node:crypto'
import { cp, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsIn } from '../support/page.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE } from './run-cli.ts'

/** Runs commands one after the other. @returns what each printed, by its name */
const runAll = async (
  commands: readonly (readonly string[])[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Map<string, string>> => {
  const results = new Map<string, string>()
  for (const words of commands) {
    const { code, stdout, stderr } = await runCommand(words, { cwd, env })
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0)
    results.set(words[0] ?? '', stdout)
  }
  return results
}

test('commands that the pages show of a lake run', async () => {
  const cwd = await temporaryFolder()
  await cp(dirname(SAMPLE), join(cwd, 'data'), { recursive: true })
  await runAll(
    [
      ['convert', 'data/sample', '--lake', './lake'],
      ['convert', 'data/sample-second', '--lake', './lake'],
    ],
    cwd,
  )

  const ofLakes = ['query', 'export', 'publish', 'quarantine', 'check', 'compact', 'gc']
  const names = [
    ...['analysis', 'query', 'export', 'published-tables', 'batch-files', 'checks'],
    'compaction',
  ]
  const shown = names.flatMap((name) => commandsIn(`docs/${name}.md`))
  const commands = shown.filter(([name = '', inner]) => ofLakes.includes(name) || inner === 'make')
  expect(commands.length).toBeGreaterThan(7)
  await runAll(commands, cwd)
  expect(await readdir(cwd)).toContain('companies.csv')
})

test.each(['batch-files', 'less-data', 'targets'])(
  'the loads of docs/%s.md run, and load companies',
  async (page) => {
    const cwd = await temporaryFolder()
    await cp(SAMPLE, join(cwd, 'batches'), { recursive: true })
    const loads = commandsIn(`docs/${page}.md`).filter(([name, from]) => name === 'convert' && from !== '-')
    expect(loads).not.toEqual([])
    await runAll(loads, cwd, { FIRMLAKE_HASH_KEY: randomBytes(32).toString('hex') })
    const count = [
      'query',
      '--lake',
      './lake',
      '--format',
      'csv',
      'SELECT count(*) > 0 AS any FROM companies',
    ]
    expect((await runAll([count], cwd)).get('query')).toContain('true')
  },
)
