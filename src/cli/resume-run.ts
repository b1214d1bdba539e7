/** Takes over one run whose process is gone and brings it to its end. */

import { ToolkitError } from '../core/errors.ts'
import { claimRun, type RunClaim, releaseRun } from '../manifest/run-lease.ts'
import { listRuns, removeCommittedRun } from '../manifest/runs.ts'
import { filesOfRun } from '../pipeline/batch-files/batch-sources.ts'
import { serviceOfBatches, workOnBatches } from '../pipeline/batch-files/pull-batch-files.ts'
import { replay } from '../pipeline/convert/convert.ts'
import { settingsOf, workOnPull } from '../pipeline/pull/pull.ts'
import { type RunOptions, workOn } from '../pipeline/run/load-into-lake.ts'
import type { BatchSummary } from '../pipeline/run/load-sources.ts'
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
  | { readonly kind: 'worked'; readonly summary: BatchSummary }
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
  const claim = await claimRun(lake, run, { now: new Date() })
  try {
    if (known?.committed != null) {
      await removeCommittedRun(claim, known.committed)
      return { kind: 'committed', run, snapshot: known.committed }
    }
    return { kind: 'worked', summary: await goOn(claim, options) }
  } catch (error) {
    await releaseRun(claim, error).catch(() => undefined)
    throw error
  }
}

const goOn = async (claim: RunClaim, options: ResumeOptions): Promise<BatchSummary> => {
  const { lake, run } = claim
  const plan = await planOf(lake, run)
  if (plan.pipeline === 'replay') return replayAgain(claim, plan, options)
  if (plan.pipeline === 'pull' || plan.pipeline === 'sync') return pullAgain(claim, plan, options)
  if (plan.pipeline === 'batches') return batchesAgain(claim, plan, options)
  if (plan.pipeline !== 'convert') throw notResumable(run, `it is a run of "${plan.pipeline}"`)
  if (plan.inputs.includes('-')) throw notResumable(run, 'standard input cannot be read again')
  const sources = await localSources(plan.inputs, plan.cwd)
  const once = sources.find(({ fingerprint }) => fingerprint === undefined)
  if (once) throw notResumable(run, `"${once.name}" cannot be read again`)
  return workOn(claim, plan, sources, options)
}

/** The same replay once more takes over the run, as soon as it is given up here. */
const replayAgain = async (claim: RunClaim, plan: RunPlan, options: RunOptions): Promise<BatchSummary> => {
  const { lake, run } = claim
  const waiting = new Map((await quarantineFiles({ lake })).map((file) => [file.sha256, file]))
  const files = plan.inputs.flatMap((sha256) => waiting.get(sha256) ?? [])
  if (files.length < plan.inputs.length) throw notResumable(run, 'another run already replayed these lines')
  await releaseRun(claim)
  return replay(files, plan.limits, options)
}

/** The token is never kept: it comes from where the command is told to look. */
const pullAgain = async (claim: RunClaim, plan: RunPlan, options: ResumeOptions): Promise<BatchSummary> => {
  const { url, settings } = settingsOf(claim.run, plan)
  const { concurrency, ...call } = options.service ?? DEFAULT_SERVICE
  const service = await serviceOf({ ...call, concurrency, url })
  try {
    const work = plan.pipeline === 'sync' ? workOnSync : workOnPull
    return (await work(claim, plan, settings, { ...options, service, concurrency })).summary
  } finally {
    await service.close()
  }
}

const batchesAgain = async (
  claim: RunClaim,
  plan: RunPlan,
  options: ResumeOptions,
): Promise<BatchSummary> => {
  const url = serviceOfBatches(claim.run, plan)
  const files = await filesOfRun(claim, () => {
    throw notResumable(claim.run, 'interrupted before its file list was saved')
  })
  const { concurrency, ...call } = options.service ?? DEFAULT_SERVICE
  const service = await serviceOf({ ...call, concurrency, url })
  try {
    return await workOnBatches(claim, plan, files, { ...options, service, concurrency })
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
