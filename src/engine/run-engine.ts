/** An engine that drives the steps of a run on many machines: what it is asked, what it answers, and what it needs of a lake. */

import { type GoneCompanies, unloadedOf } from '../commit/commit-summary.ts'
import { ToolkitError } from '../core/errors.ts'
import { readAllWork, recordedUnits } from '../manifest/runs/journal.ts'
import { type AllWork, together } from '../manifest/runs/journal-lines.ts'
import type { RunReport } from '../run/run-report.ts'
import type { PlannedRun } from '../shared-run/plan-shared-run.ts'
import type { ServiceCounters } from '../source/service/service.ts'
import { liesIn } from '../storage/open-storage.ts'

/** The request to an engine to work on a planned run. It may be stored there for everybody who may read its history. */
export interface EngineRequest extends Pick<PlannedRun, 'phases'> {
  /** An absolute path, or `s3://bucket/prefix`. */
  readonly lake: string
  readonly run: string
  /** Peak memory of a step, in bytes, as the run was planned with. */
  readonly memoryBytes: number
  /** Most units at work over all machines, which share the requests a second of the plan. */
  readonly unitsAtOnce: number
  /** Longest time to wait, in all, for a step that ends with 75. */
  readonly maxWaitMs: number
  /** As `--max-quarantined`. */
  readonly maxQuarantined: string
  /** As `--max-gone`. */
  readonly maxGone: string
  readonly changeCurrency: boolean
  /** Whether a worker commits: the one who asks does where the load is checked first, by the settings of that machine. */
  readonly commits: boolean
}

/** Facts about a committed run that only its steps knew; all else stands in its snapshot. */
export interface EngineOutcome extends Pick<RunReport, 'snapshot' | 'skipped' | 'excluded'> {
  /** Pulled by listing; the search stands in the lake alone. */
  readonly gone?: readonly Omit<GoneCompanies, 'search'>[]
  readonly currencyChange?: NonNullable<RunReport['currencyChange']>
  /** Whether all units are done and no worker has committed: the one who asked does. */
  readonly isOpen?: true
  /** The requests of the workers to a service, of the commit too. */
  readonly requests: ServiceCounters
}

/** An engine, ready to be asked. */
export interface RunEngine {
  /**
   * Begins with a run, or attaches to it where it is under way, and waits until it is committed, or all units are done.
   *
   * @param signal detaches: the run continues
   * @throws {ToolkitError} what a step ended with; `ENGINE_UNREACHABLE`, `ENGINE_REFUSED`, `ENGINE_ENDED`, `INTERRUPTED`
   */
  readonly work: (request: EngineRequest, signal: AbortSignal | undefined) => Promise<EngineOutcome>
  /** Most units at work over all machines. */
  readonly unitsAtOnce: number
  readonly maxWaitMs: number
}

/**
 * Refuses a run of a lake that a worker does not take.
 *
 * @param lakes the places whose lakes it takes @default all
 * @throws {ToolkitError} `USAGE`
 */
export const refuseOtherLakes = async (
  { lake, run }: Pick<EngineRequest, 'lake' | 'run'>,
  lakes: readonly string[] | undefined,
): Promise<void> => {
  if (lakes === undefined || (await liesIn(lake, lakes))) return
  throw new ToolkitError(
    'USAGE',
    `Cannot take a step of run "${run}": its lake is in none of the places that --lakes names`,
    { run },
  )
}

/** Units from `from` to before `to` that are not done. */
export const openUnits = async (
  { lake, run }: Pick<EngineRequest, 'lake' | 'run'>,
  from: number,
  to: number,
): Promise<readonly number[]> => {
  const done = await recordedUnits(lake, run)
  return Array.from({ length: to - from }, (_, at) => from + at).filter((unit) => !done.has(unit))
}

/** Named to an engine, which has bounds for what it stores; the rest is counted. */
const MOST_NAMED = 2000

const bounded = <T extends { readonly source: string }>(items: readonly T[]): readonly T[] => {
  const [last] = items.slice(MOST_NAMED)
  if (last === undefined) return items
  return [...items.slice(0, MOST_NAMED), { ...last, source: `… and ${items.length - MOST_NAMED} more` }]
}

/** The work of a run, none where it is being removed: its commit says how it ended. */
const workSoFar = async ({ lake, run }: Pick<EngineRequest, 'lake' | 'run'>): Promise<AllWork> => {
  try {
    return await readAllWork(lake, run)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'RUN_NOT_FOUND') return together([])
    throw error
  }
}

/** The sources that the units of a run have left out and skipped: its commit removes where that is stored. */
export const unloadedSources = async (
  request: Pick<EngineRequest, 'lake' | 'run'>,
): Promise<Pick<EngineOutcome, 'skipped' | 'excluded'>> => {
  const { skipped, excluded } = unloadedOf((await workSoFar(request)).sources)
  return { skipped: bounded(skipped), excluded: bounded(excluded) }
}
