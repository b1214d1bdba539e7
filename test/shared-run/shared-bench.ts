/** Runs in steps over the files of a bench, in this process. Knows nothing of vitest: children use it too. */

import {
  type CommitSharedOptions,
  type CommittedRun,
  commitSharedRun,
} from '../../src/shared-run/commit-shared-run.ts'
import { type PlannedRun, type PlanOptions, planSharedRun } from '../../src/shared-run/plan-shared-run.ts'
import {
  type UnitChoice,
  type WorkOptions,
  type WorkSummary,
  workSharedRun,
} from '../../src/shared-run/work-shared-run.ts'

/** Small blocks, so that a small file has several. */
export const SMALL_LIMITS = { blockBytes: 4000 } as const

const NO_SERVICE = async (): Promise<never> => {
  throw new Error('no service is called')
}

export interface Steps {
  /** @param inputs files below the folder */
  readonly plan: (inputs: readonly string[], options?: Partial<PlanOptions>) => Promise<PlannedRun>
  readonly work: (
    run: string,
    choice: UnitChoice | readonly number[],
    options?: Partial<WorkOptions>,
  ) => Promise<WorkSummary>
  readonly commit: (run: string, options?: Partial<CommitSharedOptions>) => Promise<CommittedRun>
}

export const stepsOf = (folder: string, lake: string): Steps => ({
  plan: (inputs, options) =>
    planSharedRun({
      ...{ lake, job: { kind: 'convert', inputs, cwd: folder }, limits: SMALL_LIMITS, threads: 1 },
      ...{ concurrency: 2, service: NO_SERVICE },
      ...options,
    }),
  work: (run, choice, options) =>
    workSharedRun({
      ...{ lake, run, threads: 1, concurrency: 2, service: NO_SERVICE },
      choice: 'length' in choice ? { units: choice } : choice,
      ...options,
    }),
  commit: (run, options) =>
    commitSharedRun({
      ...{ lake, run, threads: 1, service: NO_SERVICE, maxQuarantined: { kind: 'count', lines: 0 } },
      ...options,
    }),
})
