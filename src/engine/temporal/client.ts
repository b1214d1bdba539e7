/** Hands runs over to Temporal and waits for them: a run has one workflow, and whoever asks for it attaches to it. */

import { setTimeout as pause } from 'node:timers/promises'
import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import { ApplicationFailure, CancelledFailure, TerminatedFailure } from '@temporalio/common'
import { isErrorCode, ToolkitError } from '../../core/errors.ts'
import type { EngineOutcome, EngineRequest, RunEngine } from '../run-engine.ts'
import { CONNECT_WITHIN_MS, connectError, type TemporalAddress } from './connect.ts'
import type { RunOrder } from './requests.ts'
import type { firmlakeRun } from './workflows.ts'

export { addressOf } from './connect.ts'

interface ClientOptions {
  readonly unitsAtOnce: number
  /** Longest wait for steps that end with 75, and for a server that is gone. */
  readonly maxWaitMs: number
  /** Called where nobody takes steps from the task queue. */
  readonly onNoWorker?: (taskQueue: string) => void
  /** Called where the server has forgotten the run: it is started again. */
  readonly onForgotten?: (run: string) => void
  /** Longest silence of a worker at a unit. @default 60 s */
  readonly heartbeatMs?: number
}

const HEARTBEAT_MS = 60_000
const LOOK_FOR_WORKERS_MS = 5000
const RETRY_MS = 1000
const ACTIVITY_QUEUE = 2

const workflowIdOf = (run: string): string => `firmlake/${run}`

/** The error that ended a workflow, in our words. */
const endOf = (error: WorkflowFailedError, run: string): ToolkitError => {
  let cause: unknown = error.cause
  while (cause instanceof Error && cause.cause !== undefined && !(cause instanceof ApplicationFailure))
    cause = cause.cause
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return new ToolkitError(cause.type, cause.message, { run }, error)
  const how =
    cause instanceof CancelledFailure
      ? 'it was cancelled'
      : cause instanceof TerminatedFailure
        ? 'it was terminated'
        : cause instanceof Error
          ? cause.message
          : 'it failed'
  return new ToolkitError(
    'ENGINE_ENDED',
    `Cannot finish run "${run}": Temporal has ended its workflow, ${how}; what is done is kept`,
    { run },
    error,
  )
}

class TemporalEngine implements RunEngine {
  readonly unitsAtOnce: number
  readonly maxWaitMs: number
  readonly #client: Client
  readonly #at: TemporalAddress
  readonly #options: ClientOptions

  constructor(client: Client, at: TemporalAddress, options: ClientOptions) {
    this.unitsAtOnce = options.unitsAtOnce
    this.maxWaitMs = options.maxWaitMs
    this.#client = client
    this.#at = at
    this.#options = options
  }

  async work(request: EngineRequest, signal: AbortSignal | undefined): Promise<EngineOutcome> {
    const over = new AbortController()
    const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal
    void this.#lookForWorkers(stop).catch(() => undefined)
    try {
      return await Promise.race([this.#finish(request, stop), detached(request.run, signal)])
    } finally {
      over.abort()
    }
  }

  /** Starts the workflow of a run or attaches to it, and again where the server was away or has forgotten it. */
  async #finish(request: EngineRequest, stop: AbortSignal): Promise<EngineOutcome> {
    const { run } = request
    let goneSinceMs: number | undefined
    let started = false
    while (!stop.aborted) {
      try {
        const handle = await this.#start(request)
        started = true
        goneSinceMs = undefined
        return await handle.result()
      } catch (error) {
        if (error instanceof WorkflowFailedError) throw endOf(error, run)
        if (error instanceof WorkflowNotFoundError) this.#options.onForgotten?.(run)
        else {
          const failure = connectError(error, this.#at)
          goneSinceMs ??= performance.now()
          const isGone = failure instanceof ToolkitError && failure.code === 'ENGINE_UNREACHABLE'
          if (!isGone || !started || performance.now() - goneSinceMs > this.maxWaitMs) throw failure
        }
        await pause(RETRY_MS)
      }
    }
    return new Promise(() => undefined)
  }

  async #start(request: EngineRequest) {
    const workflowId = workflowIdOf(request.run)
    const order: RunOrder = { ...request, heartbeatMs: this.#options.heartbeatMs ?? HEARTBEAT_MS }
    try {
      return await this.#client.workflow.start<typeof firmlakeRun>('firmlakeRun', {
        ...{ workflowId, taskQueue: this.#at.taskQueue, args: [order] },
        // A workflow that failed or was cancelled may be tried again; one that runs is attached to.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
      return this.#client.workflow.getHandle<typeof firmlakeRun>(workflowId)
    }
  }

  async #lookForWorkers(stop: AbortSignal): Promise<void> {
    await pause(LOOK_FOR_WORKERS_MS, undefined, { signal: stop })
    const { namespace, taskQueue } = this.#at
    const { pollers } = await this.#client.workflowService.describeTaskQueue({
      ...{ namespace, taskQueue: { name: taskQueue }, taskQueueType: ACTIVITY_QUEUE },
    })
    if (!pollers?.length) this.#options.onNoWorker?.(taskQueue)
  }
}

/** Fails when the signal comes; the run continues. */
const detached = (run: string, signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const leave = (): void =>
      reject(
        new ToolkitError(
          'INTERRUPTED',
          `Detached from run "${run}", which continues: the same command attaches again`,
          {
            run,
          },
        ),
      )
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })

/**
 * Uses Temporal for a while.
 *
 * @throws {ToolkitError} ENGINE_UNREACHABLE, ENGINE_REFUSED before anything is planned
 */
export const withTemporal = async <T>(
  at: TemporalAddress,
  options: ClientOptions,
  use: (engine: RunEngine) => Promise<T>,
): Promise<T> => {
  const connection = await connect(at)
  try {
    return await use(new TemporalEngine(new Client({ connection, namespace: at.namespace }), at, options))
  } finally {
    await connection.close()
  }
}

const connect = async (at: TemporalAddress): Promise<Connection> => {
  try {
    const connection = await Connection.connect({ ...at.options, connectTimeout: CONNECT_WITHIN_MS })
    await connection.workflowService.describeNamespace({ namespace: at.namespace })
    return connection
  } catch (error) {
    throw connectError(error, at)
  }
}
