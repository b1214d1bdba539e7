/** The real command line, as a child process or in this one. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly cwd?: string
  readonly input?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  /** Is given the process as soon as it has started. */
  readonly onStart?: (child: ChildProcess) => void
}

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const RUN_COMMAND = fileURLToPath(new URL('../../src/cli/run-command.ts', import.meta.url))
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
  child.stdin.end(options.input)
  options.onStart?.(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

const jsonOf = <T>(args: readonly string[], { code, stdout, stderr }: CliResult): T => {
  if (code !== 0) throw new Error(`firmlake ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Runs a command that must end with 0, and reads its JSON. */
export const cliJson = async <T>(args: readonly string[], options: CliOptions = {}): Promise<T> =>
  jsonOf(args, await cli([...args, '--json'], options))

/** Stands for an output of the process. */
const collected = (): Writable & { readonly text: () => string } => {
  const chunks: Buffer[] = []
  const output = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      // Its memory may be used again.
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return Object.assign(output, { text: () => Buffer.concat(chunks).toString() })
}

const useOutputs = (stdout: Writable, stderr: Writable): void => {
  for (const [name, value] of Object.entries({ stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true })
}

let calls = 0

const runHere = async (
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: CliOptions,
): Promise<CliResult> => {
  const { argv, stdout, stderr } = process
  const own = {
    cwd: process.cwd(),
    env: { ...process.env },
    handlers: process.listeners('uncaughtException'),
  }
  const [out, errors] = [collected(), collected()]
  const umask = process.umask(process.umask() | 0o077)
  calls += 1
  try {
    process.argv = [process.execPath, MAIN, ...args]
    Object.assign(process.env, env)
    process.chdir(cwd)
    useOutputs(out, errors)
    // Importing it runs the command: another name each time.
    await import(/* @vite-ignore */ `${RUN_COMMAND}?call=${calls}`)
    return { code: Number(process.exitCode ?? 0), stdout: out.text(), stderr: errors.text() }
  } finally {
    useOutputs(stdout, stderr)
    process.argv = argv
    process.exitCode = undefined
    process.chdir(own.cwd)
    process.umask(umask)
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(own.env, name)) delete process.env[name]
    Object.assign(process.env, own.env)
    for (const one of process.listeners('uncaughtException'))
      if (!own.handlers.includes(one)) process.off('uncaughtException', one)
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs one command to its end in this process, behind those that were called before it: for tests of what a command says
 * and does. A process of its own would take most of the time; tests of processes and signals start one.
 */
export const cliHere = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> => {
  const { onStart, input, env = {} } = options
  // A process reads its zone once, and is watched for a night to its end.
  const isOfProcess = onStart !== undefined || input !== undefined || env.TZ !== undefined
  if (isOfProcess || args[0] === 'nightly') return cli(args, options)
  const result = last.then(() => runHere(args, options))
  last = result.catch(() => undefined)
  return result
}

export const cliJsonHere = async <T>(args: readonly string[], options: CliOptions = {}): Promise<T> =>
  jsonOf(args, await cliHere([...args, '--json'], options))

/** The code of an error that was printed for programs: the last line, after warnings. */
export const errorCode = ({ stderr }: CliResult): string => {
  const report: { readonly error: { readonly code: string } } = JSON.parse(
    stderr.trimEnd().split('\n').at(-1) ?? '',
  )
  return report.error.code
}
