/** `pullBatchFiles`: batch files of the service into a lake, in one call. */

import { ToolkitError } from '../../core/errors.ts'
import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { PullBatchFilesOptions } from '../../options/interfaces.ts'
import { PULL_BATCH_FILES } from '../../options/search.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import type { BatchFilesJob, RunLimits, RunPlan } from '../../run/run-plan.ts'
import { withRun } from '../../run/with-run.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { refuseFuture } from '../../source/service/service-clock.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import type { BatchFilesChoice } from '../common/inputs.ts'
import { lakeJob } from '../common/lake-job.ts'
import { measured } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import { batchFilesText, filesOfRun, openBatchSources } from './batch-sources.ts'
import { type BatchSelection, type ChosenFiles, chooseBatchFiles } from './choose-batch-files.ts'

/** The result of a pull of batch files. */
export type BatchFilesReport = Omit<RunReport, 'run'> & {
  /** `null` where there was nothing to load: no run was begun. */
  readonly run: string | null
  /** Files that were not downloaded, because the lake holds them. */
  readonly held: readonly ListedBatchFile[]
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
  lakeJob('pullBatchFiles', PULL_BATCH_FILES, async ({ from, ...options }) => {
    const { service } = from
    const selection = batchSelection(from)
    const { loaded, report } = await measured(options, (run) =>
      pullBatches(service.url, selection, run.again ?? false, { ...run, service }),
    )
    const { summary, held, unnameable } = loaded
    return { ...report(summary ?? NOTHING_LOADED), run: summary?.run ?? null, held, unnameable }
  })

export interface BatchPullOptions extends RunOptions, Pick<PullBatchFilesOptions, 'onBytes'> {
  readonly service: Service
  /** Files downloaded side by side. */
  readonly concurrency: number
}

export interface BatchPull {
  /** Absent where the lake holds all that was chosen: no run was begun. */
  readonly summary: LoadSummary | undefined
  /** Files that were not downloaded, because the lake holds them. */
  readonly held: readonly ListedBatchFile[]
  /** Files that were skipped because their id cannot be asked for; `''` where the listing gives none. */
  readonly unnameable: readonly ListedBatchFile[]
}

/**
 * Lists the service's files and chooses those that are asked for and that the lake does not hold. @throws as
 * `chooseBatchFiles`
 */
export const chooseListed = async (
  service: Pick<Service, 'batchFiles' | 'clock' | 'origin'>,
  selection: BatchSelection,
  again: boolean,
  { lake, signal }: Pick<RunOptions, 'lake' | 'signal'>,
): Promise<ChosenFiles> => {
  const idless: ListedBatchFile[] = []
  const onIdless = (name: string): void => {
    idless.push({ id: '', name: name || 'an entry without a name' })
  }
  const listed = await service.batchFiles({ signal, onIdless })
  const root = await rootIfAny(lake)
  const snapshot =
    root && (await readAllListed(lake, root, ({ services }) => services?.includes(service.origin) ?? false))
  const chosen = chooseBatchFiles(listed, selection, { snapshot, service: service.origin, again })
  for (const { id, createdAt = '' } of chosen.files)
    refuseFuture(`Cannot pull batch file "${id}"`, Date.parse(createdAt), service.clock)
  // A caller that names ids has not asked for these.
  if (selection.kind === 'ids') return chosen
  return { ...chosen, unnameable: [...chosen.unnameable, ...idless] }
}

/** Starts or resumes the run of a batch pull, and works on it. `url` is where a resumed run finds the service. */
export const pullBatches = async (
  url: string,
  selection: BatchSelection,
  again: boolean,
  options: BatchPullOptions,
): Promise<BatchPull> => {
  const { lake, service } = options
  // Before a run, and possibly a lake, is made for files that cannot or need not be pulled.
  const { files, ...left } = await chooseListed(service, selection, again, options)
  if (files.length === 0) return { summary: undefined, ...left }
  const job: BatchFilesJob = { kind: 'batches', url, selection }
  const plan: RunPlan = { jobs: [job], again, limits: defaultLimits(options) }
  const texts = async () => new Map([batchFilesText(files)])
  const sources = async (run: JobOfRun) => (await openListed(run, files, plan.limits, options)).sources
  const summary = await withRun(
    { lake, plan, mode: options.mode, files: texts, taking: options, sources, signal: options.signal },
    async (run) => loadIntoLake(run, [await openBatchFiles(run, plan.limits, options)], options),
  )
  return { summary, ...left }
}

/** The files that a run was begun with; they are downloaded when they are asked for. */
export const openBatchFiles = async (
  run: JobScope,
  limits: RunLimits,
  options: Omit<BatchPullOptions, 'lake' | 'limit'>,
): Promise<OpenedJob> => {
  const files = await filesOfRun(run)
  if (files === undefined) throw notResumable(run.run, 'its list of files is missing')
  return openListed(run, files, limits, options)
}

/** Files of a listing, in the folder of a run. */
export const openListed = (
  job: JobOfRun,
  files: readonly ListedBatchFile[],
  { maxLineBytes, maxRatio }: RunLimits,
  { service, concurrency, signal, onBytes, skipBadFiles }: Omit<BatchPullOptions, 'lake' | 'limit'>,
): Promise<OpenedJob> =>
  openBatchSources(service, job, files, {
    limits: { maxLineBytes, maxRatio },
    ...{ concurrency, signal, onBytes, skipBadFiles },
  })
