/**
 * Several loads in one run: one snapshot shows all of them, and none is made where nothing came. One that fails holds back
 * the others only where it is needed.
 */

import { type ErrorCode, isFinal, ToolkitError } from '../core/errors.ts'
import type { LineCounts } from '../core/partition.ts'
import type { JobOfRun } from '../manifest/runs/run-files.ts'
import { pullsIfAny } from '../manifest/snapshots/snapshots.ts'
import { rememberParameters } from '../pull/windows/pull-settings.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, sourcesByJob } from '../run/load-into-lake.ts'
import type { OpenedJob } from '../run/opened-job.ts'
import { isSameJob, planOf, type RunPlan } from '../run/run-plan.ts'
import { type RunScope, withRun } from '../run/with-run.ts'
import { Blame, linesOfPart, olderOfPart } from './failed-load.ts'
import {
  isOfService,
  type LoadPart,
  openPart,
  type PartOptions,
  type PreparedPart,
  type PulledPart,
  preparePart,
} from './open-loads.ts'
import { recordsListing } from './whole-loads.ts'

/** The outcome of one load. */
export type PartOutcome = { readonly part: LoadPart } & (
  | {
      readonly kind: 'loaded'
      /** The run of all loads. */
      readonly summary: LoadSummary
      readonly counts: LineCounts
      /** Records of which the lake had newer data. */
      readonly older: number
      readonly pulled: PulledPart | undefined
      readonly unnameable?: Prepared['unnameable']
    }
  | Extract<PreparedPart, { readonly kind: 'nothing' }>
  | { readonly kind: 'failed'; readonly error: unknown }
  /** A part that is needed failed. */
  | { readonly kind: 'held-back'; readonly by: string }
)

type Prepared = Extract<PreparedPart, { readonly kind: 'prepared' }>

/** The service as a whole does not answer: no other load of it does better, and their run is kept. */
const DOWN: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['SERVICE_FAILED', 'SERVICE_BUSY', 'ADDRESS_REFUSED'] as const),
  ...(['TOKEN_MISSING', 'TOKEN_INVALID', 'TOKEN_REFUSED'] as const),
])
const isDown = (error: unknown): boolean => error instanceof ToolkitError && DOWN.has(error.code)

const openAll = async (
  run: RunScope,
  prepared: readonly Prepared[],
  plan: RunPlan,
  options: PartOptions,
  blame: Blame,
) => {
  // A run that was committed before may have had more jobs.
  const { jobs } = run.committed === undefined ? plan : await planOf(run.lake, run.run)
  const opened: { readonly part: LoadPart; readonly job: OpenedJob<PulledPart> }[] = []
  for (const { part, job } of prepared) {
    const place = jobs.findIndex((one) => isSameJob(one, job))
    const open = () => openPart({ ...run, job: place }, job, plan.limits, options)
    opened.push({ part, job: { ...(await blame.around(part, open)), place } })
  }
  const named = sourcesByJob(opened.map(({ job }) => job))
  return opened.map(({ part, job }, at) => {
    const sources = named[at] ?? []
    return { part, sources, watched: blame.watch(part, job, sources) }
  })
}

/** Why a run did not come to its end, and whose fault it is where that is known. */
interface Failed {
  readonly error: unknown
  readonly culprit: LoadPart | undefined
  readonly isFinal: boolean
}

/**
 * Loads everything in one run. Where one of several loads fails, or it can only fail again, the run is removed: resumed after the others were
 * committed, it would bring back what they had then.
 */
