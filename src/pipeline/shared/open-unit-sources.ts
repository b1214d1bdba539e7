/** Opens the sources of units, as another process planned them. */

import { resolve } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import type { JobOfRun } from '../../manifest/run-files.ts'
import type { UnitSource } from '../../manifest/units.ts'
import { localSources } from '../../source/local-sources.ts'
import type { Service } from '../../source/service/service.ts'
import { filesOfRun, openBatchSources } from '../batch-files/batch-sources.ts'
import { openPull, readWindows } from '../pull/plan-pull.ts'
import { rememberParameters } from '../pull/pull-settings.ts'
import { notResumable } from '../run/opened-job.ts'
import type { BatchFilesJob, ConvertJob, PullJob, SyncJob } from '../run/run-plan.ts'
import { openSync, readFindings } from '../sync/find-changes.ts'
import { broughtIds } from './brought-ids.ts'
import type { NumberedUnit, SharedRun } from './shared-run.ts'

export interface OpenUnitOptions {
  /** Opens the service at an address, for the kinds of jobs that call one; whoever opens it closes it. */
  readonly service: (url: string) => Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface OpenedUnits {
  /** Of all units, in their order. */
  readonly sources: readonly Source[]
  /** The file of ids beside a source, where the closing of a gap needs them. */
  readonly idsPath?: ((index: number) => string | undefined) | undefined
}

const asPlanned = (source: Source, { fingerprint, content, found, blocks, name }: UnitSource): Source => ({
  ...source,
  ...(content && { content }),
  ...(found && { found: true }),
  ...(blocks && { range: blocks }),
  ...(fingerprint && {
    fingerprint: async (signal?: AbortSignal) => {
      const now = await source.fingerprint?.(signal)
      if (now?.sha256 === fingerprint.sha256 && now.bytes === fingerprint.bytes) return now
      throw new ToolkitError(
        'SOURCE_CHANGED',
        `Cannot load "${name}": it changed since the run was planned`,
        {
          source: name,
        },
      )
    },
  }),
})

/** A file by its name. What is wrong with it shows when it is worked on. */
const openFile = async (stored: UnitSource, { cwd }: ConvertJob): Promise<Source> => {
  const { name } = stored
  try {
    const [source] = await localSources([resolve(cwd, name)], cwd)
    if (source?.kind === 'file') return asPlanned(source, stored)
    throw new ToolkitError('SOURCE_CHANGED', `Cannot load "${name}": it is no file any more`, {
      source: name,
    })
  } catch (error) {
    const fail = async (): Promise<never> => {
      throw error
    }
    // biome-ignore lint/correctness/useYield: it fails before it gives anything
    const open = async function* (): AsyncGenerator<Buffer> {
      await fail()
    }
    return { kind: 'file', name, fingerprint: fail, open }
  }
}

/** Settings as they were before: without what only says which kind of job it is. */
const openWindows = async (
  shared: SharedRun,
  job: JobOfRun,
  asked: PullJob | SyncJob,
  places: readonly number[],
  { service: open, concurrency, signal }: OpenUnitOptions,
): Promise<OpenedUnits> => {
  const service = rememberParameters(await open(asked.url))
  const pulling = { nowMs: () => performance.now(), concurrency, signal }
  const plan = await readWindows(job)
  if (plan === undefined) throw notResumable(job.run, 'it has no windows')
  if (asked.kind === 'sync') {
    const findings = await readFindings(job)
    if (findings === undefined) throw notResumable(job.run, 'it has no findings')
    return openSync(service, job, asked, findings, pulling, places)
  }
  // What closes a gap is the last phase.
  const last = shared.units.at(-1)?.phase
  const before = shared.units.filter(({ phase }) => phase !== last).map(({ id }) => id)
  return openPull(service, job, asked, plan, pulling, {
    only: places,
    brought: () => broughtIds(job, before),
  })
}

const openBatches = async (
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

/** Opens what some units have to load; nothing is fetched before it is asked for. */
export const openUnitSources = async (
  shared: SharedRun,
  units: readonly NumberedUnit[],
  scratch: string,
  options: OpenUnitOptions,
): Promise<OpenedUnits> => {
  const { plan, seen } = shared
  const [asked] = plan.jobs
  const stored = units.flatMap(({ sources }) => sources)
  const places = stored.map(({ at }) => at)
  const job = { lake: seen.lake, run: seen.run, scratch }
  switch (asked.kind) {
    case 'convert': {
      const sources: Source[] = []
      for (const one of stored) sources.push(await openFile(one, asked))
      return { sources }
    }
    case 'pull':
    case 'sync':
      return openWindows(shared, job, asked, places, options)
    case 'batchFiles':
      return openBatches(shared, job, asked, places, options)
    default:
      throw notResumable(seen.run, `it is a run of "${asked.kind}"`)
  }
}
