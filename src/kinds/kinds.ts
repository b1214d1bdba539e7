/** The kinds of jobs that load, each loaded when it is needed: a worker is a process, and there are many. */

import type { JobKind } from '../run/job-kind.ts'
import { notResumable } from '../run/opened-job.ts'
import type { Job, LoadJob } from '../run/run-plan.ts'

const KINDS: {
  readonly [K in LoadJob['kind']]: () => Promise<JobKind<Extract<LoadJob, { readonly kind: K }>>>
} = {
  convert: async () => (await import('./convert-kind.ts')).convertKind,
  replay: async () => (await import('./replay-kind.ts')).replayKind,
  pull: async () => (await import('../pull/windows/pull-kind.ts')).pullKind,
  sync: async () => (await import('../pull/sync/sync-kind.ts')).syncKind,
  batches: async () => (await import('../pull/batch-files/batches-kind.ts')).batchesKind,
}

export const isLoad = (job: Job): job is LoadJob => Object.hasOwn(KINDS, job.kind)

/** The kind of a job. */
export const jobKind = <J extends LoadJob>({ kind }: J): Promise<JobKind<J>> =>
  KINDS[kind]() as Promise<JobKind<J>>

/** A job of a plan as one that loads. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const loadOf = (run: string, job: Job): LoadJob => {
  if (isLoad(job)) return job
  throw notResumable(
    run,
    job.kind === 'program'
      ? 'its sources belong to a program, start that again'
      : `it is a run of "${job.kind}"`,
  )
}
