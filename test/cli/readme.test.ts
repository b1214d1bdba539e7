/** What README.md shows first is run as it stands there. */

import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examplesIn } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, SAMPLE } from './run-cli.ts'

const [setup = '', use = ''] = examplesIn('README.md', 'sh')

test('README.md begins with two commands', () => {
  expect(setup.trim().split('\n')).toHaveLength(2)
})

const CALL = /^npm run -s firmlake -- ((?:[^"#\n]|"[^"]*")*)/gm
const commands = [...use.matchAll(CALL)].map(([, line = '']) =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')),
)

test('the fifteen lines of README.md run', async () => {
  expect(use.trim().split('\n')).toHaveLength(15)
  expect(commands.length).toBe(use.match(/^npm /gm)?.length)
  const cwd = await temporaryFolder()
  await cp(SAMPLE, join(cwd, 'data/sample'), { recursive: true })
  const results = new Map<string, string>()
  for (const words of commands) {
    const { code, stdout, stderr } = await cli(words, { cwd })
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0)
    results.set(words[0] ?? '', stdout)
  }
  expect(results.get('query')).toContain('2022')
  expect(results.get('records')).toContain('1000033')
  expect(await readdir(cwd)).toContain('firms.duckdb')
})