const inOneRun = async (
  [first, ...others]: readonly [Prepared, ...Prepared[]],
  options: PartOptions,
  blame: Blame,
): Promise<readonly PartOutcome[] | Failed> => {
  const prepared = [first, ...others]
  const { lake, mode, maxQuarantined: limit } = options
  const jobs = [first.job, ...others.map(({ job }) => job)] as const
  const plan: RunPlan = { jobs, again: false, limits: defaultLimits(options) }
  // A lake that is new gets its first snapshot, whatever came: what follows a night finds a lake.
  const known = await pullsIfAny(lake)
  const onlyRows =
    known !== null && !recordsListing(prepared, known.pulls ?? [], options.service?.clock.now() ?? new Date())
  const files = async () => {
    const strings: (readonly [name: string, text: string])[] = []
    for (const [place, one] of prepared.entries())
      strings.push(...(await blame.around(one.part, async () => (await one.strings?.(place)) ?? [])))
    return new Map(strings)
  }
  const failedBy = (error: unknown): Failed => ({
    error,
    culprit: others.length === 0 ? first.part : blame.partOf(error),
    isFinal: error instanceof ToolkitError && isFinal(error),
  })
  const work = async (run: RunScope): Promise<readonly PartOutcome[] | Failed> => {
    try {
      const opened = await openAll(run, prepared, plan, options, blame)
      const watched = opened.map((one) => one.watched)
      const summary = await loadIntoLake(run, watched, { ...options, onlyRows })
      return opened.map(({ part, sources }, at): PartOutcome => {
        const counts = linesOfPart(summary.partitions, sources)
        const older = olderOfPart(summary.partitions, sources)
        const { unnameable } = prepared.find((one) => one.part === part) ?? {}
        return { kind: 'loaded', part, summary, counts, older, pulled: summary.facts[at], unnameable }
      })
    } catch (error) {
      await blame.learn(error, run, limit)
      const failed = failedBy(error)
      const isOfOne = others.length > 0 && failed.culprit !== undefined && !isDown(error)
      const isHeld = error instanceof ToolkitError && error.code === 'LOAD_HELD'
      if (options.signal?.aborted || isHeld || !(failed.isFinal || isOfOne)) throw error
      return failed
    }
  }
  const sources = async (run: JobOfRun) =>
    (await Promise.all(prepared.map((one, job) => one.sources?.({ ...run, job }) ?? []))).flat()
  const now = { sources, signal: options.signal }
  return withRun({ lake, plan, mode, files, orMoreFiles: true, taking: options, ...now }, work).catch(
    failedBy,
  )
}

/** The outcomes of the loads so far. */
class Together {
  readonly outcomes = new Map<LoadPart, PartOutcome>()
  readonly #blame = new Blame()
  readonly #options: PartOptions
  constructor(options: PartOptions) {
    this.#options = options
  }

  /** @throws the error itself where all was stopped */
  #fail(part: LoadPart, error: unknown): void {
    if (this.#options.signal?.aborted) throw error
    this.outcomes.set(part, { kind: 'failed', part, error })
  }

  /** A part that is needed and failed. */
  needed(): LoadPart | undefined {
    return [...this.outcomes.values()].find(({ kind, part }) => kind === 'failed' && part.needed)?.part
  }

  /** The loads that can be done, as far as that is known before a run. */
  async prepare(parts: readonly LoadPart[]): Promise<readonly Prepared[]> {
    const prepared: Prepared[] = []
    let down: unknown
    for (const part of parts) {
      if (down !== undefined && isOfService(part)) continue
      try {
        const one = await preparePart(part, this.#options)
        if (one.kind === 'prepared') prepared.push(one)
        else this.outcomes.set(part, { ...one, part })
      } catch (error) {
        this.#fail(part, error)
        if (isOfService(part) && isDown(error)) down = error
      }
    }
    if (down === undefined) return prepared
    for (const part of parts) if (isOfService(part)) this.#fail(part, down)
    return prepared.filter(({ part }) => !isOfService(part))
  }

  /** Loads what is left in one run, without those that fail. */
  async load(left: readonly Prepared[]): Promise<void> {
    const [first, ...others] = left
    if (first === undefined || this.needed() !== undefined) return
    const done = await inOneRun([first, ...others], this.#options, this.#blame)
    if (!('error' in done)) {
      for (const outcome of done) this.outcomes.set(outcome.part, outcome)
      return
    }
    const { error, culprit } = done
    // The loads are held back together, or wait for what is.
    if (error instanceof ToolkitError && error.code === 'LOAD_HELD') {
      for (const one of left) this.#fail(one.part, error)
      return
    }
    if (culprit === undefined && done.isFinal) {
      for (const one of left) await this.load([one])
      return
    }
    const fails = ({ part }: Prepared): boolean =>
      culprit === undefined || part === culprit || (isDown(error) && isOfService(part))
    for (const one of left.filter(fails)) this.#fail(one.part, error)
    await this.load(left.filter((one) => !fails(one)))
  }
}

/**
 * Does several loads in one commit. One that fails holds back none of the others, unless it is needed: it is left out, and the
 * others are committed together. Where the service as a whole fails, its loads fail together and their run is kept: the same call
 * resumes it.
 *
 * @returns what became of each, in their order
 * @throws {ToolkitError} INTERRUPTED; what a lake throws that cannot be read
 */
export const loadTogether = async (
  parts: readonly LoadPart[],
  given: PartOptions,
): Promise<readonly PartOutcome[]> => {
  const service = given.service && rememberParameters(given.service)
  const together = new Together({ ...given, service })
  await together.load(await together.prepare(parts))
  const by = together.needed()?.name ?? ''
  return parts.map((part) => together.outcomes.get(part) ?? { kind: 'held-back', part, by })
}
