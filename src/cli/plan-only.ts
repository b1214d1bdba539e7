/** `--plan-only` of the commands that load: units of work for many machines, in place of the load. */

import type { Command } from 'commander'
import { ToolkitError } from '../core/errors.ts'
import type { RunLoad } from '../jobs/run-steps.ts'
import { askedOf, takenBy, type ValuesOf } from '../options/entry.ts'
import { COMMIT_RUN, COMMIT_SERVICE, PLAN_RUN, RUN_PLAN } from '../options/steps.ts'
import { formatCount, formatCounted } from '../support/format.ts'
import { optionsOf } from './add-command.ts'
import { interruptible } from './interrupt.ts'
import { checkEngine, type EngineFlags } from './options/engine-options.ts'
import type { LakeOption } from './options/options.ts'
import { projectionOf } from './options/projection-options.ts'
import { checkMode } from './options/run-options.ts'
import { printJson, printLines } from './output/print.ts'

/** Options of the commit are given to that: what a person asks for here would not be done. @throws {ToolkitError} USAGE */
const refuseCommitOptions = (command: Command): void => {
  const ofPlan = { ...PLAN_RUN, ...COMMIT_SERVICE, json: true }
  const ofCommit = optionsOf(COMMIT_RUN).filter(([name]) => !(name in ofPlan))
  const [, given] =
    ofCommit.find(([, one]) => command.getOptionValueSource(one.attributeName()) === 'cli') ?? []
  if (given === undefined) return
  throw new ToolkitError(
    'USAGE',
    `Cannot use ${given.long} with --plan-only: nothing is committed, give it to "firmlake run commit"`,
  )
}

/**
 * Plans a run, and prints it.
 *
 * @throws {ToolkitError} USAGE together with an engine, which works on what it plans, or with options of the commit; what
 *   `planRun` throws
 */
export const planOnly = async (
  command: Command,
  values: LakeOption & Partial<ValuesOf<typeof RUN_PLAN>> & EngineFlags,
  load: RunLoad,
): Promise<void> => {
  if (values.engine !== undefined)
    throw new ToolkitError('USAGE', 'Cannot use --plan-only with --engine: expected one of them')
  checkEngine(values)
  refuseCommitOptions(command)
  await checkMode(values)
  const { lake, json } = values
  const { planRun } = await import('../jobs/run-steps.ts')
  // The other options of the command are those of its load and its commit.
  const asked = takenBy(PLAN_RUN, load) as RunLoad
  const planned = await interruptible(
    (signal) => planRun({ ...askedOf(RUN_PLAN, values), ...asked, take: projectionOf(values), signal }),
    'no run is begun',
  )
  if (json) return printJson({ lake, ...planned })
  const { run, units, phases, existing, skipped } = planned
  const counts = phases.map(({ count }) => formatCount(count)).join(' + ')
  await printLines([
    ...(run === null
      ? ['Nothing to load: no run was begun.']
      : [
          `${existing ? 'The run is there already' : 'Planned run'}: ${run}`,
          `${formatCounted(units, 'unit')}${phases.length > 1 ? ` in ${formatCounted(phases.length, 'phase')} (${counts})` : ''}`,
        ]),
    ...(skipped.length > 0
      ? ['', 'Skipped:', ...skipped.map((one) => `  ${one.source}: ${one.reason}`)]
      : []),
  ])
}
