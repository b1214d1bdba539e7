/** `run` and its sub-commands: a run in steps that any machine can take. */

import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { CommitRunReport, WorkRunOptions } from '../../jobs/steps/run-steps.ts'
import type { SharedRunStatus } from '../../jobs/steps/shared-run.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { exitCodeOfReports, withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { type JsonOption, jsonOption, type LakeOption, lakeOption, wholeNumber } from '../options/options.ts'
import { type LoadFlags, memoryOption, partitionsOption, workOptions } from '../options/run-options.ts'
import { plannedService, type ServiceCommandOptions, serviceOptions } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { watchRun } from '../output/watch-run.ts'
import { type JobFlags, printReport, runJob } from '../run-job.ts'
import { addRunPlan } from './run-plan.ts'

export const addRun = (program: Command): void => {
  const group = program
    .command('run')
    .summary('plan a run, work on it on many machines, commit it')
    .description(
      'A run in steps: planned once, worked on by any number of processes on any machine that reaches the lake, ' +
        'committed by anyone. Exit codes for the scheduler of the steps: 0 done, 1 failed and may be tried again, ' +
        '75 later; never retry 2 (usage), 3 (too many bad lines) and 4 (the same again fails the same).',
    )
  addRunPlan(group)
  addRunWork(group)
  addRunCommit(group)
  addRunStatus(group)
  addRunCancel(group)
}

type CommitFlags = JobFlags & LoadFlags

const addRunCommit = (group: Command): void => {
  const command = group
    .command('commit')
    .summary('commit a run whose units are all done')
    .description(
      'Commits a run, in one snapshot. Anyone may, again and at once with others: one commit makes the snapshot, and ' +
        'the others find it. With units that are not done it ends with 75 and names the first.',
    )
    .argument('<run>', 'id of the run')
    .addOption(lakeOption())
  for (const option of workOptions()) command.addOption(option)
  command.addOption(jsonOption()).action(commit)
  withExamples(command, [
    ['run commit 20261121T094920744Z-54d23e --lake s3://bucket/lake', 'all of it at once'],
  ])
}

const commit = async (run: string, flags: CommitFlags): Promise<void> => {
  const { lake, json, maxQuarantined, changeCurrency } = flags
  const { commitRun } = await import('../../jobs/steps/run-steps.ts')
  await runJob<CommitRunReport>(
    flags,
    (options, line) =>
      commitRun({ ...options, lake, run, maxQuarantined, changeCurrency, onEvent: watchRun(line) }),
    async (done) => {
      if (done.kind === 'committed') {
        process.exitCode = exitCodeOfReports([done])
        return json ? printJson({ lake, ...done }) : printReport(done, flags)
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

type Flags = LakeOption & JsonOption

const addRunStatus = (group: Command): void => {
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

const addRunCancel = (group: Command): void => {
  const command = group
    .command('cancel')
    .summary('end a run without a commit')
    .description(
      'Removes a run: its workers find it gone and end with 4. What they have loaded goes with "firmlake gc". Where it ' +
        'was interrupted halfway, the same command resumes it.',
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

interface WorkFlags extends LakeOption, JsonOption, ServiceCommandOptions {
  readonly unit?: readonly number[]
  readonly shard?: Shard
  readonly workers?: number
  readonly memory: number
  readonly threads?: number
}

interface Shard {
  readonly index: number
  readonly of: number
}

/** Reads `0/4` to `3/4`. */
const shardOf = (text: string): Shard => {
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(text)
  const [index, of] = [Number(match?.[1] ?? Number.NaN), Number(match?.[2] ?? Number.NaN)]
  if (index < of) return { index, of }
  throw new ToolkitError(
    'USAGE',
    `Cannot read --shard "${text}": expected a place from 0 and a number of workers, such as 0/4 to 3/4`,
  )
}

const addRunWork = (group: Command): void => {
  const command = group
    .command('work')
    .summary('load units of a run')
    .description(
      'Loads units of a run, in processes as many as wanted. A unit that is done already is left alone; one that ' +
        'several work on is done once. Killed at any point, the same command resumes. A unit of a later phase ' +
        'is too early with 75. A run that calls the service takes its token from FIRMLAKE_TOKEN or ' +
        '--token-file, and sends it only to the service of FIRMLAKE_URL or --url.',
    )
    .argument('<run>', 'id of the run, see "firmlake run plan"')
    .addOption(lakeOption())
    .addOption(
      new Option('--unit <n...>', 'these units, by their numbers from 0').argParser(
        (text: string, before: readonly number[] | undefined) => [
          ...(before ?? []),
          wholeNumber('--unit', 0)(text),
        ],
      ),
    )
    .addOption(new Option('--shard <i/n>', 'each n-th unit, from the i-th on (from 0)').argParser(shardOf))
    .addOption(
      new Option(
        '--workers <n>',
        'workers at once, which share the requests a second of the plan (default: n of --shard, else 1)',
      ).argParser(wholeNumber('--workers')),
    )
    .addOption(memoryOption())
    .addOption(partitionsOption())
  for (const option of serviceOptions('windows pulled side by side')) {
    // A run keeps to its share of the rate.
    if (option.long !== '--max-requests-per-second') command.addOption(option)
  }
  command.addOption(jsonOption()).action(work)
  withExamples(command, [
    ['run work 20261121T094920744Z-54d23e --lake s3://bucket/lake --shard 0/4', 'the first of four workers'],
    ['run work 20261121T094920744Z-54d23e --lake s3://bucket/lake --unit 17 18', 'two units'],
  ])
}

const choiceOf = ({ unit, shard }: WorkFlags): Pick<WorkFlags, 'unit'> & WorkChoice => {
  if (unit !== undefined && shard === undefined) return { units: unit }
  if (shard !== undefined && unit === undefined) return { shard }
  throw new ToolkitError('USAGE', 'Cannot tell which units to work on: expected either --unit or --shard')
}
type WorkChoice = { readonly units: readonly number[] } | { readonly shard: Shard }

const work = async (run: string, flags: WorkFlags): Promise<void> => {
  const { lake, json, workers, concurrency, memory: memoryBytes, threads } = flags
  const choice = choiceOf(flags)
  const { workRun } = await import('../../jobs/steps/run-steps.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const worked = await interruptible((signal) => {
    const options: WorkRunOptions = {
      ...choice,
      ...{ lake, run, memoryBytes, threads, concurrency, workers, signal, onEvent: watchRun(line) },
      service: (url, share) =>
        plannedService({ ...flags, ...(share !== undefined && { maxRequestsPerSecond: share }) }, url),
    }
    return workRun(options)
  }, 'units that are done are kept').finally(() => line.clear())
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
