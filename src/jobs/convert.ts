/** `convert`: files and records of a program into a lake, in one call. */

import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Source } from '../core/source.ts'
import { convertKind, filesOfJob } from '../kinds/convert-kind.ts'
import { CONVERT } from '../options/convert.ts'
import type { ConvertOptions } from '../options/interfaces.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { type Driver, NO_SERVICE } from '../run/job-kind.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../run/load-into-lake.ts'
import { limitsGiven } from '../run/load-job.ts'
import type { ConvertJob, ProgramJob, RunPlan } from '../run/run-plan.ts'
import { NOTHING_LOADED, type RunReport } from '../run/run-report.ts'
import { sharesOf } from '../run/run-tools.ts'
import { toBeLoaded } from '../run/same-work.ts'
import { withRun } from '../run/with-run.ts'
import { sourceAsOf } from '../source/files-as-of.ts'
import type { Input } from '../source/inputs.ts'
import { localSources } from '../source/local-sources.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'
import { lakeJob } from './lake-job.ts'
import { measured } from './measured-load.ts'

const isSource = (input: Input): input is Source => typeof input !== 'string' && input.kind !== 'files'

/** The paths, where all inputs are paths: then any process can resume the run. */
const pathsOf = (inputs: readonly Input[]): readonly string[] | undefined =>
  inputs.some(isSource) ? undefined : inputs.flatMap((input) => pathsIn(input))

const pathsIn = (input: Input): readonly string[] => {
  if (typeof input === 'string') return [input]
  return input.kind === 'files' ? input.paths : []
}

/** The sources of all inputs. @param targets as `localSources` takes them */
export const sourcesOfInputs = async (
  inputs: readonly Input[],
  content: Content | undefined,
  targets?: ReadonlySet<string>,
  asOf?: string | undefined,
): Promise<readonly Source[]> => {
  const sources = inputs.map(async (input) =>
    isSource(input) ? [input] : localSources(pathsIn(input), process.cwd(), targets),
  )
  const all = (await Promise.all(sources)).flat().map((source) => sourceAsOf(source, asOf))
  return content === undefined ? all : all.map((source) => ({ ...source, content }))
}

/**
 * Loads companies and relations into a lake, all in one commit: every line is checked, bad ones go to the quarantine with
 * their reason, and what the lake already holds is skipped. Then published tables and sinks are updated.
 *
 * Stopped at any point, killed too, the lake is as it was; the same call resumes at the last finished partition (with
 * a source that can be read only once it starts again).
 *
 * @returns what the run did, and what its targets received
 * @throws {ToolkitError} `SOURCE_NOT_FOUND`, `SOURCE_UNREADABLE`, `CONTENT_UNKNOWN`, a `DECODE_…`, `DOCUMENT_DAMAGED`,
 *   `SOURCE_FORM` of a bad file; `QUARANTINE_LIMIT`, `CURRENCY_CHANGED` before the commit; `DISK_FULL`, `WRITE_FAILED`,
 *   `USAGE`, `INTERRUPTED`; what `updateTargets` throws, after the commit
 * @example
 * import { convert } from 'firmlake'
 *
 * const { snapshot, records, quarantined } = await convert({
 *   from: ['batches/'],
 *   lake: './lake',
 *   publish: ['delta'],
 *   sinks: ['firms.duckdb'],
 * })
 * console.log(snapshot, records, quarantined) // 1 5 0
 */
export const convert: (options: ConvertOptions) => Promise<RunReport & TargetsSummary> = (options) =>
  convertBy(undefined, options)

/** @param drive does it @default this process */
export const convertBy = (
  drive: Driver | undefined,
  asked: ConvertOptions,
): Promise<RunReport & TargetsSummary> =>
  lakeJob<ConvertOptions, typeof CONVERT, RunReport>('convert', CONVERT, async (options) => {
    const { asOf } = options
    const inputs = [options.from].flat()
    if (inputs.length === 0)
      throw new ToolkitError('USAGE', 'Cannot convert: there is no source, expected at least one in "from"')
    const paths = options.keeps === undefined ? pathsOf(inputs) : undefined
    const { loaded, report } = await measured(options, async (run) => {
      const { content, again = false } = run
      const planned = { again, limits: limitsGiven(run) }
      if (paths === undefined)
        return convertSources(await sourcesOfInputs(inputs, content, undefined, asOf), planned, run)
      const files = { inputs: paths, cwd: process.cwd(), content, asOf }
      if (drive === undefined) return convertFiles({ ...files, ...planned }, run)
      const job: ConvertJob = { kind: 'convert', ...files }
      const { loaded: driven } = await drive(convertKind, job, { ...run, ...NO_SERVICE }, planned)
      return driven ?? NOTHING_LOADED
    })
    return report(loaded)
  })(asked)

type Planned = Pick<RunPlan, 'again' | 'limits'>

/** Starts or resumes the run of a job over sources that are there already, and loads them. */
const loadSources = (
  job: ConvertJob | ProgramJob,
  sources: readonly Source[],
  { again, limits }: Planned,
  options: RunOptions,
): Promise<LoadSummary> => {
  const { lake, mode } = options
  const { blockBytes: mostBlockBytes = sharesOf(options).blockBytes } = limits
  const plan: RunPlan = { jobs: [job], again, limits: { ...defaultLimits(options, sources), ...limits } }
  // Standard input differs between calls, so an earlier run is never resumed for it.
  const fresh = sources.some(({ fingerprint }) => fingerprint === undefined)
  const now = { sources: async () => toBeLoaded(sources), signal: options.signal }
  return withRun({ lake, plan, mode, fresh, mostBlockBytes, taking: options, ...now }, (run) =>
    loadIntoLake(run, [{ sources }], options),
  )
}

/** Starts or resumes the run of a plan over local files, and works on it. */
export const convertFiles = async (
  { again, limits, ...asked }: Omit<ConvertJob, 'kind'> & Planned,
  options: RunOptions,
): Promise<LoadSummary> => {
  const job: ConvertJob = { kind: 'convert', ...asked }
  // Before a run, and possibly a lake, is made for files that do not exist.
  const sources = await filesOfJob(job)
  return loadSources(job, sources, { again, limits }, options)
}

/** The name of such runs in the manifest. */
const PIPELINE = 'program'

/** Sources of a program are known by their names: only the same call resumes, and only where all of them can be read again. */
const convertSources = (
  sources: readonly Source[],
  planned: Planned,
  options: RunOptions,
): Promise<LoadSummary> => {
  const job = {
    kind: 'program',
    pipeline: PIPELINE,
    inputs: sources.map(({ name }) => name),
    cwd: '',
  } as const
  return loadSources(job, sources, planned, options)
}
