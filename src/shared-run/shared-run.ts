/**
 * A run that any number of processes work on, on any machine: what is stored of it, how far it is, its end without a commit, and
 * folders for what one attempt works with.
 */

import { ToolkitError } from '../core/errors.ts'
import type { SnapshotHead } from '../core/partition.ts'
import { sumOf } from '../manifest/form/totals.ts'
import { readAllWork, recordedUnits } from '../manifest/runs/journal.ts'
import { type RunState, runState, type SeenRun } from '../manifest/runs/run-lease.ts'
import { lookUpRun, removeRunFolder } from '../manifest/runs/runs.ts'
import { countCommits, endRun, hasEnded } from '../manifest/runs/shared-commits.ts'
import { type RunUnits, readUnits, type WorkUnit } from '../manifest/runs/units.ts'
import { planOf, type RunPlan } from '../run/run-plan.ts'
import { TOOL } from '../support/own-package.ts'

/** A unit with its id. */
export interface NumberedUnit extends WorkUnit {
  readonly id: number
}

export interface SharedRun extends Omit<RunUnits, 'units'> {
  readonly seen: SeenRun
  readonly plan: RunPlan
  readonly units: readonly NumberedUnit[]
}

/** A run as it is found before anything of it is read. */
type SeenShared =
  | OpenRun
  /** The run is in the lake; its folder may be gone. */
  | { readonly kind: 'committed'; readonly snapshot: SnapshotHead }
  /** The run had found nothing new; its folder may be gone. */
  | { readonly kind: 'ended'; readonly hasFolder: boolean }
  /** The run was cancelled, and something of it is left. */
  | { readonly kind: 'cancelled' }

interface OpenRun {
  readonly kind: 'open'
  readonly seen: SeenRun
}

export const notFound = (run: string, why = 'there is no such run', cause?: unknown): ToolkitError =>
  new ToolkitError('RUN_NOT_FOUND', `Cannot find run "${run}": ${why}`, { run }, cause)

/** @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE where it is damaged */
const readShared = async (seen: SeenRun): Promise<SharedRun> => {
  const { lake, run } = seen
  const plan = await planOf(lake, run)
  const stored = await readUnits(lake, run)
  if (stored === undefined) throw notFound(run, 'it has no units')
  return { ...stored, seen, plan, units: stored.units.map((unit, id) => ({ ...unit, id })) }
}

/** Looks for a run, also for one that is damaged. @throws {ToolkitError} RUN_NOT_FOUND, LAKE_NOT_FOUND */
const seeShared = async (lake: string, run: string): Promise<SeenShared> => {
  const { seen, snapshot } = await lookUpRun(lake, run)
  if (snapshot) return { kind: 'committed', snapshot }
  if (seen?.shared === 'open') return { kind: 'open', seen }
  if (await hasEnded(lake, run)) return { kind: 'ended', hasFolder: seen !== null }
  if (seen?.shared === 'removed') return { kind: 'cancelled' }
  throw notFound(
    run,
    seen === null
      ? 'there is no such run; it was cancelled, or nobody had worked on it for a day'
      : 'it is not one that several machines work on, "firmlake resume" resumes it',
  )
}

/** The error of a run that the lake shows nothing of. */
export const hasNothing = (run: string, kind: 'ended' | 'cancelled'): ToolkitError =>
  notFound(
    run,
    kind === 'ended'
      ? 'it has ended without a commit, as it found nothing new'
      : 'it was cancelled, "firmlake run cancel" removes what is left of it',
  )

/**
 * Takes a step of a run that is open. Whatever fails: where the run is not open any more, the step need not be taken.
 *
 * @returns what the step gives, or how the run is found before or meanwhile
 * @throws {ToolkitError} RUN_NOT_FOUND for one of which nothing is left, or that one process owns; RUN_NOT_RESUMABLE where it is
 *   damaged; LAKE_NOT_FOUND
 */
