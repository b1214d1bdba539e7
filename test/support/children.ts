import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'

export interface Child {
  readonly pid: number
  /** The next line it prints; `null` when it has ended. */
  readonly nextLine: () => Promise<string | null>
  /** Ends it with SIGKILL and waits for its end. */
  readonly kill: () => Promise<void>
  /** Waits for its end. @returns its exit code */
  readonly ended: () => Promise<number | null>
}

const endOf = async (child: ChildProcessByStdio<null, Readable, null>): Promise<number | null> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

/** Runs a script of the tests in a process of its own. */
export const startChild = (script: URL, ...args: string[]): Child => {
  const child = spawn(process.execPath, [script.pathname, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await endOf(child)
  }
  onTestFinished(kill)
  return {
    pid: child.pid ?? 0,
    nextLine: async () => (await lines.next()).value ?? null,
    kill,
    ended: () => endOf(child),
  }
}
