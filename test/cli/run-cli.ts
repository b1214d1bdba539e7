/** The command line as a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type CliResult, jsonOf, MAIN } from '../support/run-command.ts'

export interface CliOptions {
  readonly cwd?: string
  readonly stdin?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  /** Is given the process as soon as it has started. */
  readonly onStart?: (child: ChildProcess) => void
}

export const SAMPLE = fileURLToPath(new URL('../../data/sample', import.meta.url))
export const SAMPLE_COMPANIES = `${SAMPLE}/companies-0001.jsonl.br`

/** Runs one command to its end. */
export const cli = async (args: readonly string[], options: CliOptions = {}): Promise<CliResult> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: 'pipe',
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin)
  options.onStart?.(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs a command that must end with 0, and reads its JSON. */
export const cliJson = async <T>(args: readonly string[], options: CliOptions = {}): Promise<T> =>
  jsonOf(args, await cli([...args, '--json'], options))

/** The code of an error that was printed for programs: the last line, after warnings. */
export const errorCode = ({ stderr }: CliResult): string => {
  const report: { readonly error: { readonly code: string } } = JSON.parse(
    stderr.trimEnd().split('\n').at(-1) ?? '',
  )
  return report.error.code
}
