/** Files as a kind of job: opened by their names, and cut into units by their sizes. */

import { resolve } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import type { Source } from '../core/source.ts'
import type { UnitSource } from '../manifest/runs/units.ts'
import { rootIfAny } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import type { JobKind } from '../run/job-kind.ts'
import { notResumable } from '../run/opened-job.ts'
import type { ConvertJob } from '../run/run-plan.ts'
import { sourceAsOf } from '../source/files-as-of.ts'
import { localSources } from '../source/local-sources.ts'

/** The files of a job, as they stand now. @throws {ToolkitError} SOURCE_NOT_FOUND, SOURCE_UNREADABLE */
export const filesOfJob = async ({ inputs, cwd, content, asOf }: ConvertJob): Promise<readonly Source[]> => {
  const sources = (await localSources(inputs, cwd)).map((source) => sourceAsOf(source, asOf))
  return content === undefined ? sources : sources.map((source) => ({ ...source, content }))
}

const asPlanned = (source: Source, { fingerprint, content, found, blocks, name }: UnitSource): Source => ({
  ...source,
  ...(content && { content }),
  ...(found && { found: true }),
  ...(blocks && { range: blocks }),
  // The source is opened as what was hashed.
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

export const convertKind: JobKind<ConvertJob> = {
  prepare: async (job, { lake, skipBadFiles = false, signal }) => ({
    sources: () => filesOfJob(job),
    cut: async ({ again, limits }, unitBytes) => {
      if (job.inputs.includes('-'))
        throw new ToolkitError(
          'USAGE',
          'Cannot plan a run over standard input: it can be read only once, expected files',
        )
      const { cutFiles } = await import('./cut-files.ts')
      const sources = await filesOfJob(job)
      const inLake = again ? null : new SourceIndex(lake, await rootIfAny(lake))
      return {
        ...(await cutFiles(sources, { unitBytes, limits, skipBadFiles, inLake, signal })),
        strings: [],
      }
    },
  }),
  open: async ({ run, number }, job, _limits, _options, part) => {
    if (part) {
      const sources: Source[] = []
      for (const one of part.units.flatMap((unit) => unit.sources)) sources.push(await openFile(one, job))
      return { sources }
    }
    const again = number > 1
    if (again && job.inputs.includes('-')) throw notResumable(run, 'standard input cannot be read again')
    const sources = await filesOfJob(job)
    const once = again ? sources.find(({ fingerprint }) => fingerprint === undefined) : undefined
    if (once) throw notResumable(run, `"${once.name}" cannot be read again`)
    return { sources }
  },
}
