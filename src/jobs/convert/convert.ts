/** `convert`: files and records of a program into a lake, in one call. */

import type { Content } from '../../contract/objects.ts'
import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import type { KeepsRecord } from '../../load/record-filter.ts'
import type { LoadOptions } from '../../options/interfaces.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import { type JobScope, notResumable, type OpenedJob } from '../../run/opened-job.ts'
import type { ConvertJob, ProgramJob, RunPlan } from '../../run/run-plan.ts'
import { sharesOf } from '../../run/run-tools.ts'
import { toBeLoaded } from '../../run/same-work.ts'
import { withRun } from '../../run/with-run.ts'
import { localSources } from '../../source/local-sources.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import type { Input } from '../common/inputs.ts'
import { withTargets } from '../common/lake-job.ts'
import { LOAD_OPTIONS, limitsGiven, measured, settingsOf } from '../common/load-job.ts'
import type { RunReport } from '../common/run-report.ts'

/** Options of `convert`. */
export interface ConvertOptions extends LoadOptions<RunReport> {
  /** Files, folders, patterns, `-` for standard input; `files`, `fromRecords`, or a source of one's own. */
  readonly from: Input | readonly Input[]
  /** The content of all of them. @default detected for each */
  readonly content?: Content | undefined
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /** Longest line, in bytes. @default 16 MiB */
  readonly maxLineBytes?: number | undefined
  /** Most decoded bytes for one compressed byte. @default 250 */
  readonly maxRatio?: number | undefined
  /** Deepest nesting of a record. @default 256 */
  readonly maxDepth?: number | undefined
  /**
   * Leaves out the records for which it is false: called with each good record as the service gives it. It has to answer the
   * same each time. Only the same program resumes such a run, and loads into such a lake.
   * @default all are loaded
   */
  readonly keeps?: KeepsRecord | undefined
}

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
): Promise<readonly Source[]> => {
  const sources = inputs.map(async (input) =>
    isSource(input) ? [input] : localSources(pathsIn(input), process.cwd(), targets),
  )
  const all = (await Promise.all(sources)).flat()
  return content === undefined ? all : all.map((source) => ({ ...source, content }))
}

export const CONVERT_OPTIONS: OptionTypes<ConvertOptions> = {
  ...LOAD_OPTIONS,
  from: is.required(
    is.either(is.text, is.object, is.listOf(is.either(is.text, is.object), 'paths and sources')),
    'paths and sources',
  ),
  content: is.oneOf('companies', 'relations'),
  ...each(is.flag, 'again', 'skipBadFiles'),
  ...each(is.amount, 'maxLineBytes', 'maxRatio', 'maxDepth'),
  keeps: is.callback,
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
export const convert = async (options: ConvertOptions): Promise<RunReport & TargetsSummary> => {
  checkOptions('convert', CONVERT_OPTIONS, options)
  const inputs = [options.from].flat()
  return withTargets(options, async () => {
    if (inputs.length === 0)
      throw new ToolkitError('USAGE', 'Cannot convert: there is no source, expected at least one in "from"')
    const paths = options.keeps === undefined ? pathsOf(inputs) : undefined
    const { loaded, report } = await measured(settingsOf(options), async (run) => {
      const { content, again = false } = run
      const planned = { again, limits: limitsGiven(run) }
      return paths === undefined
        ? convertSources(await sourcesOfInputs(inputs, content), planned, run)
        : convertFiles({ inputs: paths, cwd: process.cwd(), content, ...planned }, run)
    })
    return report(loaded)
  })
}

/** The files of a job, as they stand now. @throws {ToolkitError} SOURCE_NOT_FOUND, SOURCE_UNREADABLE */
export const localFilesOf = async ({ inputs, cwd, content }: ConvertJob): Promise<OpenedJob> => {
  const sources = await localSources(inputs, cwd)
  return { sources: content === undefined ? sources : sources.map((source) => ({ ...source, content })) }
}

/** The files of a run, which another attempt may have begun. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const openConvert = async ({ run, number }: JobScope, job: ConvertJob): Promise<OpenedJob> => {
  if (number === 1) return localFilesOf(job)
  if (job.inputs.includes('-')) throw notResumable(run, 'standard input cannot be read again')
  const opened = await localFilesOf(job)
  const once = opened.sources.find(({ fingerprint }) => fingerprint === undefined)
  if (once) throw notResumable(run, `"${once.name}" cannot be read again`)
  return opened
}

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
  // A source that can be read only once has other bytes each time: an earlier run proves nothing about it.
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
  const { sources } = await localFilesOf(job)
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