export const takeStep = async <T>(
  { lake, run, signal }: Pick<SeenRun, 'lake' | 'run'> & { readonly signal?: AbortSignal | undefined },
  step: (shared: SharedRun) => Promise<T>,
): Promise<Exclude<SeenShared, OpenRun> | { readonly kind: 'taken'; readonly result: T }> => {
  const found = await seeShared(lake, run)
  if (found.kind !== 'open') return found
  try {
    return { kind: 'taken', result: await step(await readShared(found.seen)) }
  } catch (error) {
    if (signal?.aborted) throw error
    const now = await seeShared(lake, run).catch((thrown: unknown) => {
      if (thrown instanceof ToolkitError && thrown.code === 'RUN_NOT_FOUND')
        throw notFound(run, 'it was removed meanwhile', error)
      throw error
    })
    if (now.kind !== 'open') return now
    // The commit that ended it was killed before it removed anything of the folder.
    if (await hasEnded(lake, run)) return { kind: 'ended', hasFolder: true }
    throw error
  }
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

/** Ids of those of some units that are not done. */
export const openOf = async (
  { seen: { lake, run } }: Pick<SharedRun, 'seen'>,
  units: readonly NumberedUnit[],
): Promise<readonly number[]> => {
  const done = await recordedUnits(lake, run)
  return units.flatMap(({ id }) => (done.has(id) ? [] : [id]))
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

/** How far a run is. */
export interface SharedRunStatus {
  readonly run: string
  /** The snapshot that shows it; `null` before its commit. */
  readonly snapshot: number | null
  /**
   * `gone`: nobody has worked on it for a day, `firmlake gc` may remove it. `cancelled`: it was cancelled, and something of it
   * is left: cancelling it again removes that.
   */
  readonly state: RunState | 'committed' | 'cancelled'
  /** Commits that are under way, or were killed. */
  readonly commits: number
  readonly units: number
  readonly done: number
  readonly phases: readonly (Phase & { readonly done: number })[]
  /** Counts of the units that are done. */
  readonly partitions: number
  readonly records: number
  readonly quarantined: number
  /** Sources that were left out because they are damaged. */
  readonly excluded: number
  /** The first units that are not done. */
  readonly open: readonly number[]
}

export const NAMED_UNITS = 10

const NOTHING = {
  commits: 0,
  units: 0,
  done: 0,
  phases: [],
  partitions: 0,
  records: 0,
  quarantined: 0,
  excluded: 0,
  open: [],
}

const openStatus = async (shared: SharedRun): Promise<SharedRunStatus> => {
  const { units, seen } = shared
  const { lake, run } = seen
  const open = await openOf(shared, units)
  const isOpen = new Set(open)
  const { entries, sources } = await readAllWork(lake, run)
  const state = await runState(lake, run, { now: new Date() })
  return {
    ...{ run, snapshot: null, state: state?.state ?? 'gone', commits: await countCommits(lake, run) },
    ...{ units: units.length, done: units.length - open.length },
    phases: phasesOf(units).map(({ first, count }) => ({
      ...{ first, count },
      done: units.slice(first, first + count).filter(({ id }) => !isOpen.has(id)).length,
    })),
    partitions: entries.length,
    records: sumOf(entries, ({ partition }) => partition.counts.records),
    quarantined: sumOf(entries, ({ partition }) => partition.counts.quarantined),
    excluded: sources.filter(({ kind }) => kind === 'left-out').length,
    open: open.slice(0, NAMED_UNITS),
  }
}

/** @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE where it is damaged, LAKE_NOT_FOUND */
export const sharedRunStatus = async (lake: string, run: string): Promise<SharedRunStatus> => {
  const found = await takeStep({ lake, run }, openStatus)
  if (found.kind === 'taken') return found.result
  if (found.kind === 'ended') throw hasNothing(run, found.kind)
  const snapshot = found.kind === 'committed' ? found.snapshot.snapshot : null
  const commits = found.kind === 'cancelled' ? await countCommits(lake, run) : 0
  return { ...NOTHING, run, snapshot, state: found.kind, commits }
}

/**
 * Ends a run without a commit, damaged ones too: late workers find it gone. Stopped halfway, the same call resumes. What they loaded is removed by gc: at once, or where a commit
 * of it is under way when that has ended, for it may be just in time.
 *
 * @returns the snapshot that shows it, where it had committed: then only its folder is removed
 * @throws {ToolkitError} RUN_NOT_FOUND, LAKE_NOT_FOUND
 */
export const cancelSharedRun = async (lake: string, run: string): Promise<number | null> => {
  const found = await seeShared(lake, run)
  if (found.kind === 'ended' && !found.hasFolder) throw hasNothing(run, found.kind)
  await (found.kind === 'committed' ? removeRunFolder : endRun)(lake, run)
  return found.kind === 'committed' ? found.snapshot.snapshot : null
}
