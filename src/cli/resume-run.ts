/** Takes over one run whose process is gone and brings it to its end. */

import { ToolkitError } from '../core/errors.ts'
import { leaseRun, type RunLease, releaseRun } from '../manifest/run-lease.ts'
import { listRuns, removeCommittedRun } from '../manifest/runs.ts'
import { filesOfRun } from '../pipeline/batch-files/batch-sources.ts'
import { serviceOfBatches, workOnBatches } from '../pipeline/batch-files/pull-batch-files.ts'
import { replay } from '../pipeline/convert/convert.ts'
import { settingsOf, workOnPull } from '../pipeline/pull/pull.ts'
import { loadIntoLake, type RunOptions } from '../pipeline/run/load-into-lake.ts'
import type { LoadSummary } from '../pipeline/run/load-sources.ts'
import { planOf, type RunPlan } from '../pipeline/run/start-run.ts'
import { workOnSync } from '../pipeline/sync/sync.ts'
import { localSources } from '../source/local-sources.ts'
import { isRunId } from '../support/run-ids.ts'
import { DEFAULT_SERVICE, type ServiceCommandOptions, serviceOf } from './options/service-options.ts'
import { quarantineFiles } from './quarantine-files.ts'

export interface ResumeOptions extends RunOptions {
  /**
   * How the service is called, where a run pulls from one; its address stands in the run's plan.
   * @default by what the environment says
   */
  readonly service?: ServiceCommandOptions
}

export type Resumed =
  | { readonly kind: 'worked'; readonly summary: LoadSummary }
  /** It had committed before its process went; only its folder was left. */
  | { readonly kind: 'committed'; readonly run: string; readonly snapshot: number }

/**
 * @throws {ToolkitError} RUN_NOT_FOUND, RUN_LIVE, RUN_NOT_RESUMABLE (standard input cannot be read again), and
 *   whatever stops a run
 */
export const resumeRun = async (run: string, options: ResumeOptions): Promise<Resumed> => {
  const { lake } = options
  if (!isRunId(run))
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot resume run "${run}": it is not the id of a run`, { run })
  const known = (await listRuns(lake, { now: new Date() })).find((one) => one.run === run)
  const lease = await leaseRun(lake, run, { now: new Date() })
  try {
    if (known?.committed != null) {
      await removeCommittedRun(lease, known.committed)
      return { kind: 'committed', run, snapshot: known.committed }
    }
    return { kind: 'worked', summary: await goOn(lease, options) }
  } catch (error) {
    await releaseRun(lease, error).catch(() => undefined)
    throw error
  }
}

const goOn = async (lease: RunLease, options: ResumeOptions): Promise<LoadSummary> => {
  const { lake, run } = lease
  const plan = await planOf(lake, run)
  if (plan.pipeline === 'replay') return replayAgain(lease, plan, options)
  if (plan.pipeline === 'pull' || plan.pipeline === 'sync') return pullAgain(lease, plan, options)
  if (plan.pipeline === 'batches') return batchesAgain(lease, plan, options)
  if (plan.pipeline !== 'convert') throw notResumable(run, `it is a run of "${plan.pipeline}"`)
  if (plan.inputs.includes('-')) throw notResumable(run, 'standard input cannot be read again')
  const sources = await localSources(plan.inputs, plan.cwd)
  const once = sources.find(({ fingerprint }) => fingerprint === undefined)
  if (once) throw notResumable(run, `"${once.name}" cannot be read again`)
  return loadIntoLake(lease, plan, sources, options)
}

/** The same replay once more takes over the run, as soon as it is given up here. */
const replayAgain = async (lease: RunLease, plan: RunPlan, options: RunOptions): Promise<LoadSummary> => {
  const { lake, run } = lease
  const waiting = new Map((await quarantineFiles({ lake })).map((file) => [file.sha256, file]))
  const files = plan.inputs.flatMap((sha256) => waiting.get(sha256) ?? [])
  if (files.length < plan.inputs.length) throw notResumable(run, 'another run already replayed these lines')
  await releaseRun(lease)
  return replay(files, plan.limits, options)
}

/** The token is never kept: it comes from the command's options or the environment. */
const pullAgain = async (lease: RunLease, plan: RunPlan, options: ResumeOptions): Promise<LoadSummary> => {
  const { url, settings } = settingsOf(lease.run, plan)
  const { concurrency, ...call } = options.service ?? DEFAULT_SERVICE
  const service = await serviceOf({ ...call, concurrency, url })
  try {
    const work = plan.pipeline === 'sync' ? workOnSync : workOnPull
    return (await work(lease, plan, settings, { ...options, service, concurrency })).summary
  } finally {
    await service.close()
  }
}

const batchesAgain = async (lease: RunLease, plan: RunPlan, options: ResumeOptions): Promise<LoadSummary> => {
  const url = serviceOfBatches(lease.run, plan)
  const files = await filesOfRun(lease, () => {
    throw notResumable(lease.run, 'interrupted before its file list was saved')
  })
  const { concurrency, ...call } = options.service ?? DEFAULT_SERVICE
  const service = await serviceOf({ ...call, concurrency, url })
  try {
    return await workOnBatches(lease, plan, files, { ...options, service, concurrency })
  } finally {
    await service.close()
  }
}

const notResumable = (run: string, state: string): ToolkitError =>
  new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot resume run "${run}": ${state}; "firmlake gc" removes what it left`,
    { run },
  )
