/**
 * Plans a run that any number of processes work on: what there is to do is cut into units, which are stored before the run
 * has an owner. Nothing is loaded.
 */

import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import { inLake, RUNS_FOLDER } from '../../lake/files/layout.ts'
import { runState, SHARED_OWNER } from '../../manifest/runs/run-lease.ts'
import { createRun, listRunIds, makeLake, readPlan } from '../../manifest/runs/runs.ts'
import { type RunUnits, readUnits, UNITS_FILE, unitsText, type WorkUnit } from '../../manifest/runs/units.ts'
import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { pullsIfAny, rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../../manifest/snapshots/source-index.ts'
import { defaultLimits, type RunOptions } from '../../run/load-into-lake.ts'
import { projectionOfRun } from '../../run/projection-of-run.ts'
import {
  type BatchFilesJob,
  type ConvertJob,
  type PullJob,
  type RunLimits,
  type RunPlan,
  type SyncJob,
  storedPlan,
} from '../../run/run-plan.ts'
import { sharesOf } from '../../run/run-tools.ts'
import { isOfNewest } from '../../run/same-work.ts'
import type { RunTexts } from '../../run/with-run.ts'
import { localSources } from '../../source/local-sources.ts'
import type { Service } from '../../source/service/service.ts'
import { TOOL } from '../../support/own-package.ts'
import { batchFilesText } from '../batch-files/batch-sources.ts'
import { skippedFiles } from '../batch-files/choose-batch-files.ts'
import { chooseListed } from '../batch-files/pull-batch-files.ts'
import { windowsOf } from '../pull/open-windows.ts'
import { planPull, windowsText } from '../pull/plan-pull.ts'
import { currencyBefore } from '../pull/pull.ts'
import { checkSettings, rememberParameters } from '../pull/pull-settings.ts'
import type { RunWindow } from '../pull/window-sources.ts'
import { changeWindows, findingsText, listChanges } from '../sync/find-changes.ts'
import { commitOf, type Phase, phasesOf, withScratch } from './shared-run.ts'
import { cutFiles, DEFAULT_UNIT_BYTES, type SkippedSource } from './units-of-files.ts'

/** The jobs that a run of many machines may load. */
export type SharedJob = ConvertJob | PullJob | SyncJob | BatchFilesJob

export interface PlanOptions extends Omit<RunOptions, 'maxQuarantined'> {
  readonly job: SharedJob
  readonly limits?: RunLimits | undefined
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /** Stored bytes of files in a unit. @default 64 MiB */
  readonly unitBytes?: number | undefined
  /** Requests a second of all workers together. @default learnt from the answers, by each for itself */
  readonly maxRequestsPerSecond?: number | undefined
  /** The service, for the jobs that call one. */
  readonly service?: Service | undefined
  /** Windows listed side by side. @default 4 */
  readonly concurrency?: number | undefined
}

/** A run as it was planned. */
export interface PlannedRun {
  /** `null`: there is nothing to load, and no run was begun. */
  readonly run: string | null
  readonly tool: string
  readonly units: number
  readonly phases: readonly Phase[]
  /** Whether the same plan was there already, not finished. */
  readonly existing: boolean
  readonly skipped: readonly SkippedSource[]
}

/** The units of a job, and the other files of the run's folder. */
interface PlannedJob {
  readonly units: readonly WorkUnit[]
  readonly files: RunTexts
  readonly skipped: readonly SkippedSource[]
}

const phaseOf = ({ growing, closing }: RunWindow): number => (closing ? 2 : growing ? 1 : 0)

/** A window is a unit; those of a later phase stand behind the others. */
const unitsOfWindows = (windows: readonly RunWindow[]): readonly WorkUnit[] =>
  windows
    .map((window, at) => ({ phase: phaseOf(window), job: 0, sources: [{ name: window.name, at }] }))
    .sort((a, b) => a.phase - b.phase)

const planConvert = async (job: ConvertJob, plan: RunPlan, options: PlanOptions): Promise<PlannedJob> => {
  const { lake, unitBytes = DEFAULT_UNIT_BYTES, skipBadFiles = false, signal } = options
  const sources = await localSources(job.inputs, job.cwd)
  const { content } = job
  const inLake = plan.again ? null : new SourceIndex(lake, await rootIfAny(lake))
  const cut = await cutFiles(content ? sources.map((one) => ({ ...one, content })) : sources, {
    ...{ unitBytes, limits: plan.limits, skipBadFiles, inLake, signal },
  })
  return { ...cut, files: new Map() }
}

const planWindowed = async (
  job: PullJob | SyncJob,
  service: Service,
  options: PlanOptions,
): Promise<PlannedJob> => {
  const { lake, signal, concurrency = 4 } = options
  const { kind: _, url: __, ...settings } = job
  const asking = rememberParameters(service)
  await checkSettings(asking, settings, signal)
  await currencyBefore(settings, options)
  const pulling = { concurrency, signal }
  const windows = await planPull(asking, settings, await pullsIfAny(lake), pulling)
  if (job.kind === 'pull')
    return {
      units: unitsOfWindows(windowsOf(settings.content, windows)),
      files: new Map([windowsText(windows)]),
      skipped: [],
    }
  const root = await rootIfAny(lake)
  const snapshot = root && (await readAllListed(lake, root))
  await makeLake(lake, options.mode)
  // Below the lake's folder on this machine: what compares the list with the lake may open nothing else.
  const findings = await withScratch(
    (scratch) =>
      listChanges(asking, { lake, run: '', scratch }, settings, windows, snapshot, {
        ...pulling,
        memoryBytes: sharesOf(options).engineBytes,
      }),
    inLake(lake, RUNS_FOLDER),
  )
  return {
    units: unitsOfWindows(changeWindows(settings, findings)),
    files: new Map([windowsText(windows), findingsText(findings)]),
    skipped: [],
  }
}

const ALREADY_LOADED = 'already loaded (--again loads it again)'

const planBatchFiles = async (
  { selection }: BatchFilesJob,
  service: Service,
  options: PlanOptions,
): Promise<PlannedJob> => {
  const { files, held, unnameable } = await chooseListed(service, selection, options.again ?? false, options)
  return {
    units: files.map(({ name }, at) => ({ phase: 0, job: 0, sources: [{ name, at }] })),
    files: new Map([batchFilesText(files)]),
    skipped: [
      ...held.map(({ name }) => ({ source: name, reason: ALREADY_LOADED })),
      ...skippedFiles(unnameable),
    ],
  }
}

const planUnits = (plan: RunPlan, options: PlanOptions): Promise<PlannedJob> => {
  const { job, service } = options
  if (job.kind === 'convert') return planConvert(job, plan, options)
  if (service === undefined) throw new TypeError('Cannot plan a run over a service: none is given')
  return job.kind === 'batches' ? planBatchFiles(job, service, options) : planWindowed(job, service, options)
}

/** Unfinished runs of a plan that processes may still work on, or that were committed and are what the plan is about. */
const openRuns = async (lake: string, plan: RunPlan): Promise<readonly [run: string, units: RunUnits][]> => {
  if ((await rootIfAny(lake)) === null && (await listRunIds(lake)).length === 0) return []
  const asked: unknown = JSON.parse(JSON.stringify(storedPlan(plan)))
  const found: [run: string, units: RunUnits][] = []
  for (const run of await listRunIds(lake)) {
    const now = new Date()
    const state = await runState(lake, run, { now })
    if (!state?.owner.shared || state.state === 'gone') continue
    const commit = await commitOf(lake, run, state.owner.base)
    if (commit && !(await isOfNewest({ lake, committed: commit.snapshot }, plan, now))) continue
    // No bytes of batch files are known here that could be compared.
    if (commit && plan.jobs.some(({ kind }) => kind === 'batches')) continue
    const units = await readUnits(lake, run)
    if (units?.shared && isDeepStrictEqual(await readPlan(lake, run).catch(() => undefined), asked))
      found.push([run, units])
  }
  return found
}

/** Whether a run that was planned before is what would be planned now. */
const isSame = (before: RunUnits, now: Omit<RunUnits, 'units'>): boolean => {
  const { units: _, ...settings } = before
  return isDeepStrictEqual(settings, JSON.parse(JSON.stringify(now)))
}

const plannedAs = (
  run: string | null,
  units: readonly WorkUnit[],
  existing: boolean,
  skipped: readonly SkippedSource[] = [],
): PlannedRun => ({ run, tool: TOOL, units: units.length, phases: phasesOf(units), existing, skipped })

/**
 * Plans a run. The same plan that is not finished yet gives the run that is there: of files only where they are the same.
 *
 * @throws {ToolkitError} USAGE for standard input, and what the inputs or the service throw; no run is begun then
 */
export const planSharedRun = async (options: PlanOptions): Promise<PlannedRun> => {
  const {
    lake,
    job,
    again = false,
    limits,
    skipBadFiles,
    maxRequestsPerSecond: requestsPerSecond,
    mode,
  } = options
  if (job.kind === 'convert' && job.inputs.includes('-'))
    throw new ToolkitError(
      'USAGE',
      'Cannot plan a run over standard input: it can be read only once, expected files',
    )
  const plan: RunPlan = {
    ...{ jobs: [job], again, limits: { ...defaultLimits(options), ...limits } },
    ...(await projectionOfRun(lake, options)),
  }
  const settings = {
    ...{ shared: true, tool: TOOL },
    ...(skipBadFiles && { skipBadFiles }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
  }
  const before = (await openRuns(lake, plan)).filter(([, units]) => isSame(units, settings))
  // A service has moved on meanwhile: what was planned of it stays.
  const [first] = job.kind === 'convert' ? [] : before
  if (first) return plannedAs(first[0], first[1].units, true)
  const { units, files, skipped } = await planUnits(plan, options)
  const same = before.find(([, one]) => isDeepStrictEqual(one.units, JSON.parse(JSON.stringify(units))))
  if (same) return plannedAs(same[0], units, true, skipped)
  const isPull = job.kind === 'pull' || job.kind === 'sync'
  // A pull of which nothing comes is recorded too: "since last" continues from it.
  if (units.length === 0 && !isPull) return plannedAs(null, [], false, skipped)
  const { run } = await createRun({
    ...{ lake, mode, now: new Date(), random: randomBytes, process: SHARED_OWNER },
    plan: storedPlan(plan),
    files: new Map([...files, [UNITS_FILE, unitsText({ ...settings, units })]]),
  })
  return plannedAs(run, units, false, skipped)
}
