/**
 * Plans a run that any number of processes work on: what there is to do is cut into units, which are stored before the run
 * has an owner. Nothing is loaded.
 */

import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { jobKind } from '../kinds/kinds.ts'
import { SHARED } from '../manifest/runs/run-lease.ts'
import { createRun, readPlan, runsIfAny } from '../manifest/runs/runs.ts'
import { type RunUnits, readUnits, UNITS_FILE, unitsText, type WorkUnit } from '../manifest/runs/units.ts'
import { letLoad } from '../run/discard-held.ts'
import type { KindOptions, PreparedJob, SkippedSource } from '../run/job-kind.ts'
import { defaultLimits } from '../run/load-into-lake.ts'
import { projectionOfRun } from '../run/projection-of-run.ts'
import { isSamePlan, type LoadJob, type RunLimits, type RunPlan, storedPlan } from '../run/run-plan.ts'
import { isOfNewest } from '../run/same-work.ts'
import { TOOL } from '../support/own-package.ts'
import { type Phase, phasesOf } from './shared-run.ts'

/** Stored bytes of the files of a unit. */
const DEFAULT_UNIT_BYTES = 64 * 1024 ** 2

export interface PlanOptions extends KindOptions {
  readonly job: LoadJob
  /** The job, where it is known already that it can be done. */
  readonly prepared?: PreparedJob
  readonly limits?: RunLimits | undefined
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /** Stored bytes of files in a unit. @default 64 MiB */
  readonly unitBytes?: number | undefined
  /** Requests a second of all workers together. @default learnt from the answers, by each for itself */
  readonly maxRequestsPerSecond?: number | undefined
}

/** A run as it was planned. */
export interface PlannedRun {
  /** `null`: there is nothing to load, and no run was begun. */
  readonly run: string | null
  readonly tool: string
  readonly units: number
  readonly phases: readonly Phase[]
  /** Whether the same plan was there already, not finished. */
  readonly existing: boolean
  readonly skipped: readonly SkippedSource[]
}

/** Unfinished runs of a plan that processes may still work on, or that were committed and are what the plan is about. */
const openRuns = async (lake: string, plan: RunPlan): Promise<readonly [run: string, units: RunUnits][]> => {
  const now = new Date()
  const found: [run: string, units: RunUnits][] = []
  for (const { run, state, shared, committed } of await runsIfAny(lake, { now })) {
    if (!shared || state === 'gone') continue
    if (committed !== null && !(await isOfNewest({ lake, committed }, plan, now))) continue
    // No bytes of batch files are known here that could be compared.
    if (committed !== null && plan.jobs.some(({ kind }) => kind === 'batches')) continue
    const units = await readUnits(lake, run)
    if (units && isSamePlan(await readPlan(lake, run).catch(() => undefined), plan)) found.push([run, units])
  }
  return found
}

/** Whether a run that was planned before is what would be planned now. */
const isSame = (before: RunUnits, now: Omit<RunUnits, 'units'>): boolean => {
  const { units: _, ...settings } = before
  return isDeepStrictEqual(settings, JSON.parse(JSON.stringify(now)))
}

const plannedAs = (
  run: string | null,
  units: readonly WorkUnit[],
  existing: boolean,
  skipped: readonly SkippedSource[] = [],
): PlannedRun => ({ run, tool: TOOL, units: units.length, phases: phasesOf(units), existing, skipped })

/**
 * Plans a run. The same plan that is not finished yet gives the run that is there: of files only where they are the same.
 *
 * @throws {ToolkitError} USAGE for standard input, and what the inputs or the service throw; no run is begun then
 */
export const planSharedRun = async (options: PlanOptions): Promise<PlannedRun> => {
  const { lake, job, again = false, limits, skipBadFiles, mode } = options
  const { maxRequestsPerSecond: requestsPerSecond, unitBytes = DEFAULT_UNIT_BYTES } = options
  await letLoad(lake)
  const plan: RunPlan = {
    ...{ jobs: [job], again, limits: { ...defaultLimits(options), ...limits } },
    ...(await projectionOfRun(lake, options)),
  }
  const settings = {
    tool: TOOL,
    ...(skipBadFiles && { skipBadFiles }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
  }
  const before = (await openRuns(lake, plan)).filter(([, units]) => isSame(units, settings))
  // A service has moved on meanwhile: what was planned of it stays.
  const [first] = job.kind === 'convert' ? [] : before
  if (first) return plannedAs(first[0], first[1].units, true)
  const prepared = options.prepared ?? (await (await jobKind(job)).prepare(job, options, again))
  const { units, strings, skipped } = await prepared.cut(plan, unitBytes)
  const same = before.find(([, one]) => isDeepStrictEqual(one.units, JSON.parse(JSON.stringify(units))))
  if (same) return plannedAs(same[0], units, true, skipped)
  const isPull = job.kind === 'pull' || job.kind === 'sync'
  // A pull of which nothing comes is recorded too: "since last" continues from it.
  if (units.length === 0 && !isPull) return plannedAs(null, [], false, skipped)
  const { run } = await createRun({
    ...{ lake, mode, now: new Date(), random: randomBytes, process: SHARED },
    plan: storedPlan(plan),
    files: new Map([...strings, [UNITS_FILE, unitsText({ ...settings, units })]]),
  })
  return plannedAs(run, units, false, skipped)
}
