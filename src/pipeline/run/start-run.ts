/** Finds the run to work on: an interrupted one with the same plan, else a new one. */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import { leaseRun, type RunLease } from '../../manifest/run-lease.ts'
import { createRun, listRuns, readPlan, removeCommittedRun } from '../../manifest/runs.ts'
import { anything, fits, isObject, type JsonObject, objectOf, valuesOf } from '../../support/json-form.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import { encodePlan, type RunPlan } from './run-plan.ts'

/** Texts of files in a run's folder, by their names. */
export type RunTexts = ReadonlyMap<string, string>

export interface StartRequest {
  readonly lake: string
  readonly plan: RunPlan
  readonly now: Date
  readonly random: RandomBytes
  /** What a new run finds in its folder besides its plan, made before it has an owner. @default nothing */
  readonly files?: (() => Promise<RunTexts>) | undefined
  /** Mode bits of the lake's folder where it is new. @default 0o700 */
  readonly mode?: number | undefined
  /** Always makes a new run. @default false */
  readonly fresh?: boolean | undefined
  /** A run whose blocks are of another size, at most this in bytes, is of the same plan too. @default none */
  readonly mostBlockBytes?: number | undefined
}

/** Takes over a run of the same plan whose process is gone, or makes a new run. */
export const startRun = async ({
  plan,
  fresh,
  files,
  mostBlockBytes,
  ...request
}: StartRequest): Promise<RunLease> => {
  const { lake, now } = request
  const stored = encodePlan(plan)
  const create = async (): Promise<RunLease> =>
    createRun({ ...request, plan: stored, files: await files?.() })
  if (fresh) return create()
  const asJson: unknown = JSON.parse(JSON.stringify(stored))
  for (const { run, state, committed, shared } of await listRuns(lake, { now }).catch(noLake)) {
    if (state !== 'gone' || shared) continue
    const before: unknown = await readPlan(lake, run).catch(() => undefined)
    if (!isSamePlan(before, asJson, mostBlockBytes)) continue
    const lease = await leaseRun(lake, run, { now }).catch(takenByAnother)
    if (lease === undefined) continue
    if (committed === null) return lease
    await removeCommittedRun(lease, committed)
  }
  return create()
}

const hasLimits = (plan: unknown): plan is JsonObject & { readonly limits: JsonObject } =>
  isObject(plan) && fits(objectOf({ limits: valuesOf(anything) }), plan)

/** A limit that the release which began the run did not know makes no difference. */
const isSamePlan = (stored: unknown, asked: unknown, mostBlockBytes = 0): boolean => {
  if (!hasLimits(stored) || !hasLimits(asked)) return false
  const { blockBytes, ...limits } = stored.limits
  const isOwnSize = typeof blockBytes === 'number' && blockBytes > mostBlockBytes
  const known = isOwnSize ? { ...limits, blockBytes } : limits
  return isDeepStrictEqual({ ...stored, limits: { ...asked.limits, ...known } }, asked)
}

const noLake = (error: unknown): [] => {
  if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return []
  throw error
}

const takenByAnother = (error: unknown): undefined => {
  if (error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND'))
    return undefined
  throw error
}
