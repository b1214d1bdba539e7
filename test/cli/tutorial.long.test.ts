/** docs/tutorial.md is run as it stands there, and gives what it shows. */

import { spawnSync } from 'node:child_process'
import { cp, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { consoleSteps, examplesIn, squeezed } from '../support/page.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE } from './run-cli.ts'

const PAGE = 'docs/tutorial.md'
const [setup = '', ...shell] = examplesIn(PAGE, 'sh')

test('every command of the tutorial runs in its order, and prints what the page shows', async () => {
  expect(setup).toContain('alias firmlake')
  const cwd = await temporaryFolder()
  await cp(dirname(SAMPLE), join(cwd, 'data'), { recursive: true })
  const env = { ...process.env, FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '', FIRMLAKE_TOKEN: '' }
  const run = (command: string): string[] => {
    const script = `firmlake() { '${process.execPath}' '${MAIN}' "$@"; }; set -e; ${command}`
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { cwd, env, encoding: 'utf8' })
    expect(status, `${command}: ${stderr}`).toBe(0)
    return stdout.split('\n').map(squeezed)
  }
  run(shell[0] ?? '')
  const blocks = examplesIn(PAGE, 'console')
  expect(blocks.length).toBeGreaterThan(5)
  for (const { command, shows } of blocks.flatMap(consoleSteps))
    expect(run(command), command).toEqual(expect.arrayContaining(shows))
  for (const one of shell.slice(1)) run(one)
  expect(await readdir(cwd)).toEqual(expect.arrayContaining(['companies.xlsx', 'lake', 'report.html']))
})
