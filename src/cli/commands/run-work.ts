/** `run work`: loads units of a run. */

import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { WorkRunOptions } from '../../jobs/steps/run-steps.ts'
import { interruptible } from '../interrupt.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import { memoryOption, partitionsOption } from '../options/run-options.ts'
import { plannedService, type ServiceCommandOptions, serviceOptions } from '../options/service-options.ts'
import { formatCount, formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { watchRun } from '../output/watch-run.ts'

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

export const addRunWork = (group: Command): void => {
  const command = group
    .command('work')
    .summary('load units of a run')
    .description(
      'Loads units of a run, in processes as many as wanted. A unit that is done already is left alone; one that ' +
        'several work on is done once. Killed at any point, the same command again goes on. A unit of a later phase ' +
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
        `${formatCount(of('there'))} were done before, ${formatCount(of('lost'))} by another attempt meanwhile`
      : `Nothing to do: snapshot ${snapshot} shows the run.`,
  ])
}
