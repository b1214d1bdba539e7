/** Finds the run to work on: one that was cut off with the same plan, else a new one. */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import { leaseRun, type RunLease } from '../../manifest/run-lease.ts'
import { createRun, listRuns, readPlan, removeCommittedRun } from '../../manifest/runs.ts'
import {
  anyText,
  anything,
  type Form,
  finiteNumber,
  fits,
  list,
  optional,
  shapeOf,
  valuesOf,
  yesNo,
} from '../../support/json-form.ts'
import type { RandomBytes } from '../../support/run-ids.ts'

/** What a run needs to be done again from the start or from where it stood. */
export interface RunPlan {
  /** `convert`, `replay`, `pull`, `sync`, `batches`, or the name of a program's own pipeline. */
  readonly pipeline: string
  /** What a person gave, and the folder it is relative to. */
  readonly inputs: readonly string[]
  readonly cwd: string
  readonly content?: string | undefined
  readonly again: boolean
  /** Options that decide where blocks are cut and which lines are good. */
  readonly limits: Readonly<Record<string, number>>
  /** What else decides what a run loads, as JSON: the search, the service, … */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
}

export interface StartRequest {
  readonly lake: string
  readonly plan: RunPlan
  readonly now: Date
  readonly random: RandomBytes
  /** Mode bits of the lake's folder where it is new. @default 0o700 */
  readonly mode?: number | undefined
}

/** Takes over a run of the same plan whose process is gone, or makes a new run. */
export const startRun = async ({ lake, plan, now, random, mode }: StartRequest): Promise<RunLease> => {
  const wanted: unknown = JSON.parse(JSON.stringify(plan))
  for (const { run, state, committed } of await listRuns(lake, { now }).catch(noLake)) {
    if (state !== 'gone' || !isSamePlan(await readPlan(lake, run).catch(() => undefined), wanted)) continue
    const lease = await leaseRun(lake, run, { now }).catch(takenByAnother)
    if (lease === undefined) continue
    if (committed === null) return lease
    await removeCommittedRun(lease, committed)
  }
  return createRun({ lake, plan, now, random, mode })
}

/** A limit that the release which began the run did not know makes no difference. */
const isSamePlan = (stored: unknown, wanted: unknown): boolean =>
  isPlan(stored) &&
  isPlan(wanted) &&
  isDeepStrictEqual({ ...stored, limits: { ...wanted.limits, ...stored.limits } }, wanted)

const noLake = (error: unknown): [] => {
  if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return []
  throw error
}

const takenByAnother = (error: unknown): undefined => {
  if (error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND'))
    return undefined
  throw error
}

const PLAN: Form<RunPlan> = shapeOf<RunPlan>({
  pipeline: anyText,
  inputs: list(anyText),
  cwd: anyText,
  content: optional(anyText),
  again: yesNo,
  limits: valuesOf(finiteNumber),
  settings: optional(valuesOf(anything)),
})

const isPlan = (value: unknown): value is RunPlan => fits(PLAN, value)

/** The plan of an unfinished run. @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE */
export const planOf = async (lake: string, run: string): Promise<RunPlan> => {
  const plan = await readPlan(lake, run)
  if (isPlan(plan)) return plan
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot resume run "${run}": its plan is of another version`, {
    run,
  })
}
