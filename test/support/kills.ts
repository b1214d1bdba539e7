/** Runs work in a process of its own and kills it at a moment of the work. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** When to kill: so long after the run or its commit has begun; `never` lets it end. */
export type Moment = { readonly after: 'started' | 'committing'; readonly ms: number } | 'never'

export interface Outcome {
  readonly killed: boolean
  /** Whether it had begun to commit. */
  readonly committing: boolean
  readonly code: number | null
  /** From the begin of the run, and of its commit, to the end. */
  readonly workMs: number
  readonly commitMs: number
}

/** @param script prints the kind of each event of its run, among them `started` and `committing` */
export const runAndKill = async (
  script: URL,
  args: readonly string[],
  moment: Moment,
  cwd?: string,
): Promise<Outcome> => {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const began = new Map<string, number>()
  const timers = new AbortController()
  createInterface({ input: child.stdout }).on('line', (kind) => {
    if (began.has(kind)) return
    began.set(kind, performance.now())
    if (moment !== 'never' && moment.after === kind)
      pause(moment.ms, undefined, { signal: timers.signal }).then(
        () => child.kill('SIGKILL'),
        () => undefined,
      )
  })
  const [code, signal] = await ended
  timers.abort()
  const since = (kind: string): number => performance.now() - (began.get(kind) ?? performance.now())
  return {
    killed: signal === 'SIGKILL',
    committing: began.has('committing'),
    code,
    workMs: since('started'),
    commitMs: since('committing'),
  }
}
