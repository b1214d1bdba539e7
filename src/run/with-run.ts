/**
 * The scope of a run, from its lease to its removal or release: an interrupted run with the same plan is resumed, else a new one
 * is made.
 */

import { randomBytes } from 'node:crypto'
import { ToolkitError } from '../core/errors.ts'
import { inStage } from '../core/stages.ts'
import { knownByBytes } from '../manifest/form/sources.ts'
import { startHeartbeat } from '../manifest/runs/heartbeat.ts'
import { readJournal } from '../manifest/runs/journal.ts'
import { leaseRun, type RunLease, releaseRun } from '../manifest/runs/run-lease.ts'
import { createRun, readPlan, removeRun, runsIfAny } from '../manifest/runs/runs.ts'
import { ensureRecord, newestNumber } from '../manifest/snapshots/snapshots.ts'
import { type RandomBytes, runBegan } from '../support/run-ids.ts'
import { letLoad } from './discard-held.ts'
import { type ProjectionOptions, projectionOfRun } from './projection-of-run.ts'
import { isSameJob, isSamePlan, type Job, pipelineOf, planOf, type RunPlan, storedPlan } from './run-plan.ts'
import { isSameWork, type SourcesNow } from './same-work.ts'

/** A file in a run's folder. */
export type RunText = readonly [name: string, text: string]
/** Texts of files in a run's folder, by their names. */
export type RunStrings = ReadonlyMap<string, string>

export interface StartRequest extends SourcesNow {
  readonly lake: string
  readonly plan: RunPlan
  readonly now: Date
  readonly random: RandomBytes
  /** Files of a new run's folder besides its plan, made before it has an owner. @default none */
  readonly files?: (() => Promise<RunStrings>) | undefined
  /** Mode bits of the lake's folder where it is new. @default 0o700 */
  readonly mode?: number | undefined
  /** Always makes a new run. @default false */
  readonly fresh?: boolean | undefined
  /**
   * Whether a committed run of the same plan may have had additional jobs of files: those files are loaded already.
   * @default false
   */
  readonly orMoreFiles?: boolean | undefined
  /** A run whose blocks are of another size, at most this in bytes, is of the same plan too. @default none */
  readonly mostBlockBytes?: number | undefined
}

/** A lease, and the snapshot that shows the run where it was committed before. */
export interface StartedRun extends RunLease {
  readonly committed?: number
}

/** Takes over a run of the same plan whose process is gone, also one that was committed just before, or makes a new run. */
export const startRun = async ({
  plan,
  fresh,
  files,
  orMoreFiles = false,
  mostBlockBytes,
  sources,
  signal,
  ...request
}: StartRequest): Promise<StartedRun> => {
  const { lake, now } = request
  const create = async (): Promise<RunLease> =>
    createRun({ ...request, plan: storedPlan(plan), files: await files?.() })
  if (fresh) return create()
  for (const { run, state, committed, shared } of await runsIfAny(lake, { now })) {
    if (state !== 'gone' || shared) continue
    const before: unknown = await readPlan(lake, run).catch(() => undefined)
    // The bytes of what was committed are compared: wherever files stand by now.
    const isSame = isSamePlan(before, plan, { mostBlockBytes, anywhere: committed !== null && plan.again })
    const isOneOfMore = !isSame && orMoreFiles && committed !== null && (await hasMoreFiles(lake, run, plan))
    if (!isSame && !isOneOfMore) continue
    const lease = await leaseRun(lake, run, { now }).catch(takenByAnother)
    if (lease === undefined) continue
    try {
      if (committed === null) {
        if ((await newestNumber(lake)) === lease.base || !(await isOfItsBegin(lease, plan))) return lease
        await removeRun(lease)
        continue
      }
      if (await isSameWork({ lake, run, committed }, plan, now, { sources, signal }))
        return { ...lease, committed }
      // The record of its commit may still be missing.
      await ensureRecord(lake, committed)
      await removeRun(lease)
    } catch (error) {
      await releaseRun(lease)
      throw error
    }
  }
  return create()
}

