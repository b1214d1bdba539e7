/** The session of docs/nightly.md with loads that are held back is run as it stands there, and gives what it shows. */

import { spawnSync } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { consoleSteps, examplesIn, squeezed } from '../support/page.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE } from './run-cli.ts'

const SECTION = 'A night that is held back'

/** Without what differs from night to night: times, the machine, the place of the lake. */
const plain = (line: string): string =>
  squeezed(line)
    .replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+( UTC|Z)/g, 'TIME')
    .replaceAll(/after [\d.]+ s|"seconds":[\d.]+/g, 'SECONDS')
    .replaceAll(/firmlake on \S+:|"host":"[^"]*"/g, 'HOST')
    .replaceAll(/"[^"\s]*\/lake\\?"/g, 'LAKE')
    .replaceAll(/─+/g, '─')

test('every command of a night that is held back runs in its order, and prints what the page shows', async () => {
  const cwd = await temporaryFolder()
  await cp(dirname(SAMPLE), join(cwd, 'data'), { recursive: true })
  for (const name of ['inbox', 'rules']) await mkdir(join(cwd, name))
  const [settings = ''] = examplesIn('docs/nightly.md', 'toml', SECTION)
  await writeFile(join(cwd, 'firmlake.toml'), settings, { mode: 0o600 })
  const [rule = ''] = examplesIn('docs/checks.md', 'sql', 'Before a load is shown')
  await writeFile(join(cwd, 'rules', 'sales.sql'), rule)
  const env = { ...process.env, FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '', FIRMLAKE_TOKEN: '' }
  const run = (command: string): string[] => {
    const script = `firmlake() { '${process.execPath}' '${MAIN}' "$@"; }; set -e; ${command}`
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { cwd, env, encoding: 'utf8' })
    expect(status, `${command}: ${stderr}`).toBe(0)
    return stdout.split('\n').map(plain)
  }
  const steps = examplesIn('docs/nightly.md', 'console', SECTION).flatMap(consoleSteps)
  expect(steps.length).toBeGreaterThan(15)
  for (const { command, shows } of steps)
    expect(run(command), command).toEqual(expect.arrayContaining(shows.map(plain)))
})
