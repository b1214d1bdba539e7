/** The command line in the process of its test: the real options, words and codes, without the start of a process. */

import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runCommand as run } from '../../src/cli/run-command.ts'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd?: string
  readonly stdin?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  /** A person types `stdin`, and reads what is said beside the output. */
  readonly isAsked?: boolean
  /** There is no process to be told of. */
  readonly onStart?: never
}

/** The entry of the command line. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

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

interface Streams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

const useStreams = (streams: Streams): void => {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true })
}

const runHere = async (args: readonly string[], options: CommandOptions): Promise<CliResult> => {
  const { cwd = process.cwd(), env = {}, stdin = '', isAsked = false } = options
  const streams = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }
  const own = { argv: process.argv, cwd: process.cwd(), env: { ...process.env } }
  const [out, errors] = [collected(), collected()]
  // As the entry sets it.
  const umask = process.umask(process.umask() | 0o077)
  try {
    process.argv = [process.execPath, MAIN, ...args]
    Object.assign(process.env, env)
    process.chdir(cwd)
    const input = Readable.from([Buffer.from(stdin)])
    if (isAsked) for (const end of [input, errors]) Object.assign(end, { isTTY: true })
    useStreams({ stdin: input, stdout: out, stderr: errors })
    await run(args)
    return { code: Number(process.exitCode ?? 0), stdout: out.text(), stderr: errors.text() }
  } finally {
    useStreams(streams)
    process.argv = own.argv
    process.exitCode = undefined
    process.chdir(own.cwd)
    process.umask(umask)
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(own.env, name)) delete process.env[name]
    Object.assign(process.env, own.env)
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command to its end, behind those that were called before it. A process of its own (`cli` of `test/cli/run-cli.ts`) is
 * for tests of what only a process has: signals, streams of the system, the entry.
 */
export const runCommand = (args: readonly string[], options: CommandOptions = {}): Promise<CliResult> => {
  const result = last.then(() => runHere(args, options))
  last = result.catch(() => undefined)
  return result
}

export const jsonOf = <T>(args: readonly string[], { code, stdout, stderr }: CliResult): T => {
  if (code !== 0) throw new Error(`firmlake ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Runs a command that must end with 0, and reads its JSON. */
export const runCommandJson = async <T>(args: readonly string[], options: CommandOptions = {}): Promise<T> =>
  jsonOf(args, await runCommand([...args, '--json'], options))
