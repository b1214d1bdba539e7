/** Builds an index in a process of its own, behind whatever else the machine has to do: a server answers meanwhile. */

import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { isErrorCode, ToolkitError } from '../../../core/errors.ts'
import { ownCode } from '../../../support/own-package.ts'
import type { BuildAnswer, BuildTask } from './build-request.ts'

const CODE = ownCode('server/serving-index/build/build-process')

const putBehind = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended already, or the system does not allow it.
  }
}

/**
 * Builds the index of a snapshot where there is none, or a damaged one.
 *
 * @param onUnusable as of `currentIndex`
 * @throws {ToolkitError} what `currentIndex` throws; ENGINE_FAILED when the process ends without an answer. The signal's
 *   reason when it fires: the process has removed what is unfinished then, and ended.
 */
export const buildAside = async (
  task: BuildTask,
  signal: AbortSignal,
  onUnusable?: (reason: Error) => void,
): Promise<void> => {
  signal.throwIfAborted()
  // Standard output belongs to the access log.
  const child = fork(CODE, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const stop = (): void => {
    if (child.connected) child.disconnect()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    const answer = await answerOf(child, task, signal, onUnusable)
    signal.throwIfAborted()
    if (answer.kind === 'built') return
    const { code, message } = answer
    throw new ToolkitError(isErrorCode(code) ? code : 'ENGINE_FAILED', message, { snapshot: task.snapshot })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type LastAnswer = Exclude<BuildAnswer, { kind: 'unusable' }>

/** The answer that the process sends before it ends. */
const answerOf = (
  child: ChildProcess,
  task: BuildTask,
  stop: AbortSignal,
  onUnusable: ((reason: Error) => void) | undefined,
): Promise<LastAnswer> =>
  new Promise((resolve) => {
    const failed = (reason: string): LastAnswer => ({
      kind: 'failed',
      code: 'ENGINE_FAILED',
      message: `Cannot build the serving index of snapshot ${task.snapshot}: ${reason}`,
    })
    let last: LastAnswer | undefined
    child.on('message', (answer: BuildAnswer) => {
      if (answer.kind === 'unusable') onUnusable?.(new Error(answer.message))
      else last = answer
    })
    child.once('error', ({ message }) => resolve(failed(message)))
    const ended = (code: number | null, signal: NodeJS.Signals | null): void =>
      resolve(last ?? failed(`its process ended with ${signal ?? `exit code ${code}`}`))
    // Messages may come behind the exit; where the channel was closed from this side there is no other event.
    child.once('close', ended)
    child.once('exit', (code, signal) => {
      if (stop.aborted) ended(code, signal)
    })
    putBehind(child)
    child.send(task, () => undefined)
  })
