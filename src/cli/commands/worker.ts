/** `worker`: takes the steps of runs that were handed over to an engine. */

import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { BUCKET_FORM } from '../../core/lake-address.ts'
import type { StepReport } from '../../engine/temporal/activities.ts'
import { formatDuration } from '../../support/format.ts'
import { machineLimits } from '../../support/machine-limits.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { type TemporalFlags, temporalOptions, temporalPlace } from '../options/engine-options.ts'
import { wholeNumber } from '../options/options.ts'
import { partitionsOption } from '../options/run-options.ts'
import { addressOptions } from '../options/service-options.ts'
import { note } from '../output/print.ts'

interface WorkerFlags extends TemporalFlags {
  readonly slots: number
  readonly threads?: number
  readonly lakes?: readonly string[]
  readonly url?: string
  readonly tokenFile?: string
  readonly trustClock?: true
  readonly metrics?: string
}

const metricsAddress = (text: string): string => {
  if (/^(\d{1,3}(\.\d{1,3}){3}|\[[\da-fA-F:]+\]):\d{1,5}$/.test(text)) return text
  throw new ToolkitError('USAGE', `Cannot read --metrics "${text}": expected IP:PORT, such as 127.0.0.1:9464`)
}

const places = (text: string): readonly string[] => {
  const found = text.split(',').map((one) => one.trim())
  if (found.every((one) => one !== '')) return found
  throw new ToolkitError(
    'USAGE',
    `Cannot read --lakes "${text}": expected folders or ${BUCKET_FORM}, with commas`,
  )
}

export const addWorker = (program: Command): void => {
  const command = program
    .command('worker')
    .summary('run the Temporal activities of runs handed over with --engine')
    .description(
      'Takes units of runs from a Temporal task queue and works on them, each in a process of its own ("firmlake run ' +
        'work"), and commits runs that are done. Any number of workers, on any machine that reaches the lakes. SIGTERM ' +
        'or Ctrl-C stops it: units under way go to other workers. TLS and an API key come from TEMPORAL_ variables.',
    )
  for (const option of temporalOptions()) command.addOption(option)
  command
    .addOption(
      new Option('--slots <n>', 'steps at once; each takes the memory that its run was planned with')
        .argParser(wholeNumber('--slots'))
        .default(1),
    )
    .addOption(partitionsOption())
    .addOption(
      new Option(
        '--lakes <place,...>',
        `lakes that it takes: folders or ${BUCKET_FORM}, and what is in them (default: all)`,
      ).argParser(places),
    )
  for (const option of addressOptions()) command.addOption(option)
  command
    .addOption(
      new Option('--metrics <ip:port>', 'offer metrics for Prometheus there, at /metrics').argParser(
        metricsAddress,
      ),
    )
    .action(work)
  withExamples(command, [
    ['worker --temporal 127.0.0.1:7233 --slots 2', 'two units at once, on this machine'],
    ['worker --temporal 127.0.0.1:7233 --lakes /data/lakes,s3://bucket/lakes', 'lakes of these places alone'],
    ['worker --temporal temporal.example.com:7233 --metrics 127.0.0.1:9464', 'with metrics'],
  ])
}

const say = ({ run, step, unit, code, seconds, error }: StepReport): void => {
  const what = unit === undefined ? step : `unit ${unit}`
  const end = error
    ? `${error.code}: ${error.message}`
    : code === null
      ? 'ended by a signal'
      : `ended with ${code}`
  note(`${run} ${what}: ${code === 0 ? 'done' : end}, ${formatDuration(seconds)}`)
}

const work = async (flags: WorkerFlags, command: Command): Promise<void> => {
  const {
    slots,
    threads = Math.max(1, Math.floor(machineLimits().cpus / slots)),
    lakes,
    url,
    tokenFile,
    trustClock,
    metrics,
  } = flags
  const { openStorage } = await import('../../storage/open-storage.ts')
  // A typo shows now, and not with the first run.
  for (const place of lakes ?? []) openStorage(place)
  // Steps are processes of their own: they take the same file.
  const { config } = command.optsWithGlobals<{ readonly config?: string }>()
  if (config !== undefined) process.env.FIRMLAKE_CONFIG = resolve(config)
  const { workerPart } = await import('../../engine/temporal/packages.ts')
  const { addressOf, runWorker } = await workerPart()
  const at = addressOf(temporalPlace(flags))
  const workArgs = [
    `--threads=${threads}`,
    ...(url === undefined ? [] : [`--url=${url}`]),
    ...(tokenFile === undefined ? [] : [`--token-file=${tokenFile}`]),
    ...(trustClock ? ['--trust-clock'] : []),
  ]
  await interruptible(
    (signal) =>
      runWorker(at, {
        ...{ slots, metrics, signal, workArgs, lakes, onStep: say, log: note },
        // As this very process was started.
        command: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
        onReady: () => note(`Working for task queue "${at.taskQueue}" of ${at.address}, ${slots} at once`),
      }),
    'units under way go to other workers',
  )
}
