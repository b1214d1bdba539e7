/** A run that any number of processes work on, on any machine: what is stored of it, and whether it still stands. */

import { ToolkitError } from '../../core/errors.ts'
import type { SnapshotHead } from '../../core/partition.ts'
import { isSharedRun, type SeenRun, seeRun, sharedRunState } from '../../manifest/runs/run-lease.ts'
import { type RunUnits, readUnits, type WorkUnit } from '../../manifest/runs/units.ts'
import { headOf } from '../../manifest/snapshots/snapshot-root.ts'
import { findCommit, newestRoot } from '../../manifest/snapshots/snapshots.ts'
import { planOf, type RunPlan } from '../../run/run-plan.ts'
import { TOOL } from '../../support/own-package.ts'
import { isRunId } from '../../support/run-ids.ts'

/** A unit with its id. */
export interface NumberedUnit extends WorkUnit {
  readonly id: number
}

export interface SharedRun extends Omit<RunUnits, 'units'> {
  readonly seen: SeenRun
  readonly plan: RunPlan
  readonly units: readonly NumberedUnit[]
}

/** What is found of a run before anything of it is read. */
export type SeenShared =
  | { readonly kind: 'open'; readonly seen: SeenRun }
  /** It is in the lake; its folder may be gone. */
  | { readonly kind: 'committed'; readonly snapshot: SnapshotHead }
  /** It was removed, and something of it is left. */
  | { readonly kind: 'removed' }

/** What is found of a run. */
export type FoundRun =
  | Exclude<SeenShared, { readonly kind: 'open' }>
  | { readonly kind: 'open'; readonly shared: SharedRun }

export const notFound = (run: string, why = 'there is no such run', cause?: unknown): ToolkitError =>
  new ToolkitError('RUN_NOT_FOUND', `Cannot find run "${run}": ${why}`, { run }, cause)

/** The snapshot that shows a run; `null` where none does. @param base newest snapshot when the run began */
export const commitOf = async (lake: string, run: string, base = 0): Promise<SnapshotHead | null> => {
  const found = await findCommit(lake, run, base, await newestRoot(lake))
  return found && headOf(found)
}

/** @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE where it is damaged */
const readShared = async (seen: SeenRun): Promise<SharedRun> => {
  const { lake, run } = seen
  const plan = await planOf(lake, run)
  const stored = await readUnits(lake, run)
  if (stored === undefined) throw notFound(run, 'it has no units')
  return { ...stored, seen, plan, units: stored.units.map((unit, id) => ({ ...unit, id })) }
}

/** Looks for a run, also for one that is damaged. @throws {ToolkitError} RUN_NOT_FOUND, LAKE_NOT_FOUND */
export const seeShared = async (lake: string, run: string): Promise<SeenShared> => {
  if (!isRunId(run)) throw notFound(run, 'it is not the id of a run')
  const seen = await seeRun(lake, run)
  const committed = async (): Promise<SeenShared | null> => {
    const snapshot = await commitOf(lake, run, seen?.base)
    return snapshot && { kind: 'committed', snapshot }
  }
  const before = await committed()
  if (before) return before
  const state = await sharedRunState(lake, run)
  if (seen && state === 'open') return { kind: 'open', seen }
  // It may have been committed, and its folder removed, just now.
  const now = await committed()
  if (now) return now
  if (state === 'removed') return { kind: 'removed' }
  throw notFound(
    run,
    seen === null
      ? 'there is no such run; it was cancelled, or nobody had worked on it for a day'
      : 'it is not one that several machines work on, "firmlake resume" resumes it',
  )
}

/**
 * Finds a run. @throws {ToolkitError} RUN_NOT_FOUND for one of which nothing is left, or that one process owns;
 * RUN_NOT_RESUMABLE where it is damaged; LAKE_NOT_FOUND
 */
export const findRun = async (lake: string, run: string): Promise<FoundRun> => {
  const found = await seeShared(lake, run)
  if (found.kind !== 'open') return found
  try {
    return { kind: 'open', shared: await readShared(found.seen) }
  } catch (error) {
    const now = await seeShared(lake, run)
    if (now.kind !== 'open') return now
    throw error
  }
}

/** Of a run that was removed while something of it is left. */
export const removedRun = (run: string): ToolkitError =>
  notFound(run, 'it was cancelled, "firmlake run cancel" removes what is left of it')

/** What failed because the run was removed meanwhile says so: the same again could only fail again. */
export const failureOfRun = async ({ lake, run }: SeenRun, error: unknown): Promise<unknown> => {
  const stands = await isSharedRun(lake, run).catch(() => true)
  return stands ? error : notFound(run, 'it was removed meanwhile', error)
}

/** @throws {ToolkitError} RUN_OTHER_RELEASE */
export const checkRelease = ({ tool, seen: { run } }: SharedRun): void => {
  if (tool === TOOL) return
  throw new ToolkitError(
    'RUN_OTHER_RELEASE',
    `Cannot work on run "${run}": ${tool ?? 'another release'} planned it, and this is ${TOOL}`,
    { run },
  )
}

/** Units of one phase stand beside each other. */
export interface Phase {
  readonly first: number
  readonly count: number
}

export const phasesOf = (units: readonly WorkUnit[]): readonly Phase[] => {
  const phases: Phase[] = []
  for (const [id, { phase }] of units.entries()) {
    const last = phases.at(-1)
    if (last && units[id - 1]?.phase === phase) phases[phases.length - 1] = { ...last, count: last.count + 1 }
    else phases.push({ first: id, count: 1 })
  }
  return phases
}
