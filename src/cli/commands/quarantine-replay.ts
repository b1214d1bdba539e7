/** `quarantine replay`: loads quarantined lines again, after a fix. */

import type { Command } from 'commander'
import { DEFAULT_MAX_DEPTH } from '../../check/drift/check-options.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import type { ReplayReport } from '../../jobs/replay/replay.ts'
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
import { watchRun } from '../output/watch-run.ts'
import { printReport, runJob } from '../run-job.ts'

interface ReplayFlags extends LakeOption, JsonOption, TargetFlags, UnknownOptions {
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

const runReplay = async (flags: ReplayFlags): Promise<void> => {
  const { source: sources, maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames } = flags
  const { lake, json, changeCurrency } = flags
  const own = { sources, maxLineBytes, maxDepth, maxUnknownPerRecord, maxUnknownNames, changeCurrency }
  const { replay } = await import('../../jobs/replay/replay.ts')
  await runJob<ReplayReport>(
    flags,
    (options, line) => replay({ ...options, ...own, onEvent: watchRun(line) }),
    async ({ run, ...report }) => {
      if (json) await printJson({ lake, snapshot: null, ...(run !== null && { run, ...report }) })
      else if (run === null) await printLines(['Nothing to replay: no such line is in the quarantine.'])
      else if (report.snapshot === null)
        await printLines(['No line could be loaded: the quarantine stays as it is.'])
      else await printReport({ run, ...report }, { lake })
    },
  )
}
