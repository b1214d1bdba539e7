/** Puts the parts of a batch pull together: the service's batch files → load → the Parquet lake. */

import { randomBytes } from 'node:crypto'
import { ToolkitError } from '../../core/errors.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { snapshotIfAny } from '../../manifest/snapshots.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { orGiveUp } from '../run/give-up.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../run/load-into-lake.ts'
import type { LoadSummary } from '../run/load-sources.ts'
import { type RunPlan, startRun } from '../run/start-run.ts'
import { filesOfRun, openBatchSources } from './batch-sources.ts'
import { type BatchSelection, chooseBatchFiles } from './choose-batch-files.ts'

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
  /** Files that were skipped because their id cannot be asked for. */
  readonly unnameable: readonly ListedBatchFile[]
}

/** Starts or takes up the run of a batch pull, and works on it. `url` is where a resumed run finds the service. */
export const pullBatches = async (
  url: string,
  selection: BatchSelection,
  again: boolean,
  options: BatchPullOptions,
): Promise<BatchPull> => {
  const { lake, service, signal } = options
  const listed = await service.batchFiles(signal && { signal })
  const snapshot = await snapshotIfAny(lake)
  // Before a run, and possibly a lake, is made for files that cannot or need not be pulled.
  const { files, ...left } = chooseBatchFiles(listed, selection, { snapshot, service: service.origin, again })
  if (files.length === 0) return { summary: undefined, ...left }
  const plan: RunPlan = {
    ...{ pipeline: 'batches', inputs: [], cwd: '', again },
    limits: defaultLimits(options),
    settings: { url, selection },
  }
  const lease = await startRun({ lake, plan, now: new Date(), random: randomBytes, mode: options.mode })
  const chosen = await orGiveUp(lease, () => filesOfRun(lease, async () => files))
  return { summary: await workOnBatches(lease, plan, chosen, options), ...left }
}

/** Works on a run of a batch pull that is already leased. */
export const workOnBatches = async (
  lease: RunLease,
  plan: RunPlan,
  files: readonly ListedBatchFile[],
  options: BatchPullOptions,
): Promise<LoadSummary> => {
  const { service, concurrency, signal, onBytes, skipBadFiles } = options
  const { maxLineBytes, maxRatio } = plan.limits
  const limits = { maxLineBytes, maxRatio }
  const { sources, stop } = await orGiveUp(lease, () =>
    openBatchSources(service, lease, files, { concurrency, limits, signal, onBytes, skipBadFiles }),
  )
  try {
    return await loadIntoLake(lease, plan, sources, options)
  } finally {
    await stop()
  }
}

/** Where a run of batch files finds its service. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const serviceOfBatches = (run: string, { settings = {} }: RunPlan): string => {
  if (typeof settings.url === 'string') return settings.url
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot resume run "${run}": its plan is of another version`, {
    run,
  })
}
