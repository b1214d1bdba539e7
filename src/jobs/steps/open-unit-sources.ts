/** Opens the sources of units, as another process planned them. */

import { resolve } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import type { UnitSource } from '../../manifest/runs/units.ts'
import { notResumable } from '../../run/opened-job.ts'
import type { ConvertJob } from '../../run/run-plan.ts'
import { localSources } from '../../source/local-sources.ts'
import { sourceAsOf } from '../common/files-as-of.ts'
import type { OpenedUnits, OpenUnitOptions } from './open-service-units.ts'
import type { NumberedUnit, SharedRun } from './shared-run.ts'

const asPlanned = (source: Source, { fingerprint, content, found, blocks, name }: UnitSource): Source => ({
  ...source,
  ...(content && { content }),
  ...(found && { found: true }),
  ...(blocks && { range: blocks }),
  // It is opened as what was hashed.
  open: (signal) => source.open(signal),
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
const openFile = async (stored: UnitSource, { cwd, asOf }: ConvertJob): Promise<Source> => {
  const { name } = stored
  try {
    const [source] = await localSources([resolve(cwd, name)], cwd)
    if (source?.fingerprint) return asPlanned(sourceAsOf(source, asOf), stored)
    throw new ToolkitError('SOURCE_CHANGED', `Cannot load "${name}": it is no file any more`, {
      source: name,
    })
  } catch (error) {
    const fail = async (): Promise<never> => {
      throw error
    }
    const open = () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) })
    return { kind: 'file', name, fingerprint: fail, open }
  }
}

/** Loaded only where a service is called: each worker is a process. */
const serviceUnits = () => import('./open-service-units.ts')

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
      return (await serviceUnits()).openWindows(shared, job, asked, places, options)
    case 'batches':
      return (await serviceUnits()).openBatches(shared, job, asked, places, options)
    default:
      throw notResumable(seen.run, `it is a run of "${asked.kind}"`)
  }
}
