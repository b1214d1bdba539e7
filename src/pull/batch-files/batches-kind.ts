/** Batch files of the service as a kind of job: chosen by the listing before there is a run, each a source and a unit of it. */

import { readDiscarded } from '../../manifest/snapshots/discarded.ts'
import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { JobKind, KindOptions } from '../../run/job-kind.ts'
import { notResumable } from '../../run/opened-job.ts'
import type { BatchFilesJob } from '../../run/run-plan.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { refuseFuture } from '../../source/service/service-clock.ts'
import { batchFilesText, filesOfRun, openBatchSources } from './batch-sources.ts'
import {
  type BatchSelection,
  type ChosenFiles,
  chooseBatchFiles,
  nothingReason,
  skippedFiles,
} from './choose-batch-files.ts'

/**
 * Lists the service's files and chooses those that are asked for and that the lake does not hold. @throws as
 * `chooseBatchFiles`
 */
const chooseListed = async (
  service: Pick<Service, 'batchFiles' | 'clock' | 'origin'>,
  selection: BatchSelection,
  again: boolean,
  { lake, signal }: Pick<KindOptions, 'lake' | 'signal'>,
): Promise<ChosenFiles> => {
  const idless: ListedBatchFile[] = []
  const onIdless = (name: string): void => {
    idless.push({ id: '', name: name || 'an entry without a name' })
  }
  const listed = await service.batchFiles({ signal, onIdless })
  const root = await rootIfAny(lake)
  const snapshot =
    root && (await readAllListed(lake, root, ({ services }) => services?.includes(service.origin) ?? false))
  const discarded = new Set(
    (await readDiscarded(lake)).flatMap(({ batch }) => (batch?.service === service.origin ? [batch.id] : [])),
  )
  const chosen = chooseBatchFiles(listed, selection, { snapshot, service: service.origin, discarded, again })
  for (const { id, createdAt = '' } of chosen.files)
    refuseFuture(`Cannot pull batch file "${id}"`, Date.parse(createdAt), service.clock)
  // A caller that names ids has not asked for these.
  if (selection.kind === 'ids') return chosen
  return { ...chosen, unnameable: [...chosen.unnameable, ...idless] }
}

export const batchesKind: JobKind<BatchFilesJob> = {
  prepare: async ({ url, selection }, options, again) => {
    const service = await options.service(url)
    const { files, held, discarded, unnameable } = await chooseListed(service, selection, again, options)
    return {
      ...{ held, discarded, unnameable },
      ...(files.length === 0 && { nothing: nothingReason({ held, discarded, unnameable }) }),
      strings: async (place) => [batchFilesText(files, place)],
      sources: async (run) =>
        (await openBatchSources(service, run, files, { ...options, limits: {} })).sources,
      cut: async () => ({
        units: files.map(({ name }, at) => ({ phase: 0, job: 0, sources: [{ name, at }] })),
        strings: [batchFilesText(files)],
        skipped: skippedFiles({ held, discarded, unnameable }),
      }),
    }
  },
  open: async (run, { url }, { maxLineBytes, maxRatio }, options, part) => {
    const { concurrency, signal, onBytes, skipBadFiles } = options
    const listed = await filesOfRun(run)
    if (listed === undefined) throw notResumable(run.run, 'it has no list of files')
    const files = part
      ? part.units.flatMap(({ sources }) => sources.flatMap(({ at }) => listed[at] ?? []))
      : listed
    return openBatchSources(await options.service(url), run, files, {
      limits: { maxLineBytes, maxRatio },
      ...{ concurrency, signal, onBytes, skipBadFiles },
    })
  },
}
