/** `run` and its sub-commands: a run in steps that any machine can take. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { CommitRunReport } from '../../jobs/run-steps.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { COMMIT_RUN, RUN_STEP, WORK_RUN } from '../../options/steps.ts'
import type { SharedRunStatus } from '../../shared-run/shared-run.ts'
import type { UnitChoice } from '../../shared-run/work-shared-run.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { exitCodeOfReports } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { plannedService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { watchRun } from '../output/watch-run.ts'
import { loadCheckOfFile, printReport, runJob } from '../run-job.ts'

export const addRun = (program: Command): void => {
  const group = program
    .command('run')
    .summary('work on a planned run on many machines, and commit it')
    .description(
      'A run in steps: planned once by --plan-only of the command that loads, worked on by any number of processes on ' +
        'any machine that reaches the lake, committed by anyone. Exit codes for the scheduler of the steps, the plan ' +
        'too: 0 done, 1 failed and may be tried again, 75 later; never retry 2 (usage), 3 (too many bad lines) and 4 ' +
        '(the same again fails the same).',
    )
  addRunWork(group)
  addRunCommit(group)
  addRunStatus(group)
  addRunCancel(group)
}

const addRunCommit = (group: Command): void => {
  addCommand(group, {
    name: 'commit',
    summary: 'commit a run whose units are all done',
    description:
      'Commits a run, in one snapshot. Anyone may, again and at once with others: one commit makes the snapshot, and ' +
      'the others find it. With units that are not done it ends with 75 and names the first. Of a whole search it asks the ' +
      'service for the companies that came no more: with the token, and of the origin, of "run work".',
    options: COMMIT_RUN,
    run: commit,
    examples: [['run commit 20261121T094920744Z-54d23e --lake s3://bucket/lake', 'all of it at once']],
  })
}

const commit = async (values: ValuesOf<typeof COMMIT_RUN>): Promise<void> => {
  const { run, lake, json } = values
  const { commitRun } = await import('../../jobs/run-steps.ts')
  const check = values.checked ? await loadCheckOfFile() : undefined
  await runJob<CommitRunReport>(
    values,
    (given, line) =>
      commitRun({
        ...{ ...askedOf(COMMIT_RUN, values), ...given, check, onEvent: watchRun(line) },
        service: (url, maxRequestsPerSecond) =>
          plannedService({ ...values, concurrency: 1, maxRequestsPerSecond }, url),
      }),
    async (done) => {
      if (done.kind === 'committed') {
        process.exitCode = exitCodeOfReports([done])
        return json ? printJson({ lake, ...done }) : printReport(done, values)
      }
      if (json) return printJson({ lake, ...done })
      await printLines([
        done.snapshot === null
          ? `Run ${run} has ended already: it found nothing new to load.`
          : `Run ${run} is committed already: snapshot ${done.snapshot} shows it.`,
      ])
    },
    'nothing of the run is visible',
  )
}

type StepValues = ValuesOf<typeof RUN_STEP>

const addRunStatus = (group: Command): void => {
  addCommand(group, {
    name: 'status',
    summary: 'how far a run is',
    description:
      'Shows how many units of a run are done, by phase, what they have loaded, and which come first.',
    options: RUN_STEP,
    run: status,
    examples: [['run status 20261121T094920744Z-54d23e --lake ./lake', 'of one run']],
  })
}

const status = async ({ run, lake, json }: StepValues): Promise<void> => {
  const { runStatus } = await import('../../jobs/run-steps.ts')
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

const addRunCancel = (group: Command): void => {
  addCommand(group, {
    name: 'cancel',
    summary: 'end a run without a commit',
    description:
      'Removes a run: its workers find it gone and end with 4. What they have loaded goes with "firmlake gc". Where it ' +
      'was interrupted halfway, the same command resumes it.',
    options: RUN_STEP,
    run: cancel,
    examples: [['run cancel 20261121T094920744Z-54d23e --lake ./lake', 'one run']],
  })
}

const cancel = async ({ run, lake, json }: StepValues): Promise<void> => {
  const { cancelRun } = await import('../../jobs/run-steps.ts')
  const snapshot = await cancelRun({ lake, run })
  if (json) return printJson({ lake, run, snapshot })
  await printLines([
    snapshot === null
      ? `Run ${run} is cancelled: "firmlake gc" frees what it has loaded.`
      : `Run ${run} was committed: snapshot ${snapshot} shows it.`,
  ])
}

const addRunWork = (group: Command): void => {
  addCommand(group, {
    name: 'work',
    summary: 'load units of a run',
    description:
      'Loads units of a run, in processes as many as wanted. A unit that is done already is left alone; one that ' +
      'several work on is done once. Killed at any point, the same command resumes. A unit of a later phase ' +
      'is too early with 75. A run that calls the service takes its token from FIRMLAKE_TOKEN or ' +
      '--token-file, and sends it only to the service of FIRMLAKE_URL or --url.',
    options: WORK_RUN,
    run: work,
    examples: [
      [
        'run work 20261121T094920744Z-54d23e --lake s3://bucket/lake --shard 0/4',
        'the first of four workers',
      ],
      ['run work 20261121T094920744Z-54d23e --lake s3://bucket/lake --unit 17 18', 'two units'],
    ],
  })
}

type WorkValues = ValuesOf<typeof WORK_RUN>

const choiceOf = ({ units, shard }: Pick<WorkValues, 'units' | 'shard'>): UnitChoice => {
  if (units !== undefined && shard === undefined) return { units }
  if (shard !== undefined && units === undefined) return { shard }
  throw new ToolkitError('USAGE', 'Cannot tell which units to work on: expected either --unit or --shard')
}

const work = async (values: WorkValues): Promise<void> => {
  const { units: chosen, shard, ...asked } = askedOf(WORK_RUN, values)
  const { lake, json } = values
  const choice = choiceOf({ units: chosen, shard })
  const { workRun } = await import('../../jobs/run-steps.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const worked = await interruptible(
    (signal) =>
      workRun({
        ...{ ...asked, ...choice, signal, onEvent: watchRun(line) },
        service: (url, maxRequestsPerSecond) => plannedService({ ...values, maxRequestsPerSecond }, url),
      }),
    'units that are done are kept',
  ).finally(() => line.clear())
  if (json) return printJson({ lake, ...worked })
  const { snapshot, units } = worked
  const of = (kind: (typeof units)[number]['kind']): number => units.filter((one) => one.kind === kind).length
  const records = units.reduce((sum, one) => sum + one.records, 0)
  await printLines([
    snapshot === null
      ? `${formatCounted(of('done'), 'unit')} done: ${formatCounted(records, 'record')}; ` +
        `${formatCount(of('already-done'))} were done before, ${formatCount(of('lease-lost'))} by another attempt meanwhile`
      : `Nothing to do: snapshot ${snapshot} shows the run.`,
  ])
}
