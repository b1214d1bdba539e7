/** `pullBatchFiles`: batch files of the service into a lake, in one call. */

import { ToolkitError } from '../../core/errors.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import type { BatchFiles } from '../common/inputs.ts'
import { type LoadOptions, measured, runOptionsOf, withTargets } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import { DEFAULT_CONCURRENCY } from '../common/service-job.ts'
import type { BatchSelection } from './choose-batch-files.ts'
import { pullBatches } from './load-batch-files.ts'

/** Options of `pullBatchFiles`. */
export interface PullBatchFilesOptions extends LoadOptions<BatchFilesReport> {
  /** `batchFiles(service, …)`. */
  readonly from: BatchFiles
  /** Loads files that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /** Files downloaded side by side. @default 4 */
  readonly concurrency?: number | undefined
  /** Progress of the downloads: bytes received of all files together. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** What a pull of batch files did. */
export type BatchFilesReport = Omit<RunReport, 'run'> & {
  /** `null` where there was nothing to load: no run was begun. */
  readonly run: string | null
  /** Files that were not downloaded, because the lake holds them. */
  readonly held: readonly ListedBatchFile[]
  /** Files that were left out because no address can name their id; `''` where the listing gives none. */
  readonly unnameable: readonly ListedBatchFile[]
}

/** @throws {ToolkitError} USAGE */
export const batchSelection = ({ ids, content, countries }: BatchFiles): BatchSelection => {
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
 * import { batchFiles, pullBatchFiles, service } from 'firmlake'
 *
 * const from = batchFiles(service({ url: 'https://service.example.com', token: 'my-token' }))
 * const { records, held } = await pullBatchFiles({ from, lake: './lake' })
 * console.log(records, held.length) // 5 0
 */
export const pullBatchFiles = (
  options: PullBatchFilesOptions,
): Promise<BatchFilesReport & TargetsSummary> => {
  const { from, again = false, skipBadFiles, concurrency = DEFAULT_CONCURRENCY, onBytes } = options
  return withTargets(options, async () => {
    const selection = batchSelection(from)
    const { service } = from
    const run = { ...runOptionsOf(options), skipBadFiles }
    const { loaded, report } = await measured(run, (watched) =>
      pullBatches(service.url, selection, again, { ...watched, service, concurrency, onBytes }),
    )
    const { summary, held, unnameable } = loaded
    return { ...report(summary ?? NOTHING_LOADED), run: summary?.run ?? null, held, unnameable }
  })
}
