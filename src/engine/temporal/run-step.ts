/** A step of a run as a process of its own, so that one that runs out of memory costs one attempt. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** How a step ended. */
export interface StepEnd {
  /** Its exit code; `null` where a signal ended it that it was not sent by us. */
  readonly code: number | null
  readonly stdout: string
  /** The code and message that it printed for programs, if it did. */
  readonly error: { readonly code: string; readonly message: string } | undefined
}

/** From a SIGTERM to a SIGKILL. */
const GRACE_MS = 20_000
const TERMINATED = 143
const MOST_CHARACTERS = 16 * 1024 ** 2

const textOf = async (stream: Readable): Promise<string> => {
  const parts: string[] = []
  let characters = 0
  for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
    characters += text.length
    if (characters <= MOST_CHARACTERS) parts.push(text)
  }
  return parts.join('')
}

/** `{"error":{"code","message"}}`, which a command prints last with `--json`. */
const errorIn = (line: string): StepEnd['error'] => {
  try {
    const { error }: { readonly error?: { readonly code?: unknown; readonly message?: unknown } } =
      JSON.parse(line)
    if (typeof error?.code === 'string' && typeof error.message === 'string')
      return { code: error.code, message: error.message }
  } catch {
    // A line for people.
  }
  return undefined
}

const lastError = async (stream: Readable): Promise<StepEnd['error']> => {
  let last: StepEnd['error']
  for await (const line of createInterface({ input: stream })) last = errorIn(line) ?? last
  return last
}

/**
 * Runs a step to its end.
 *
 * @param command the program and its first arguments
 * @param signal stops it with SIGTERM, and with SIGKILL where that takes long
 */
export const runStep = async (
  [program = '', ...first]: readonly string[],
  args: readonly string[],
  signal: AbortSignal,
): Promise<StepEnd> => {
  const child = spawn(program, [...first, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let killing: NodeJS.Timeout | undefined
  const stop = (): void => {
    child.kill('SIGTERM')
    killing = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    const [stdout, error, [code]] = await Promise.all([textOf(child.stdout), lastError(child.stderr), ended])
    // Stopped before it could answer: that is no failure of its own.
    return { code: code === null && signal.aborted ? TERMINATED : code, stdout, error }
  } finally {
    clearTimeout(killing)
    signal.removeEventListener('abort', stop)
  }
}
