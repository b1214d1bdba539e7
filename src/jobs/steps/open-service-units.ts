/** Opens windows and batch files of a service, as another process planned them. */

import type { Source } from '../../core/source.ts'
import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import { notResumable } from '../../run/opened-job.ts'
import type { BatchFilesJob, PullJob, SyncJob } from '../../run/run-plan.ts'
import type { Service } from '../../source/service/service.ts'
import { filesOfRun, openBatchSources } from '../batch-files/batch-sources.ts'
import { openPull } from '../pull/open-windows.ts'
import { readWindows } from '../pull/plan-pull.ts'
import { rememberParameters } from '../pull/pull-settings.ts'
import { openSync, readFindings } from '../sync/find-changes.ts'
import { broughtIds } from './brought-ids.ts'
import type { SharedRun } from './shared-run.ts'

/** Opens windows of a pull or a sync. @param places theirs, of all that the job has */
export const openWindows = async (
  shared: SharedRun,
  job: JobOfRun,
  asked: PullJob | SyncJob,
  places: readonly number[],
  { service: open, concurrency, signal }: OpenUnitOptions,
): Promise<OpenedUnits> => {
  const service = rememberParameters(await open(asked.url))
  const pulling = { concurrency, signal }
  const plan = await readWindows(job)
  if (plan === undefined) throw notResumable(job.run, 'it has no windows')
  if (asked.kind === 'sync') {
    const findings = await readFindings(job)
    if (findings === undefined) throw notResumable(job.run, 'it has no findings')
    return openSync(service, job, asked, findings, pulling, places)
  }
  // The windows that close a gap are the last phase.
  const last = shared.units.at(-1)?.phase
  const before = shared.units.filter(({ phase }) => phase !== last).map(({ id }) => id)
  return openPull(service, job, asked, plan, pulling, {
    only: places,
    brought: () => broughtIds(job, before),
  })
}

/** Opens batch files. @param places theirs, of all that the job has */
export const openBatches = async (
  { plan: { limits } }: SharedRun,
  job: JobOfRun,
  { url }: BatchFilesJob,
  places: readonly number[],
  { service, concurrency, signal }: OpenUnitOptions,
): Promise<OpenedUnits> => {
  const files = await filesOfRun(job)
  if (files === undefined) throw notResumable(job.run, 'it has no list of files')
  const { maxLineBytes, maxRatio } = limits
  const some = places.flatMap((place) => files[place] ?? [])
  return openBatchSources(await service(url), job, some, {
    ...{ concurrency, signal },
    limits: { maxLineBytes, maxRatio },
  })
}

export interface OpenUnitOptions {
  /** Opens the service at an address, for the kinds of jobs that call one; whoever opens it closes it. */
  readonly service: (url: string) => Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface OpenedUnits {
  /** The sources of all units, in their order. */
  readonly sources: readonly Source[]
  /** The file of ids beside a source, where the closing of a gap needs them. */
  readonly idsPath?: ((index: number) => string | undefined) | undefined
}
