/** `resume` as tests call it: with a limit that is read already, for what became of each run. */

import type { QuarantineLimit } from '../../../src/commit/quarantine-limit.ts'
import { type ResumedRun, type ResumeOptions, resume } from '../../../src/jobs/resume/resume.ts'

export const resumeRuns = async ({
  limit,
  ...options
}: Omit<ResumeOptions, 'maxQuarantined'> & { readonly limit?: QuarantineLimit }): Promise<
  readonly ResumedRun[]
> => (await resume({ ...options, maxQuarantined: limit })).runs
