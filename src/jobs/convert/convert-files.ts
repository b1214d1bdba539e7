/** The runs over local files. */

import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import type { ConvertJob, RunPlan } from '../../run/run-plan.ts'
import { sharesOf } from '../../run/run-tools.ts'
import { withRun } from '../../run/with-run.ts'
import { localSources } from '../../source/local-sources.ts'

const filesOf = async ({ inputs, cwd, content }: ConvertJob): Promise<OpenedJob> => {
  const sources = await localSources(inputs, cwd)
  return { sources: content === undefined ? sources : sources.map((source) => ({ ...source, content })) }
}

/** The files of a run, which another attempt may have begun. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const openConvert = async ({ run, number }: JobScope, job: ConvertJob): Promise<OpenedJob> => {
  if (number === 1) return filesOf(job)
  if (job.inputs.includes('-')) throw notResumable(run, 'standard input cannot be read again')
  const opened = await filesOf(job)
  const once = opened.sources.find(({ fingerprint }) => fingerprint === undefined)
  if (once) throw notResumable(run, `"${once.name}" cannot be read again`)
  return opened
}

/** Starts or resumes the run of a plan over local files, and works on it. */
export const convertFiles = async (
  { again, limits, ...asked }: Omit<ConvertJob, 'kind'> & Pick<RunPlan, 'again' | 'limits'>,
  options: RunOptions,
): Promise<LoadSummary> => {
  const job: ConvertJob = { kind: 'convert', ...asked }
  // Before a run, and possibly a lake, is made for files that do not exist.
  const opened = await filesOf(job)
  const plan: RunPlan = {
    jobs: [job],
    again,
    limits: { ...defaultLimits(options, opened.sources), ...limits },
  }
  // What can be read only once has other bytes each time: what an earlier run made of it proves nothing.
  const fresh = opened.sources.some(({ fingerprint }) => fingerprint === undefined)
  const { lake, mode } = options
  const { blockBytes: mostBlockBytes = sharesOf(options).blockBytes } = limits
  return withRun({ lake, plan, mode, fresh, mostBlockBytes, taking: options }, (run) =>
    loadIntoLake(run, [opened], options),
  )
}
