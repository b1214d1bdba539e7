/** `worker`: takes the steps of runs that were handed over to an engine. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { BUCKET_FORM } from '../../core/lake-address.ts'
import type { StepReport } from '../../engine/temporal/activities.ts'
import { TEMPORAL } from '../../options/engine.ts'
import { type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { PARTITIONS } from '../../options/lake-jobs.ts'
import { SERVICE_ADDRESS } from '../../options/service.ts'
import { commaList, plainText, type ValueType, whole } from '../../options/value-types.ts'
import { formatDuration } from '../../support/format.ts'
import { machineLimits } from '../../support/machine-limits.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { temporalPlace } from '../options/engine-options.ts'
import { note } from '../output/print.ts'

const PLACES: ValueType<readonly string[]> = {
  ...commaList('<place,...>'),
  many: { expected: `folders or ${BUCKET_FORM}, with commas` },
  parse: (text) => {
    const found = text.split(',').map((one) => one.trim())
    return found.every((one) => one !== '') ? found : undefined
  },
}

const METRICS: ValueType<string> = {
  ...plainText('<ip:port>'),
  expected: 'IP:PORT, such as 127.0.0.1:9464',
  parse: (text) => (/^(\d{1,3}(\.\d{1,3}){3}|\[[\da-fA-F:]+\]):\d{1,5}$/.test(text) ? text : undefined),
}

const WORKER = {
  ...TEMPORAL,
  slots: withDefault(whole(), 'steps at once; each takes the memory that its run was planned with', '1'),
  threads: PARTITIONS,
  lakes: option(PLACES, `lakes that it takes: folders or ${BUCKET_FORM}, and what is in them`, {
    otherwise: 'all',
  }),
  ...SERVICE_ADDRESS,
  metrics: option(METRICS, 'offer metrics for Prometheus there, at /metrics'),
} as const satisfies OptionTable

export const addWorker = (program: Command): void => {
  addCommand(program, {
    name: 'worker',
    summary: 'run the Temporal activities of runs handed over with --engine',
    description:
      'Takes units of runs from a Temporal task queue and works on them, each in a process of its own ("firmlake run ' +
      'work"), and commits runs that are done. Any number of workers, on any machine that reaches the lakes. SIGTERM ' +
      'or Ctrl-C stops it: units under way go to other workers. TLS and an API key come from TEMPORAL_ variables.',
    options: WORKER,
    run: work,
    examples: [
      ['worker --temporal 127.0.0.1:7233 --slots 2', 'two units at once, on this machine'],
      [
        'worker --temporal 127.0.0.1:7233 --lakes /data/lakes,s3://bucket/lakes',
        'lakes of these places alone',
      ],
      ['worker --temporal temporal.example.com:7233 --metrics 127.0.0.1:9464', 'with metrics'],
    ],
  })
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

const work = async (values: ValuesOf<typeof WORKER>, command: Command): Promise<void> => {
  const {
    slots,
    threads = Math.max(1, Math.floor(machineLimits().cpus / slots)),
    lakes,
    url,
    tokenFile,
    trustClock,
    metrics,
  } = values
  const { openStorage } = await import('../../storage/open-storage.ts')
  // A typo shows now, and not with the first run.
  for (const place of lakes ?? []) openStorage(place)
  // Steps are processes of their own: they take the same file.
  const { config } = command.optsWithGlobals<{ readonly config?: string }>()
  if (config !== undefined) process.env.FIRMLAKE_CONFIG = resolve(config)
  const { workerPart } = await import('../../engine/temporal/packages.ts')
  const { addressOf, runWorker } = await workerPart()
  const at = addressOf(temporalPlace(values))
  const stepArgs = [
    `--threads=${threads}`,
    ...(url === undefined ? [] : [`--url=${url}`]),
    ...(tokenFile === undefined ? [] : [`--token-file=${tokenFile}`]),
    ...(trustClock ? ['--trust-clock'] : []),
  ]
  await interruptible(
    (signal) =>
      runWorker(at, {
        ...{ slots, metrics, signal, stepArgs, lakes, onStep: say, log: note },
        // As this very process was started.
        command: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
        onReady: () => note(`Working for task queue "${at.taskQueue}" of ${at.address}, ${slots} at once`),
      }),
    'units under way go to other workers',
  )
}
