/** `--plan-only` of the commands that load: units of work for many machines, in place of the load. */

import { ToolkitError } from '../core/errors.ts'
import type { RunLoad } from '../jobs/steps/run-steps.ts'
import { askedOf, takenBy, type ValuesOf } from '../options/entry.ts'
import { PLAN_RUN, RUN_PLAN } from '../options/steps.ts'
import { formatCount, formatCounted } from '../support/format.ts'
import { interruptible } from './interrupt.ts'
import type { EngineFlags } from './options/engine-options.ts'
import type { LakeOption } from './options/options.ts'
import { projectionOf } from './options/projection-options.ts'
import { checkMode } from './options/run-options.ts'
import { printJson, printLines } from './output/print.ts'

/**
 * Plans a run, and prints it.
 *
 * @throws {ToolkitError} USAGE together with an engine, which works on what it plans; what `planRun` throws
 */
export const planOnly = async (
  values: LakeOption & Partial<ValuesOf<typeof RUN_PLAN>> & Pick<EngineFlags, 'engine'>,
  load: RunLoad,
): Promise<void> => {
  if (values.engine !== undefined)
    throw new ToolkitError('USAGE', 'Cannot use --plan-only with --engine: expected one of them')
  await checkMode(values)
  const { lake, json } = values
  const { planRun } = await import('../jobs/steps/run-steps.ts')
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
