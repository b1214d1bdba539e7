/** docs/tutorial.md and README.md are run as they stand there, and give what they show. */

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

/** A folder with the sample, and what runs a command line in it. @returns its lines */
const opened = async () => {
  const cwd = await temporaryFolder()
  await cp(dirname(SAMPLE), join(cwd, 'data'), { recursive: true })
  const env = { ...process.env, FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '', FIRMLAKE_TOKEN: '' }
  const run = (command: string): string[] => {
    const script = `firmlake() { '${process.execPath}' '${MAIN}' "$@"; }; set -e; ${command}`
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { cwd, env, encoding: 'utf8' })
    expect(status, `${command}: ${stderr}`).toBe(0)
    return stdout.split('\n').map(squeezed)
  }
  const runShown = (blocks: readonly string[]): void => {
    for (const { command, shows } of blocks.flatMap(consoleSteps))
      expect(run(command), command).toEqual(expect.arrayContaining(shows))
  }
  return { cwd, run, runShown }
}

test('every command of the tutorial runs in its order, and prints what the page shows', async () => {
  expect(setup).toContain('alias firmlake')
  const { cwd, run, runShown } = await opened()
  run(shell[0] ?? '')
  const blocks = examplesIn(PAGE, 'console')
  expect(blocks.length).toBeGreaterThan(5)
  runShown(blocks)
  for (const one of shell.slice(1)) run(one)
  expect(await readdir(cwd)).toEqual(expect.arrayContaining(['companies.xlsx', 'lake', 'report.html']))
})

test('README.md begins with two commands, and shows fifteen lines of use', () => {
  const [begin = '', service = ''] = examplesIn('README.md', 'sh')
  expect(begin.trim().split('\n')).toHaveLength(2)
  const typed = examplesIn('README.md', 'console')
    .flatMap(consoleSteps)
    .flatMap(({ command }) => command.trim().split('\n'))
  const [attach = ''] = examplesIn('README.md', 'sql')
  expect([...typed, ...attach.trim().split('\n'), ...(service.match(/^firmlake .*/gm) ?? [])]).toHaveLength(
    15,
  )
})

test('the lines of README.md run in their order, and print what it shows', async () => {
  const { cwd, runShown } = await opened()
  runShown(examplesIn('README.md', 'console'))
  expect(await readdir(cwd)).toEqual(expect.arrayContaining(['companies.xlsx', 'lake', 'report.html']))
})
