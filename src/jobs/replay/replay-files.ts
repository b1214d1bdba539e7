/** The runs over quarantined lines. */

import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import type { ReplayJob, RunLimits, RunPlan } from '../../run/run-plan.ts'
import { withRun } from '../../run/with-run.ts'
import { type QuarantineFile, quarantineSources } from './quarantine.ts'
import { quarantineFiles } from './quarantine-files.ts'

/** The quarantine files that a run was begun with. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const openReplay = async (
  { lake, run }: JobScope,
  { files }: ReplayJob,
  { blockBytes }: RunLimits,
): Promise<OpenedJob> => {
  const waiting = new Map((await quarantineFiles({ lake })).map((file) => [file.sha256, file]))
  const found = files.flatMap((sha256) => waiting.get(sha256) ?? [])
  if (found.length < files.length) throw notResumable(run, 'another run already replayed these lines')
  return { sources: quarantineSources(found, blockBytes) }
}

/**
 * Loads quarantined lines again, after a fix of the tool, the contract or the limits. A file of which no line
 * loads stays as it is; of the others what is still bad is quarantined again.
 */
export const replayFiles = async (
  files: readonly QuarantineFile[],
  limits: RunLimits,
  options: Omit<RunOptions, 'limit'>,
): Promise<LoadSummary> => {
  const plan: RunPlan = {
    jobs: [{ kind: 'replay', files: files.map(({ sha256 }) => sha256) }],
    again: false,
    limits: { ...defaultLimits(options), ...limits },
  }
  const sources = quarantineSources(files, plan.limits.blockBytes)
  return withRun({ lake: options.lake, plan, taking: options }, (run) =>
    loadIntoLake(run, [{ sources }], { ...options, limit: { kind: 'share', share: 1 } }),
  )
}