/**
 * Whether sources of a run are as of its begin, as files are whose records have no stamp: taken over behind a later commit, it
 * would bring what is new by now as older than what came meanwhile.
 *
 * @throws as `readJournal`
 */
const isOfItsBegin = async ({ lake, run }: RunLease, { jobs }: RunPlan): Promise<boolean> => {
  if (jobs.some((job) => job.kind === 'program' || (job.kind === 'convert' && job.asOf === 'now')))
    return true
  if (!jobs.some(({ kind }) => kind === 'convert')) return false
  const begin = runBegan(run)
  const { entries } = await readJournal(lake, run)
  const dated = entries.flatMap(({ partition }): readonly { readonly asOf?: string | undefined }[] =>
    knownByBytes(partition.source) ? (partition.sources ?? [partition]) : [],
  )
  return dated.some(({ asOf = begin }) => asOf === begin)
}

const isOfFiles = ({ kind }: Job): boolean => kind === 'convert' || kind === 'batches'

/** Whether a run has all jobs that are asked for, and besides them only jobs of files. */
const hasMoreFiles = async (lake: string, run: string, asked: RunPlan): Promise<boolean> => {
  const stored = await planOf(lake, run).catch(() => undefined)
  if (stored === undefined) return false
  const [first, ...others] = stored.jobs.filter(
    (job) => !isOfFiles(job) || asked.jobs.some((one) => isSameJob(one, job)),
  )
  return first !== undefined && isSamePlan(storedPlan({ ...stored, jobs: [first, ...others] }), asked)
}

const takenByAnother = (error: unknown): undefined => {
  if (error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND'))
    return undefined
  throw error
}

export interface RunScope extends RunLease {
  /**
   * From here on there is something to resume: a run that fails is released for another attempt. A new run that fails
   * before is removed.
   */
  readonly keep: () => void
  /** The snapshot that shows it already: whoever committed it was stopped before the run was removed. @default none */
  readonly committed?: number | undefined
}

/**
 * Holds a lease with its heartbeat while the work runs. The run is removed when the work succeeds; when it fails, it is
 * released for another attempt, or removed where there is nothing to resume.
 */
const withLease = async <T>(
  lease: RunLease & Pick<RunScope, 'committed'>,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => {
  let kept = lease.number > 1
  const heartbeat = startHeartbeat(lease)
  try {
    const result = await work({ ...lease, keep: () => (kept = true) })
    await heartbeat.stop()
    await removeRun(lease)
    return result
  } catch (error) {
    await heartbeat.stop()
    const release = (): Promise<void> => releaseRun(lease, error)
    await (kept ? release() : removeRun(lease).catch(release)).catch(() => undefined)
    throw error
  }
}

/** Resumes the interrupted run of a plan, or begins one, and works on it. @param request `taking` of a run that loads: what is declared of it */
export const withRun = async <T>(
  { taking, ...asked }: Omit<StartRequest, 'now' | 'random'> & { readonly taking?: ProjectionOptions },
  work: (run: RunScope) => Promise<T>,
): Promise<T> => {
  if (taking) await letLoad(asked.lake)
  const plan = { ...asked.plan, ...(taking && (await projectionOfRun(asked.lake, taking))) }
  const request = { ...asked, plan }
  const lease = await startRun({ ...request, now: new Date(), random: randomBytes })
  return withLease(lease, (run) => attempt(run, request.plan, () => work(run)))
}

/** An attempt at a run, for whoever listens. */
export const attempt = <T>(
  { lake, run, number }: RunLease,
  plan: Pick<RunPlan, 'jobs'>,
  work: () => Promise<T>,
): Promise<T> => inStage({ stage: 'run', lake, run, pipeline: pipelineOf(plan), attempt: number }, work)

/** Takes over a run by its id. @throws {ToolkitError} RUN_NOT_FOUND, RUN_LIVE */
export const withResumedRun = async <T>(
  lake: string,
  run: string,
  now: Date,
  work: (run: RunScope) => Promise<T>,
): Promise<T> => withLease(await leaseRun(lake, run, { now }), work)
