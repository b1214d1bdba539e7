/**
 * The activities of a worker: each checks the order that came through the engine, since anybody who may write there starts processes
 * here, then runs a step as a process of its own, so that one that runs out of memory costs one attempt, or reads the lake itself.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isAbsolute } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'
import { knownError, ToolkitError } from '../../core/errors.ts'
import { EXIT, exitCodeOfStep } from '../../core/exit-codes.ts'
import type { CommitRunReport, workRun } from '../../jobs/run-steps.ts'
import { count, type Form, FormError, form, list, objectOf, yesNo } from '../../support/json-form.ts'
import { isRunId } from '../../support/run-ids.ts'
import { openUnits, refuseOtherLakes, unloadedSources } from '../run-engine.ts'
import { type RunOrder, type StepActivities, UNITS_OF_SHARD } from './requests.ts'

/** How a worker does its steps. */
export interface StepOptions {
  /** The program and its first arguments, to which `run work …` is added. */
  readonly command: readonly string[]
  /** Further options of `run work` and `run commit`. */
  readonly stepArgs?: readonly string[]
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

/** Sends heartbeats while work is done: a lost worker is noticed, and a worker that shall stop is notified. */
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

export const stepActivities = ({ command, stepArgs = [], lakes, onStep }: StepOptions): StepActivities => {
  const step = async (order: RunOrder, kind: StepReport['step'], args: readonly string[], unit?: number) =>
    beating(async (signal) => {
      const { run, lake, memoryBytes } = order
      // Each in one word: none is taken for an option.
      const common = [`--lake=${lake}`, `--memory=${memoryBytes}`, '--json']
      const startMs = performance.now()
      const ended = await runStep(command, ['run', kind, run, ...common, ...args, ...stepArgs], signal)
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
      if (code === EXIT.done || code === EXIT.excluded) return ended
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
      const args = [`--unit=${unit}`, `--workers=${workersOf(order)}`]
      const { stdout } = await step(order, 'work', args, unit)
      const { requests }: Awaited<ReturnType<typeof workRun>> = JSON.parse(stdout)
      return requests
    },
    commit: async (order) => {
      await checked(order)
      const { maxQuarantined, maxGone, changeCurrency } = order
      const limits = [`--max-quarantined=${maxQuarantined}`, `--max-gone=${maxGone}`]
      const args = [...limits, ...(changeCurrency ? ['--change-currency'] : [])]
      const { stdout } = await step(order, 'commit', args)
      const done: CommitRunReport = JSON.parse(stdout)
      const { snapshot } = done
      if (done.kind === 'already') return { snapshot, report: null }
      const { skipped, excluded, currencyChange, gone, requests } = done
      const marks = gone?.map(({ search: _, ...one }) => one)
      const found = { ...(currencyChange && { currencyChange }), ...(marks && { gone: marks }) }
      return { snapshot, report: { skipped, excluded, ...found }, ...(requests && { requests }) }
    },
  }
}

const text = (is: (value: string) => boolean, expected: string): Form<string> =>
  form((value): value is string => typeof value === 'string' && is(value), expected)

const LIMIT = text((one) => /^\d{1,15}(\.\d{1,15})?%?$/.test(one), 'a number or a share')

const ORDER = objectOf({
  run: text(isRunId, 'the id of a run'),
  lake: text(
    (one) => !one.includes('\0') && (isAbsolute(one) || /^[a-z][a-z0-9+.-]*:\/\//i.test(one)),
    'an absolute path or an address',
  ),
  phases: list(objectOf({ count })),
  memoryBytes: count,
  unitsAtOnce: count,
  maxWaitMs: count,
  maxQuarantined: LIMIT,
  maxGone: LIMIT,
  ...{ changeCurrency: yesNo, commits: yesNo },
  heartbeatMs: count,
})

/**
 * @param lakes the places whose lakes the worker takes @default all
 * @throws {ToolkitError} `USAGE`
 */
export const checkOrder = async (order: RunOrder, lakes: readonly string[] | undefined): Promise<void> => {
  try {
    ORDER(order, 'order')
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    throw new ToolkitError('USAGE', `Cannot take a step of the engine: ${error.message}`)
  }
  await refuseOtherLakes(order, lakes)
}

/** A unit, or a range of them to before the second. @throws {ToolkitError} `USAGE` */
export const checkUnits = (from: number, to = from): void => {
  const areNumbers = [from, to].every((unit) => Number.isSafeInteger(unit) && unit >= 0)
  // A worker lists the range: one without an end would take all of its memory.
  if (areNumbers && to - from <= UNITS_OF_SHARD) return
  throw new ToolkitError(
    'USAGE',
    `Cannot take a step of the engine: expected units by their numbers, at most ${UNITS_OF_SHARD}`,
  )
}

/** How a step ended. */
interface StepEnd {
  /** Exit code of the process; `null` where a signal ended it that it was not sent by us. */
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
const runStep = async (
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
