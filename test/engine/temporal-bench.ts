/** Workers and commands that meet at a Temporal server: the real command line. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Client, Connection } from '@temporalio/client'
import { MAIN } from '../support/run-command.ts'

export interface WorkerProcess extends AsyncDisposable {
  readonly child: ChildProcess
  /** What it has said so far. */
  readonly lines: readonly string[]
  /** Waits until it says something that fits. */
  readonly said: (what: RegExp) => Promise<void>
  /** @returns its exit code, or the signal that ended it */
  readonly end: (signal: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>
}

export interface WorkerOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly main?: string
  /** Whether disposing of it ends what it has started as well. @default false */
  readonly group?: boolean
}

/** Also what a process has left behind that was killed alone. */
const endGroup = (leader: number | undefined): void => {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody of it lives.
  }
}

/** Starts `firmlake worker`. */
export const openWorker = (
  address: string,
  args: readonly string[],
  { cwd, env, main = MAIN, group = false }: WorkerOptions,
): WorkerProcess => {
  const child = spawn(process.execPath, [main, 'worker', '--temporal', address, ...args], {
    ...{ cwd, env: { ...process.env, ...env } },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: group,
  })
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const lines: string[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line)
    for (const look of waiting) look()
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    const [code, by] = await ended
    return code ?? by
  }
  return {
    child,
    lines,
    said: async (what) => {
      const heard = new Promise<void>((resolve) => {
        const look = (): void => {
          if (!lines.some((line) => what.test(line))) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
      const over = ended.then(([code]) => {
        throw new Error(`The worker ended with ${code}: ${lines.join('\n')}`)
      })
      await Promise.race([heard, over])
    },
    end,
    [Symbol.asyncDispose]: async () => {
      if (group) endGroup(child.pid)
      await end('SIGKILL')
    },
  }
}

/** Asks the server itself. */
export const withClient = async <T>(address: string, use: (client: Client) => Promise<T>): Promise<T> => {
  const connection = await Connection.connect({ address })
  try {
    return await use(new Client({ connection }))
  } finally {
    await connection.close()
  }
}

/** What workflows and steps were given and have answered, as the text that it is. */
const legible = (name: string, value: unknown): unknown =>
  name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value

/** All that the server keeps of the workflow of a run and of its children, as text. */
export const historiesOf = (address: string, run: string): Promise<string> =>
  withClient(address, async ({ workflow }) => {
    const strings: string[] = []
    const ids = new Set([`firmlake/${run}`])
    // A set is walked with what is added to it meanwhile.
    for (const id of ids) {
      const { events } = await workflow.getHandle(id).fetchHistory()
      for (const { childWorkflowExecutionStartedEventAttributes: child } of events ?? [])
        if (child?.workflowExecution?.workflowId) ids.add(child.workflowExecution.workflowId)
      strings.push(JSON.stringify(events, legible))
    }
    return strings.join('\n')
  })
