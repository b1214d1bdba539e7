/** Loads jobs of any kind in one run: each is opened, what it has is loaded, and all of it is committed at once. */

import type { LoadSummary } from '../../run/commit-loaded.ts'
import { loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import { type Job, pipelineOf, type RunPlan } from '../../run/run-plan.ts'
import type { RunScope } from '../../run/with-run.ts'
import type { Service } from '../../source/service/service.ts'
import { openBatchFiles } from '../batch-files/load-batch-files.ts'
import { openConvert } from '../convert/convert-files.ts'
import { openPullJob } from '../pull/pull-search.ts'
import { openReplay } from '../replay/replay-files.ts'
import { openSyncJob } from '../sync/sync-search.ts'

export interface JobOptions extends RunOptions {
  /** Opens the service at an address, for the kinds of jobs that call one. It is closed when the run ends. */
  readonly service: (url: string) => Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
}

/** Each kind has one place here; the compiler misses one that is added to `Job`. */
const openJob = async (
  run: JobScope,
  job: Job,
  { limits }: RunPlan,
  options: JobOptions,
): Promise<OpenedJob> => {
  switch (job.kind) {
    case 'convert':
      return openConvert(run, job)
    case 'replay':
      return openReplay(run, job, limits)
    case 'pull':
      return openPullJob(run, job, { ...options, service: await options.service(job.url) })
    case 'sync':
      return openSyncJob(run, job, { ...options, service: await options.service(job.url) })
    case 'batchFiles':
      return openBatchFiles(run, limits, { ...options, service: await options.service(job.url) })
    case 'program':
      throw notResumable(run.run, 'its sources belong to a program, start that again')
    case 'compact':
    case 'forget':
      throw notResumable(run.run, `it is a run of "${pipelineOf({ jobs: [job] })}"`)
  }
}

/** Loads all jobs of a plan in one commit. @throws {ToolkitError} RUN_NOT_RESUMABLE, and whatever stops a run */
export const loadJobs = async (run: RunScope, plan: RunPlan, options: JobOptions): Promise<LoadSummary> => {
  const services = new Map<string, Promise<Service>>()
  const service = (url: string): Promise<Service> => {
    const opened = services.get(url) ?? options.service(url)
    services.set(url, opened)
    return opened
  }
  try {
    const jobs: OpenedJob[] = []
    for (const [place, job] of plan.jobs.entries())
      jobs.push(await openJob({ ...run, job: place }, job, plan, { ...options, service }))
    return await loadIntoLake(run, jobs, options)
  } finally {
    for (const opened of await Promise.allSettled(services.values()))
      if (opened.status === 'fulfilled') await opened.value.close()
  }
}
