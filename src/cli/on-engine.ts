/** Hands the run of a command over to an engine, and shows how far it is. */

import { ToolkitError } from '../core/errors.ts'
import type { OnEngine } from '../engine/on-engine.ts'
import { formatCount, formatCounted } from '../support/format.ts'
import { checkEngine, type EngineFlags, temporalPlace, unitsAtOnceOf } from './options/engine-options.ts'
import { note } from './output/print.ts'
import type { ProgressLine } from './output/progress-line.ts'

/** The note of a command whose run continues without it. */
export const DETACHING = 'the run continues, the same command attaches again'

const watchUnits = (line: ProgressLine): NonNullable<OnEngine['onUnits']> => {
  let known = false
  return ({ run, units, done, attached }) => {
    const counted = formatCounted(units, 'unit')
    if (!known)
      line.log(attached ? `Attached to run ${run}: ${counted}` : `Run ${run} is handed over: ${counted}`)
    else line.show(() => `${formatCount(done)}/${counted} done`, { amount: { done, total: units } })
    known = true
  }
}

const engineJobs = () => import('../engine/on-engine.ts')

/**
 * Does a job on the engine that the flags name, or here where they name none.
 *
 * @throws {ToolkitError} USAGE, PACKAGE_MISSING, ENGINE_UNREACHABLE, ENGINE_REFUSED before anything is planned
 */
export const onEngineOr = async <T>(
  flags: EngineFlags & {
    readonly maxWaitMs: number
    readonly unitBytes?: number | undefined
    readonly maxRequestsPerSecond?: number | undefined
    readonly dryRun?: boolean | undefined
    readonly expectNothing?: boolean | undefined
  },
  line: ProgressLine,
  here: () => Promise<T>,
  there: (jobs: Awaited<ReturnType<typeof engineJobs>>, on: OnEngine) => Promise<T>,
): Promise<T> => {
  checkEngine(flags)
  if (flags.engine === undefined) return here()
  if (flags.dryRun || flags.expectNothing)
    throw new ToolkitError(
      'USAGE',
      'Cannot use --dry-run or --expect-nothing with --engine: expected one of them',
    )
  const { unitBytes, maxRequestsPerSecond, maxWaitMs } = flags
  const { clientPart } = await import('../engine/temporal/packages.ts')
  const { addressOf, withTemporal } = await clientPart()
  const options = {
    ...{ unitsAtOnce: unitsAtOnceOf(flags), maxWaitMs },
    onNoWorker: (taskQueue: string) =>
      note(
        `No worker takes units of task queue "${taskQueue}": start "firmlake worker" with the same options`,
      ),
    onForgotten: (run: string) =>
      note(`Temporal has forgotten run ${run}: it is started again, what is done is kept`),
  }
  const jobs = await engineJobs()
  return withTemporal(addressOf(temporalPlace(flags)), options, (engine) =>
    there(jobs, { engine, unitBytes, maxRequestsPerSecond, onUnits: watchUnits(line) }),
  )
}

/** Units of work for many machines in place of the load; its code is imported where it is asked for. */
export const planOnly = async (
  ...asked: Parameters<typeof import('./plan-only.ts').planOnly>
): Promise<void> => (await import('./plan-only.ts')).planOnly(...asked)
