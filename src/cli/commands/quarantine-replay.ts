/** `quarantine replay`: loads quarantined lines again, after a fix. */

import type { Command } from 'commander'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import { type RunReport, reportOf } from '../../jobs/run-report.ts'
import { DEFAULT_MAX_DEPTH } from '../../load/check-record.ts'
import type { QuarantineFile } from '../../pipeline/convert/quarantine.ts'
import { interruptible } from '../interrupt.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import {
  bytesOption,
  changeCurrencyOption,
  memoryOption,
  type TargetFlags,
  targetOptions,
  threadsOption,
  type UnknownOptions,
  unknownOptions,
} from '../options/run-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { watchRun } from '../output/watch-run.ts'
import { checkTargetsOf, updateTargetsOf } from '../run-job.ts'

interface ReplayOptions extends LakeOption, JsonOption, TargetFlags, UnknownOptions {
  readonly source?: readonly string[]
  readonly maxLineBytes: number
  readonly maxDepth: number
  readonly memory: number
  readonly threads: number
  readonly changeCurrency?: true
}

export const addReplay = (group: Command): void => {
  const command = group
    .command('replay')
    .summary('load quarantined lines again')
    .description(
      'Loads the lines of the quarantine again, after a newer firmlake or with other limits, all in one commit. ' +
        'What is still bad stays in the quarantine.',
    )
    .addOption(lakeOption())
    .option('--source <pattern...>', 'only lines of these sources; * stands for any text')
    .addOption(bytesOption('--max-line-bytes <bytes>', 'longest line', DECODE_LIMITS.maxLineBytes, '16MiB'))
    .option('--max-depth <n>', 'deepest nesting of a record', wholeNumber('--max-depth'), DEFAULT_MAX_DEPTH)
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(changeCurrencyOption())
  for (const option of [...unknownOptions(), ...targetOptions()]) command.addOption(option)
  command.addOption(jsonOption()).action(runReplay)
  withExamples(command, [
    ['quarantine replay --lake ./lake', 'after an update of firmlake'],
    ["quarantine replay --lake ./lake --source '*-0007.jsonl.br' --max-depth 512", 'with another limit'],
  ])
}

/** Whether a source's name fits a pattern. */
const fits = (name: string, pattern: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}

const runReplay = async (options: ReplayOptions): Promise<void> => {
  const { lake, source: patterns, json } = options
  await checkTargetsOf(options)
  const { quarantineFiles } = await import('../../pipeline/convert/quarantine-files.ts')
  const files = (await quarantineFiles({ lake })).filter(
    ({ partition }) => patterns?.some((pattern) => fits(partition.source.name, pattern)) ?? true,
  )
  const report = files.length === 0 ? undefined : await replayFiles(files, options)
  if (json) await printJson({ lake, snapshot: null, ...report })
  else await printReplayed(report, lake)
  await updateTargetsOf(options)
}

const printReplayed = async (report: RunReport | undefined, lake: string): Promise<void> => {
  if (report === undefined) return printLines(['Nothing to replay: no such line is in the quarantine.'])
  if (report.snapshot === null) return printLines(['No line could be loaded: the quarantine stays as it is.'])
  await printLines(reportLines(report))
  warnOf(report, lake)
}

const replayFiles = async (files: readonly QuarantineFile[], options: ReplayOptions): Promise<RunReport> => {
  const { lake, maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames } = options
  const { memory, threads, json } = options
  const { replay } = await import('../../pipeline/convert/replay.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const watch = watchRun(line)
  try {
    const summary = await interruptible((signal) =>
      replay(
        files,
        { maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames },
        {
          lake,
          memoryBytes: memory,
          threads,
          changeCurrency: options.changeCurrency,
          signal,
          onEvent: watch.onEvent,
        },
      ),
    )
    return reportOf(summary, { seconds: watch.seconds(), decodedBytes: watch.decodedBytes() })
  } finally {
    line.clear()
  }
}
