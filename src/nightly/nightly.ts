/** `nightly`: the nightly steps of `firmlake.toml` or of the environment, in one call. */

import { isFinal, orInterrupted, ToolkitError } from '../core/errors.ts'
import { EXIT, exitCodeOf } from '../core/exit-codes.ts'
import { openDryLake } from '../jobs/dry-lake.ts'
import { auditOf } from '../jobs/measured-load.ts'
import type { ProgramWork } from '../jobs/run-program.ts'
import { settingsOfLake } from '../jobs/same-lake.ts'
import { writingLakeFilesOnce } from '../manifest/lake-file/lake-file.ts'
import { pullsIfAny, rootIfAny } from '../manifest/snapshots/snapshots.ts'
import type { NightlyOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { NIGHTLY } from '../options/nightly.ts'
import type { ServiceCounters } from '../source/service/service.ts'
import type { TargetEvent } from '../targets/update-targets.ts'
import { goneOf, withUnlooked } from './left-companies.ts'
import { loadTogether, type PartOutcome } from './load-together.ts'
import {
  errorOf,
  failedPart,
  heldBack,
  loadPartOf,
  type NightPart,
  plannedLoad,
  plannedPart,
  pullShown,
} from './night-parts.ts'
import { type Night, type NightStep, nightOf, stepsOf } from './night-settings.ts'

/** The updates of the targets, as the summary shows them. */
const updated = (event: TargetEvent): object => {
  if (event.kind === 'published')
    return { published: { formats: event.formats, snapshot: event.summary.snapshot } }
  if (event.kind !== 'delivered') return {}
  const warnings = event.delivered.flatMap((one) => one.warnings)
  return { delivered: event.delivered, ...(warnings.length > 0 && { warnings }) }
}

/** A part of a night that begins, or that has ended. */
export type NightEvent =
  | { readonly kind: 'begins'; readonly name: string }
  | { readonly kind: 'ended'; readonly part: NightPart }

/** The outcomes of the parts so far. */
class Parts {
  readonly list: NightPart[] = []
  /** The error of the first part that failed as a whole, else of the first that did not get all. */
  error: unknown
  /** The first that is needed and failed. */
  needed: string | undefined
  readonly #onPart: (event: NightEvent) => void

  constructor(onPart: (event: NightEvent) => void) {
    this.#onPart = onPart
  }

  begin(name: string): void {
    this.#onPart({ kind: 'begins', name })
  }

  add(part: NightPart, error?: unknown, needed = false): void {
    this.list.push(part)
    this.#onPart({ kind: 'ended', part })
    if (part.state !== 'failed') return
    if (this.error === undefined || isPartial(this.error)) this.error = error
    if (needed) this.needed ??= part.name
  }
}

/** A part that is committed, of which something did not come: any other failure counts more. */
const isPartial = (error: unknown): boolean => exitCodeOf(error) === EXIT.excluded

/** A pull that may succeed the next time has no result yet. */
const hasResult = (outcome: PartOutcome): boolean =>
  outcome.kind !== 'failed' || (outcome.error instanceof ToolkitError && isFinal(outcome.error))

const loadAll = async (night: Night, parts: Parts, { signal, report }: ProgramWork): Promise<void> => {
  const { lake, loads, service, load, machine, check } = night
  for (const { name } of loads) parts.begin(name)
  const outcomes = await orInterrupted('The night', signal, async () => {
    const audit = check && (await auditOf({ lake, ...machine }, check))
    return loadTogether(loads, { lake, service, signal, audit, ...load, ...machine })
  })
  // A committed part holds nothing back, though something of it did not come.
  const known = (await pullsIfAny(lake))?.pulls ?? []
  for (const outcome of outcomes)
    parts.add(
      withUnlooked(loadPartOf(outcome), outcome, known),
      errorOf(outcome),
      outcome.kind === 'failed' && outcome.part.needed,
    )
  report({ pulls: outcomes.filter(hasResult).flatMap((one) => pullShown(one) ?? []) })
  const runs = new Map(
    outcomes.flatMap((one) => (one.kind === 'loaded' ? [[one.summary.run, one.summary]] : [])),
  )
  const excluded = [...runs.values()].flatMap((one) => one.excluded)
  if (excluded.length > 0) report({ excluded })
  const failing = [...runs.values()].flatMap((one) => one.failing ?? [])
  if (failing.length > 0) report({ failing })
  report(goneOf(outcomes))
}

/** Reports how the loads of a night would change its lake, or what they would ask for. */
const loadDry = async (night: Night, parts: Parts, program: ProgramWork, offline: boolean): Promise<void> => {
  if (offline) {
    for (const one of night.loads) parts.add(plannedLoad(one))
    return
  }
  const dry = await openDryLake(night.lake)
  try {
    await loadAll({ ...night, lake: dry.lake, check: undefined }, parts, program)
    program.report({ dryRun: await dry.changes({ ...night.machine, signal: program.signal }) })
  } finally {
    dry.close()
  }
}

/** The state of the lake behind the loads. */
interface Loaded {
  readonly hasLoaded: boolean
  readonly isEmpty: boolean
}

const doSteps = async (
  steps: readonly NightStep[],
  night: Night,
  { hasLoaded, isEmpty }: Loaded,
  parts: Parts,
  { signal, report }: ProgramWork,
): Promise<void> => {
  const onTarget = (event: TargetEvent): void => report(updated(event))
  for (const { name, needed, work } of steps) {
    if (parts.needed !== undefined) {
      parts.add(heldBack(name, name, `"${parts.needed}" is needed and failed`))
      continue
    }
    if (isEmpty) {
      parts.add(heldBack(name, name, 'the lake has no snapshot yet'))
      continue
    }
    parts.begin(name)
    try {
      const done = await orInterrupted('The night', signal, () =>
        work({ night, hasLoaded, signal, onTarget }),
      )
      parts.add({ name, kind: name, ...done })
    } catch (error) {
      if (signal.aborted) throw error
      parts.add(failedPart(name, name, error), error, needed)
    }
  }
}

/** Steps that commit to the lake, or remove files of it. */
const CHANGES_LAKE = ['compact', 'gc']

/** The catalogs are written once: behind the last step that changes the lake. */
const doAll = async (
  night: Night,
  steps: readonly NightStep[],
  parts: Parts,
  program: ProgramWork,
): Promise<void> => {
  const looking = steps.findLastIndex(({ name }) => CHANGES_LAKE.includes(name)) + 1
  const loaded = await writingLakeFilesOnce(
    async () => {
      await loadAll(night, parts, program)
      const hasLoaded = parts.list.some(
        ({ state, records = 0, quarantined = 0 }) => state === 'done' || records + quarantined > 0,
      )
      const loaded = { hasLoaded, isEmpty: (await rootIfAny(night.lake)) === null }
      await doSteps(steps.slice(0, looking), night, loaded, parts, program)
      return loaded
    },
    (noViews) => program.report({ noViews }),
  )
  await doSteps(steps.slice(looking), night, loaded, parts, program)
}

/**
 * Does what a night is to do: all loads in one commit (one snapshot a night, and none where nothing came), then published
 * tables and sinks, compaction, deletion by age, checks and the report, as far as there are settings for them. A part that fails
 * holds back the others only where it is needed. An interrupted night is resumed when it is called again. For `runProgram`, as
 * pipelines/nightly.ts does.
 *
 * @param options `report` receives what is finished: `parts` with the state of each, `pulls`, `published`, `delivered`
 * @returns requests, retries and bytes of the service
 * @throws {ToolkitError} `USAGE` for a setting that is missing or wrong, `TOKEN_MISSING`; the error of the first part that failed,
 *   after all else; `CHECK_FAILED`; `INTERRUPTED`
 * @example
 * import { nightly } from 'firmlake'
 *
 * const env = {
 *   FIRMLAKE_URL: 'https://service.example.com',
 *   FIRMLAKE_TOKEN: 'token-of-my-service',
 *   FIRMLAKE_LAKE: './lake',
 *   FIRMLAKE_SEARCH: '{"CountryCode":["SE"]}',
 * }
 * const { retries } = await nightly({ env, signal: AbortSignal.timeout(3_600_000), report: () => {} })
 * console.log(retries) // 0
 */
export const nightly: (options: NightlyOptions) => Promise<ServiceCounters> = job(
  'nightly',
  NIGHTLY,
  async (options) => {
    const { env, adopt, overwrite, onPart = () => undefined, onWarning, dryRun = false, ...more } = options
    const { offline = false, ...program } = more
    const parts = new Parts(onPart)
    program.report({ pulls: [], parts: parts.list })
    const settings = await settingsOfLake(options.settings ?? {}, env.FIRMLAKE_LAKE)
    const night = await nightOf(env, settings, { adopt, overwrite, onWarning })
    const steps = stepsOf(settings, night)
    try {
      if (dryRun || offline) {
        await loadDry(night, parts, program, offline)
        for (const { name, intent } of steps) parts.add(plannedPart(name, name, intent))
      } else await doAll(night, steps, parts, program)
      if (parts.error !== undefined) throw parts.error
      return night.service?.counters() ?? { requests: 0, retries: 0, throttled: 0, bytes: 0 }
    } finally {
      await night.service?.close()
    }
  },
)
