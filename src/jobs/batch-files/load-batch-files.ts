/** Puts the parts of a batch pull together: the service's batch files → load → the Parquet lake. */

import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import type { BatchFilesJob, RunLimits, RunPlan } from '../../run/run-plan.ts'
import { withRun } from '../../run/with-run.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { batchFilesText, filesOfRun, openBatchSources } from './batch-sources.ts'
import { type BatchSelection, type ChosenFiles, chooseBatchFiles } from './choose-batch-files.ts'

export interface BatchPullOptions extends RunOptions {
  readonly service: Service
  /** Files downloaded side by side. */
  readonly concurrency: number
  /** Called with the bytes received of all files together. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

export interface BatchPull {
  /** Absent where the lake holds all that was chosen: no run was begun. */
  readonly summary: LoadSummary | undefined
  /** Files that were not downloaded, because the lake holds them. */
  readonly held: readonly ListedBatchFile[]
  /** Files that were skipped because their id cannot be asked for; `''` where the listing gives none. */
  readonly unnameable: readonly ListedBatchFile[]
}

/** What a service lists now, chosen from by what is asked for and what the lake holds. @throws as `chooseBatchFiles` */
export const chooseListed = async (
  service: Pick<Service, 'batchFiles' | 'origin'>,
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
  // Whoever names ids has not asked for these.
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
  const job: BatchFilesJob = { kind: 'batchFiles', url, selection }
  const plan: RunPlan = { jobs: [job], again, limits: defaultLimits(options) }
  const texts = async () => new Map([batchFilesText(files)])
  const summary = await withRun(
    { lake, plan, mode: options.mode, files: texts, taking: options },
    async (run) => loadIntoLake(run, [await openBatchFiles(run, plan.limits, options)], options),
  )
  return { summary, ...left }
}

/** The files that a run was begun with; they are downloaded when they are asked for. */
export const openBatchFiles = async (
  run: JobScope,
  { maxLineBytes, maxRatio }: RunLimits,
  options: Omit<BatchPullOptions, 'lake' | 'limit'>,
): Promise<OpenedJob> => {
  const files = await filesOfRun(run)
  if (files === undefined) throw notResumable(run.run, 'its list of files is missing')
  const { service, concurrency, signal, onBytes, skipBadFiles } = options
  const limits = { maxLineBytes, maxRatio }
  return openBatchSources(service, run, files, { concurrency, limits, signal, onBytes, skipBadFiles })
}
