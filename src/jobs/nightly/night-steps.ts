/** What a night does after its loads: a step for each section that firmlake.toml has. */

import type { FileSettings } from '../../config/definition.ts'
import { ToolkitError } from '../../core/errors.ts'
import { newestSnapshot } from '../../manifest/snapshots/snapshots.ts'
import { type TargetEvent, updateTargets } from '../../targets/update-targets.ts'
import type { NightPart } from './night-parts.ts'
import type { Night } from './night-settings.ts'

/** What every step is given. */
interface StepWork {
  readonly night: Night
  /** Whether any load brought something. */
  readonly hasLoaded: boolean
  readonly signal: AbortSignal
  readonly onTarget: (event: TargetEvent) => void
}

export interface NightStep {
  /** Of the section. */
  readonly name: string
  readonly needed: boolean
  readonly work: (work: StepWork) => Promise<Pick<NightPart, 'state'> & Partial<NightPart>>
}

const DEFAULT_PARTITIONS = 100

type Section<Name extends keyof FileSettings> = NonNullable<FileSettings[Name]>
type Work = NightStep['work']

const update: Work = async ({ night: { targets, machine }, signal, onTarget }) => {
  await updateTargets({ ...targets, ...machine, signal, onTarget })
  return { state: 'done' }
}

const compacted =
  ({ partitions: least = DEFAULT_PARTITIONS, target_bytes: targetBytes }: Section<'compact'>): Work =>
  async ({ night: { lake, targets, machine }, signal, onTarget }) => {
    const partitions = (await newestSnapshot(lake))?.partitions.length ?? 0
    if (partitions < least) return { state: 'nothing', reason: `${partitions} of ${least} partitions` }
    const { compact } = await import('../compact/compact.ts')
    const { kind, snapshot } = await compact({ ...targets, ...machine, targetBytes, signal, onTarget })
    return { state: kind === 'nothing' ? 'nothing' : 'done', snapshot }
  }

const collected =
  ({ keep, keep_days: keepDays }: Section<'gc'>): Work =>
  async ({ night: { lake, targets }, signal }) => {
    const { collectGarbage } = await import('../gc/collect-garbage.ts')
    const { catalog } = targets
    const { runs, snapshots, files } = await collectGarbage({ lake, keep, keepDays, catalog, signal })
    const reason = `${snapshots.length} snapshots, ${files.length} files and ${runs.length} runs removed`
    return { state: snapshots.length + files.length + runs.length > 0 ? 'done' : 'nothing', reason }
  }

const expectationsOf = ({ max_age, max_fall, max_quarantined, max_gap, new_drift }: Section<'check'>) => ({
  ...{ maxAgeMs: max_age, maxFall: max_fall, maxQuarantined: max_quarantined, maxGap: max_gap },
  noNewDrift: new_drift === false,
})

const checked =
  (section: Section<'check'>): Work =>
  async ({ night: { lake, machine }, hasLoaded }) => {
    const { check } = await import('../check/check.ts')
    const { readRules } = await import('../check/read-rules.ts')
    const { min_companies: minCompanies, data, rules } = section
    const { memoryBytes, threads } = machine
    const { checks, failed } = await check(lake, {
      // Of an earlier night's load the alarm has rung then.
      ...(hasLoaded ? expectationsOf(section) : { maxAgeMs: section.max_age }),
      ...{ minCompanies, data, memoryBytes, threads },
      rules: rules === undefined ? {} : await readRules(rules),
    })
    if (failed === 0) return { state: 'done', reason: `${checks.length} checks` }
    const names = checks.filter(({ status }) => status === 'failed').map(({ name }) => name)
    throw new ToolkitError(
      'CHECK_FAILED',
      `The lake is not as expected: ${failed} of ${checks.length} checks failed: ${names.join(', ')}`,
      { failed },
    )
  }

const reported =
  ({ to, line_items: lineItems }: Section<'report'>, expected: Section<'check'>): Work =>
  async ({ night: { lake, machine }, signal }) => {
    const { report } = await import('../report/report.ts')
    const { memoryBytes, threads } = machine
    const options = { ...expectationsOf(expected), to, lineItems, memoryBytes, threads, signal }
    const { path, snapshot } = await report(lake, options)
    return { state: 'done', path, snapshot }
  }

/** The steps of a night, in their order. */
export const stepsOf = (settings: FileSettings, { targets }: Night): readonly NightStep[] => {
  const { targets: own, compact, gc, check, report } = settings
  const step = (name: string, section: { readonly needed?: boolean } | undefined, work: Work): NightStep => ({
    ...{ name, work },
    needed: section?.needed ?? false,
  })
  return [
    ...(targets.publish.length + targets.sinks.length > 0 ? [step('targets', own, update)] : []),
    ...(compact ? [step('compact', compact, compacted(compact))] : []),
    ...(gc ? [step('gc', gc, collected(gc))] : []),
    ...(check ? [step('check', check, checked(check))] : []),
    ...(report ? [step('report', report, reported(report, check ?? {}))] : []),
  ]
}
