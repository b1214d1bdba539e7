/** `replay`: the lines of a lake's quarantine loaded again, in one call. */

import { type QuarantineFile, quarantineFiles, quarantineSources } from '../kinds/quarantine.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import type { ReplayOptions } from '../options/interfaces.ts'
import { REPLAY } from '../options/resume.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../run/load-into-lake.ts'
import { limitsGiven } from '../run/load-job.ts'
import type { RunLimits, RunPlan } from '../run/run-plan.ts'
import { NOTHING_LOADED, type RunReport } from '../run/run-report.ts'
import { withRun } from '../run/with-run.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

/** The report of a replay. */
export type ReplayReport = Omit<RunReport, 'run'> & {
  /** `null` where no such line is in the quarantine: no run was begun. */
  readonly run: string | null
}

/** Whether a source's name fits a pattern. */
const fits = (name: string, pattern: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}

const filesOf = async ({
  lake,
  sources,
}: Pick<ReplayOptions, 'lake' | 'sources'>): Promise<readonly QuarantineFile[]> =>
  (await quarantineFiles({ lake })).filter(
    ({ partition }) =>
      sources?.some((pattern) => sourcesOf(partition).some(({ name }) => fits(name, pattern))) ?? true,
  )

/**
 * Loads the lines of the quarantine again, after a newer version or with other limits, all in one commit. What is still bad
 * stays in the quarantine. Then published tables and sinks are updated.
 *
 * @returns what the run did, and what its targets received; `snapshot: null` where no line could be loaded
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `CURRENCY_CHANGED` before the commit; `DISK_FULL`,
 *   `WRITE_FAILED`, `USAGE`, `INTERRUPTED`; what `updateTargets` throws, after the commit
 * @example
 * import { convert, fromRecords, replay } from 'firmlake'
 *
 * const bad = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CompanyName: 7 } }])
 * await convert({ from: bad, content: 'companies', lake: './lake', maxQuarantined: 1 })
 * const { snapshot, records } = await replay({ lake: './lake', sources: ['crm*'] }) // still bad
 * console.log(snapshot === null, records) // true 0
 */
export const replay: (options: ReplayOptions) => Promise<ReplayReport & TargetsSummary> = lakeJob(
  'replay',
  REPLAY,
  async (options) => {
    const files = await filesOf(options)
    const { loaded, report } = await measured(options, async (run) =>
      files.length === 0 ? undefined : replayFiles(files, limitsGiven(run), run),
    )
    return { ...report(loaded ?? NOTHING_LOADED), run: loaded?.run ?? null }
  },
)

/**
 * Loads quarantined lines again, after a fix of the tool, the contract or the limits. A file of which no line
 * loads stays as it is; of the others what is still bad is quarantined again.
 */
export const replayFiles = async (
  files: readonly QuarantineFile[],
  limits: RunLimits,
  options: Omit<RunOptions, 'maxQuarantined'>,
): Promise<LoadSummary> => {
  const plan: RunPlan = {
    jobs: [{ kind: 'replay', files: files.map(({ sha256 }) => sha256) }],
    again: false,
    limits: { ...defaultLimits(options), ...limits },
  }
  const sources = quarantineSources(files, plan.limits.blockBytes)
  return withRun({ lake: options.lake, plan, taking: options }, (run) =>
    loadIntoLake(run, [{ sources }], { ...options, maxQuarantined: { kind: 'share', share: 1 } }),
  )
}
