/** `run status` and `run cancel`: how far a run is, and its end without a commit. */

import type { Command } from 'commander'
import type { SharedRunStatus } from '../../jobs/steps/shared-run-status.ts'
import { type JsonOption, jsonOption, type LakeOption, lakeOption, withExamples } from '../options/options.ts'
import { formatCount, formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'

type Flags = LakeOption & JsonOption

export const addRunStatus = (group: Command): void => {
  const command = group
    .command('status')
    .summary('how far a run is')
    .description(
      'Shows how many units of a run are done, by phase, what they have loaded, and which come first.',
    )
    .argument('<run>', 'id of the run')
    .addOption(lakeOption())
    .addOption(jsonOption())
    .action(status)
  withExamples(command, [['run status 20261121T094920744Z-54d23e --lake ./lake', 'of one run']])
}

const status = async (run: string, { lake, json }: Flags): Promise<void> => {
  const { runStatus } = await import('../../jobs/steps/run-steps.ts')
  const found = await runStatus({ lake, run })
  if (json) return printJson({ lake, ...found })
  await printLines(linesOf(found))
}

const linesOf = (found: SharedRunStatus): readonly string[] => {
  const { run, snapshot, state, commits, units, done, phases, partitions, records, quarantined, open } = found
  if (snapshot !== null) return [`Run ${run} is committed: snapshot ${snapshot} shows it.`]
  if (state === 'cancelled')
    return [
      commits === 0
        ? `Run ${run} is cancelled, but not to the end: "firmlake run cancel" removes what is left of it.`
        : `Run ${run} is cancelled; ${formatCounted(commits, 'commit')} of it may be under way: it goes when they end, or after a day.`,
    ]
  return [
    `Run ${run}: ${formatCount(done)} of ${formatCounted(units, 'unit')} done`,
    ...(phases.length > 1
      ? phases.map(
          (phase) =>
            `  units ${phase.first} to ${phase.first + phase.count - 1}: ${formatCount(phase.done)} of ${formatCount(phase.count)}`,
        )
      : []),
    `${formatCounted(partitions, 'partition')}, ${formatCounted(records, 'record')}, ${formatCount(quarantined)} quarantined`,
    ...(open.length > 0 ? [`Not done: ${open.join(', ')}${units - done > open.length ? ', …' : ''}`] : []),
    ...(open.length === 0 ? ['"firmlake run commit" commits it.'] : []),
    ...(state === 'gone' ? ['Nobody has worked on it for a day: "firmlake gc" removes it.'] : []),
  ]
}

export const addRunCancel = (group: Command): void => {
  const command = group
    .command('cancel')
    .summary('end a run without a commit')
    .description(
      'Removes a run: its workers find it gone and end with 4. What they have loaded goes with "firmlake gc". Where it ' +
        'was stopped halfway, the same command goes on.',
    )
    .argument('<run>', 'id of the run')
    .addOption(lakeOption())
    .addOption(jsonOption())
    .action(cancel)
  withExamples(command, [['run cancel 20261121T094920744Z-54d23e --lake ./lake', 'one run']])
}

const cancel = async (run: string, { lake, json }: Flags): Promise<void> => {
  const { cancelRun } = await import('../../jobs/steps/run-steps.ts')
  const snapshot = await cancelRun({ lake, run })
  if (json) return printJson({ lake, run, snapshot })
  await printLines([
    snapshot === null
      ? `Run ${run} is cancelled: "firmlake gc" frees what it has loaded.`
      : `Run ${run} was committed: snapshot ${snapshot} shows it.`,
  ])
}
