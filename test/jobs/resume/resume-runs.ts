/** `resume` as tests call it: with a limit that is read already, for what became of each run. */

import { type ResumedRun, resume } from '../../../src/jobs/resume.ts'
import type { ResumeOptions } from '../../../src/options/interfaces.ts'
import type { QuarantineLimit } from '../../../src/options/value-types.ts'

export const resumeRuns = async ({
  maxQuarantined,
  ...options
}: Omit<ResumeOptions, 'maxQuarantined'> & { readonly maxQuarantined?: QuarantineLimit }): Promise<
  readonly ResumedRun[]
> => (await resume({ ...options, maxQuarantined })).runs
