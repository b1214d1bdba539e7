/** What a worker does for the workflows: it starts the steps of a run as processes, and looks at a lake itself. */

import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'
import { knownError } from '../../core/errors.ts'
import { EXIT, exitCodeOfStep } from '../../core/exit-codes.ts'
import { openUnits, unloadedSources } from '../../jobs/steps/run-engine.ts'
import type { CommitRunReport, workRun } from '../../jobs/steps/run-steps.ts'
import { checkOrder, checkUnits } from './check-order.ts'
import type { RunOrder, StepActivities } from './requests.ts'
import { runStep, type StepEnd } from './run-step.ts'

/** How a worker does its steps. */
export interface StepOptions {
  /** The program and its first arguments, to which `run work …` is added. */
  readonly command: readonly string[]
  /** Further options of `run work`. */
  readonly workArgs?: readonly string[]
  /** Places whose lakes it takes, folders or `s3://bucket/prefix`. @default all */
  readonly lakes?: readonly string[] | undefined
  readonly onStep?: (step: StepReport) => void
}

/** A step that has ended. */
export interface StepReport {
  readonly run: string
  readonly step: 'work' | 'commit'
  readonly unit?: number
  readonly code: number | null
  readonly seconds: number
  readonly error?: StepEnd['error']
}

const failure = (code: number | null, error: StepEnd['error'], what: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: error?.code ?? 'UNEXPECTED',
    message: error?.message ?? `Cannot ${what}: its process ended with ${code ?? 'a signal'}`,
    details: [code],
    nonRetryable: true,
  })

/** Looks at a lake; a failure has the exit code that a step of it would end with. */
const looking = async <T>(what: string, look: () => Promise<T>): Promise<T> => {
  try {
    return await look()
  } catch (error) {
    const { code, message } = knownError(error) ?? { code: 'UNEXPECTED', message: `Cannot ${what}` }
    throw failure(exitCodeOfStep(error), { code, message }, what)
  }
}

/** Beats while work is done, so that a worker that has vanished is noticed, and one that shall stop hears of it. */
const beating = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const { cancellationSignal, heartbeat, info } = Context.current()
  const timer = setInterval(heartbeat, (info.heartbeatTimeoutMs ?? 60_000) / 6)
  try {
    return await work(cancellationSignal)
  } finally {
    clearInterval(timer)
  }
}

const isCancelled = (): boolean => Context.current().cancellationDetails?.cancelRequested === true

const workersOf = ({ phases, unitsAtOnce }: RunOrder): number =>
  Math.min(unitsAtOnce, Math.max(1, ...phases.map(({ count }) => count)))

export const stepActivities = ({ command, workArgs = [], lakes, onStep }: StepOptions): StepActivities => {
  const step = async (order: RunOrder, kind: StepReport['step'], args: readonly string[], unit?: number) =>
    beating(async (signal) => {
      const { run, lake, memoryBytes } = order
      // Each in one word: none is taken for an option.
      const common = [`--lake=${lake}`, `--memory=${memoryBytes}`, '--json']
      const startMs = performance.now()
      const ended = await runStep(command, ['run', kind, run, ...common, ...args], signal)
      const seconds = Math.round(performance.now() - startMs) / 1000
      const { code, error } = ended
      onStep?.({
        run,
        step: kind,
        ...(unit !== undefined && { unit }),
        code,
        seconds,
        ...(error && { error }),
      })
      if (code === EXIT.done || code === EXIT.leftOut) return ended
      if (isCancelled()) throw new CancelledFailure('The run is cancelled')
      throw failure(
        code,
        error,
        unit === undefined ? `commit run "${run}"` : `load unit ${unit} of run "${run}"`,
      )
    })
  const checked = (order: RunOrder): Promise<void> => looking('take the step', () => checkOrder(order, lakes))
  return {
    openUnits: async (order, from, to) => {
      await checked(order)
      return looking('list the units', async () => {
        checkUnits(from, to)
        return openUnits(order, from, to)
      })
    },
    unloadedSources: async (order) => {
      await checked(order)
      return beating(() => looking('read the records of units', () => unloadedSources(order)))
    },
    work: async (order, unit) => {
      await checked(order)
      await looking('take the step', async () => checkUnits(unit))
      const args = [`--unit=${unit}`, `--workers=${workersOf(order)}`, ...workArgs]
      const { stdout } = await step(order, 'work', args, unit)
      const { requests }: Awaited<ReturnType<typeof workRun>> = JSON.parse(stdout)
      return requests
    },
    commit: async (order) => {
      await checked(order)
      const { maxQuarantined, changeCurrency } = order
      const args = [`--max-quarantined=${maxQuarantined}`, ...(changeCurrency ? ['--change-currency'] : [])]
      const { stdout } = await step(order, 'commit', args)
      const done: CommitRunReport = JSON.parse(stdout)
      const { snapshot } = done
      if (done.kind === 'already') return { snapshot, report: null }
      const { skipped, leftOut, currencyChange } = done
      return { snapshot, report: { skipped, leftOut, ...(currencyChange && { currencyChange }) } }
    },
  }
}
