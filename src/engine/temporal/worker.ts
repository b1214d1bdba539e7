/** A worker: takes the steps of runs from a task queue, a few at a time, until it is stopped. */

import { fileURLToPath } from 'node:url'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { ownCode } from '../../support/own-package.ts'
import { type StepOptions, type StepReport, stepActivities } from './activities.ts'
import { CONNECT_WITHIN_MS, connectError, type TemporalAddress } from './connect.ts'

export { addressOf } from './connect.ts'

interface WorkerOptions extends StepOptions {
  /** Steps at once. */
  readonly slots: number
  /** Address of the metrics, `host:port`. @default nowhere */
  readonly metrics?: string | undefined
  /** Stops it: steps under way are ended with SIGTERM, and given to other workers. */
  readonly signal: AbortSignal
  readonly onReady?: () => void
  /** The words of the packages of Temporal. */
  readonly log: (text: string) => void
}

const WORKFLOWS = fileURLToPath(ownCode('engine/temporal/workflows'))

const STEP_SECONDS = 'firmlake_step_duration_seconds'
const BUCKETS = [0.5, 1, 2, 5, 15, 60, 300, 1800, 7200]

/** Counts the steps beside what the engine counts itself. */
const stepMetrics = (): ((step: StepReport) => void) => {
  const { metricMeter } = Runtime.instance()
  const steps = metricMeter.createCounter(
    'firmlake_steps_total',
    undefined,
    'Steps that have ended, by exit code',
  )
  const seconds = metricMeter.createHistogram(STEP_SECONDS, 'float', undefined, 'Time of a step')
  return ({ step, code, seconds: took }) => {
    steps.add(1, { step, code: String(code ?? 'signal') })
    seconds.record(took, { step })
  }
}

/** Once a process: what Temporal's core does for all of its workers. */
const installRuntime = ({ metrics, log }: Pick<WorkerOptions, 'metrics' | 'log'>): void => {
  Runtime.install({
    // Signals are handled by whoever starts the worker.
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message }) => log(`${level.toLowerCase()}: ${message}`)),
    ...(metrics && {
      telemetryOptions: {
        metrics: {
          prometheus: { bindAddress: metrics, histogramBucketOverrides: { [STEP_SECONDS]: BUCKETS } },
        },
      },
    }),
  })
}

/**
 * Works until the signal comes.
 *
 * @throws {ToolkitError} ENGINE_UNREACHABLE, ENGINE_REFUSED
 */
export const runWorker = async (at: TemporalAddress, options: WorkerOptions): Promise<void> => {
  const { slots, signal, onReady, onStep } = options
  installRuntime(options)
  const count = stepMetrics()
  const steps = {
    ...options,
    onStep: (step: StepReport) => {
      count(step)
      onStep?.(step)
    },
  }
  const connection = await connect(at)
  try {
    const worker = await Worker.create({
      ...{ connection, namespace: at.namespace, taskQueue: at.taskQueue },
      workflowsPath: WORKFLOWS,
      activities: stepActivities(steps),
      maxConcurrentActivityTaskExecutions: slots,
      // A worker that is killed leaves its workflows: others take them soon.
      stickyQueueScheduleToStartTimeout: '2s',
      // Beats carry the news that a run is cancelled.
      maxHeartbeatThrottleInterval: '10s',
    })
    const stop = (): void => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    signal.addEventListener('abort', stop, { once: true })
    const running = worker.run()
    if (signal.aborted) stop()
    else onReady?.()
    await running
  } catch (error) {
    throw connectError(error, at)
  } finally {
    await connection.close()
  }
}

const connect = async (at: TemporalAddress): Promise<NativeConnection> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), CONNECT_WITHIN_MS)
  })
  try {
    return await Promise.race([NativeConnection.connect(at.options), late])
  } catch (error) {
    throw connectError(error, at)
  } finally {
    clearTimeout(timer)
  }
}
