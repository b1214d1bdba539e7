/** `pullBatchFiles`: batch files of the service into a lake, in one call. */

import { ToolkitError } from '../core/errors.ts'
import type { PullBatchFilesOptions } from '../options/interfaces.ts'
import { PULL_BATCH_FILES } from '../options/search.ts'
import { batchesKind } from '../pull/batch-files/batches-kind.ts'
import type { BatchSelection, ChosenFiles } from '../pull/batch-files/choose-batch-files.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { type Driver, here, type KindOptions } from '../run/job-kind.ts'
import type { RunOptions } from '../run/load-into-lake.ts'
import type { BatchFilesJob } from '../run/run-plan.ts'
import { NOTHING_LOADED, type RunReport } from '../run/run-report.ts'
import type { BatchFilesChoice } from '../source/inputs.ts'
import type { ListedBatchFile, Service } from '../source/service/service.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

/** The result of a pull of batch files. */
export type BatchFilesReport = Omit<RunReport, 'run'> & {
  /** `null` where there was nothing to load: no run was begun. */
  readonly run: string | null
  /** Files that were not downloaded, because the lake holds them. */
  readonly held: readonly ListedBatchFile[]
  /** Files that were not downloaded, because their load was discarded. */
  readonly discarded: readonly ListedBatchFile[]
  /** Files that were left out because no address can name their id; `''` where the listing gives none. */
  readonly unnameable: readonly ListedBatchFile[]
}

/** @throws {ToolkitError} USAGE */
export const batchSelection = ({ ids, content, countries }: BatchFilesChoice): BatchSelection => {
  if (ids === undefined) return { kind: 'all', ...(content && { content }), ...(countries && { countries }) }
  if (content === undefined && countries === undefined) return { kind: 'ids', ids }
  throw new ToolkitError(
    'USAGE',
    'Cannot choose batch files by ids together with content or countries: give either',
  )
}

/**
 * Downloads batch files of a service and loads them into a lake, all in one commit; files that the lake already holds are
 * skipped. Then published tables and sinks are updated.
 *
 * Stopped at any point, killed too, the lake is as it was; the same call resumes the downloads and the load.
 *
 * @returns what the run did, and what its targets received
 * @throws {ToolkitError} as `convert` and `pull`; `SERVICE_NOT_FOUND` for an id that is not listed, `DOWNLOAD_DAMAGED`
 * @example
 * import { batchFiles, pullBatchFiles, createService } from 'firmlake'
 *
 * const from = batchFiles(createService({ url: 'https://service.example.com', token: 'token-of-my-service' }))
 * const { records, held } = await pullBatchFiles({ from, lake: './lake' })
 * console.log(records, held.length) // 5 0
 */
export const pullBatchFiles: (options: PullBatchFilesOptions) => Promise<BatchFilesReport & TargetsSummary> =
  (options) => pullBatchFilesBy(here, options)

/** A pull of batch files by this process, or by an engine. */
export const pullBatchFilesBy = (
  drive: Driver,
  asked: PullBatchFilesOptions,
): Promise<BatchFilesReport & TargetsSummary> =>
  lakeJob<PullBatchFilesOptions, typeof PULL_BATCH_FILES, BatchFilesReport>(
    'pullBatchFiles',
    PULL_BATCH_FILES,
    async ({ from, again = false, ...options }) => {
      const { service } = from
      const selection = batchSelection(from)
      const { loaded, report } = await measured(options, (run) =>
        pullBatches(service.url, selection, again, { ...run, service }, drive),
      )
      const { summary, held, discarded, unnameable } = loaded
      const files = { held, discarded, unnameable }
      return { ...report(summary ?? NOTHING_LOADED), run: summary?.run ?? null, ...files }
    },
  )(asked)

export interface BatchPullOptions extends Omit<KindOptions, 'service'>, Pick<RunOptions, 'maxQuarantined'> {
  readonly service: Service
}

export interface BatchPull extends Pick<ChosenFiles, 'held' | 'discarded' | 'unnameable'> {
  /** Absent where the lake holds all that was chosen: no run was begun. */
  readonly summary: LoadSummary | undefined
}

/** Starts or resumes the run of a batch pull, and works on it. `url` is where a resumed run finds the service. */
export const pullBatches = async (
  url: string,
  selection: BatchSelection,
  again: boolean,
  options: BatchPullOptions,
  drive: Driver = here,
): Promise<BatchPull> => {
  const { service } = options
  const job: BatchFilesJob = { kind: 'batches', url, selection }
  const calling = { ...options, service: async () => service }
  const { prepared, loaded } = await drive(batchesKind, job, calling, { again })
  const { held = [], discarded = [], unnameable = [] } = prepared
  return { summary: loaded, held, discarded, unnameable }
}
