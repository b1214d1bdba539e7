/** Commands at a terminal, which `script` of util-linux makes for them. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { TestContext } from 'vitest'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-command.ts'

const SCRIPT = '/usr/bin/script'
export const needsTerminal = (context: TestContext): void =>
  needs(context, 'script of util-linux', existsSync(SCRIPT) ? undefined : `${SCRIPT} is missing`)

/** Runs a command at a terminal of 100 columns, where a person types. @param env beside the variables of the test */
export const atTerminal = async (
  typed: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) => {
  const words = [process.execPath, MAIN, ...args].map((one) => `'${one.replaceAll("'", `'\\''`)}'`)
  const command = `stty cols 100; exec ${words.join(' ')}`
  // Node shows no colours where a service of continuous integration runs it, nor where whoever tests wants none.
  const { CI: _, NO_COLOR: _none, ...own } = process.env
  const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...own, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdin.end(typed)
  const [code] = await once(child, 'close')
  return { code: code as number | null, said }
}
