/** `convert`: batch files into the lake. */

import type { Command } from 'commander'
import type { Content } from '../../contract/objects.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import { DEFAULT_MAX_DEPTH } from '../../load/check-record.ts'
import { exitCodeOfReports } from '../exit-codes.ts'
import { interruptible } from '../interrupt.ts'
import { checkMode, type ModeOption, modeOption } from '../options/lake-mode.ts'
import {
  contentOption,
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import {
  bytesOption,
  type LoadFlags,
  type SkipBadFilesOption,
  skipBadFilesOption,
  type UnknownOptions,
  unknownOptions,
  workOptions,
} from '../options/run-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { type RunReport, reportLines, reportOf, warnOf } from '../output/run-report.ts'
import { watchRun } from '../output/watch-run.ts'
import { checkExtras, doExtras } from '../run-extras.ts'

interface ConvertCommandOptions
  extends LakeOption,
    JsonOption,
    ModeOption,
    LoadFlags,
    UnknownOptions,
    SkipBadFilesOption {
  readonly content?: Content
  readonly again?: true
  readonly maxLineBytes: number
  readonly maxRatio: number
  readonly maxDepth: number
}

export const addConvert = (program: Command): void => {
  const command = program
    .command('convert')
    .summary('load batch files of companies or relations into a lake')
    .description(
      'Loads JSON Lines files of companies or relations (Brotli, gzip, zstd or plain) into a lake, all in one ' +
        'commit. A JSON list of records, a saved page {"Companies":[…]} and records over several lines load too. ' +
        'Files that the lake already holds are skipped. An interrupted run resumes when the same command is ' +
        'given again.',
    )
    .argument('<path...>', 'files, folders, patterns; - for standard input')
    .addOption(lakeOption())
    .addOption(modeOption())
    .addOption(contentOption('what the files hold (default: detected for each)'))
    .option('--again', 'load files that the lake already holds again')
  for (const option of [...workOptions(), skipBadFilesOption()]) command.addOption(option)
  command
    .addOption(bytesOption('--max-line-bytes <bytes>', 'longest line', DECODE_LIMITS.maxLineBytes, '16MiB'))
    .option(
      '--max-ratio <n>',
      'most decoded bytes for one compressed byte',
      wholeNumber('--max-ratio'),
      DECODE_LIMITS.maxRatio,
    )
    .option('--max-depth <n>', 'deepest nesting of a record', wholeNumber('--max-depth'), DEFAULT_MAX_DEPTH)
  for (const option of unknownOptions()) command.addOption(option)
  command.addOption(jsonOption()).action(runConvert)
  withExamples(command, [
    ['convert data/sample --lake ./lake', 'all files of a folder'],
    ["convert 'batches/*.jsonl.br' --lake ./lake --max-quarantined 5%", 'a pattern, less strict'],
    ['convert page.json --lake ./lake', 'a saved page, or any JSON list of records'],
    ['convert batches/ --lake ./lake --skip-bad-files', 'damaged files are skipped and named'],
    ['convert - --lake ./lake --content companies < companies.jsonl', 'standard input'],
  ])
}

/** Loads the paths, shows how far it is, and returns the report. */
export const convertPaths = async (
  paths: readonly string[],
  options: Omit<ConvertCommandOptions, 'json'>,
  line: ProgressLine,
): Promise<RunReport> => {
  const { lake, content, again = false, maxLineBytes, maxRatio, maxDepth } = options
  const { convert } = await import('../../pipeline/convert/convert.ts')
  const watch = watchRun(line)
  try {
    const summary = await interruptible((signal) =>
      convert(
        { inputs: paths, cwd: process.cwd(), content, again, limits: { maxLineBytes, maxRatio, maxDepth } },
        {
          lake,
          mode: options.mode,
          memoryBytes: options.memory,
          threads: options.threads,
          limit: options.maxQuarantined,
          maxUnknownPerRecord: options.maxUnknownPerRecord,
          maxUnknownNames: options.maxUnknownNames,
          skipBadFiles: options.skipBadFiles,
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

const runConvert = async (paths: string[], options: ConvertCommandOptions): Promise<void> => {
  await checkExtras(options)
  await checkMode(options)
  const line = new ProgressLine({ terminalOnly: options.json === true })
  const report = await convertPaths(paths, options, line)
  if (options.json) await printJson({ lake: options.lake, ...report })
  else {
    await printLines(reportLines(report))
    warnOf(report, options.lake)
  }
  process.exitCode = exitCodeOfReports([report])
  await doExtras(options)
}
