/** `convert`: batch files into the lake. */

import type { Command } from 'commander'
import type { Content } from '../../contract/objects.ts'
import { DECODE_LIMITS } from '../../decode/decode-limits.ts'
import type { RunReport } from '../../jobs/run-report.ts'
import { DEFAULT_MAX_DEPTH } from '../../load/check-options.ts'
import { DETACHING, onEngineOr } from '../on-engine.ts'
import { type FileEngineFlags, fileEngineOptions } from '../options/engine-options.ts'
import { modeOption } from '../options/lake-mode.ts'
import { contentOption, jsonOption, lakeOption, wholeNumber, withExamples } from '../options/options.ts'
import {
  bytesOption,
  type SkipBadFilesOption,
  skipBadFilesOption,
  unknownOptions,
  workOptions,
} from '../options/run-options.ts'
import { type LoadJobFlags, printReport, runLoadJob } from '../run-job.ts'

interface ConvertCommandOptions extends LoadJobFlags, SkipBadFilesOption, FileEngineFlags {
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
  for (const option of [...unknownOptions(), ...fileEngineOptions()]) command.addOption(option)
  command.addOption(jsonOption()).action(runConvert)
  withExamples(command, [
    ['convert data/sample --lake ./lake', 'all files of a folder'],
    ["convert 'batches/*.jsonl.br' --lake ./lake --max-quarantined 5%", 'a pattern, less strict'],
    ['convert page.json --lake ./lake', 'a saved page, or any JSON list of records'],
    ['convert batches/ --lake ./lake --skip-bad-files', 'damaged files are skipped and named'],
    ['convert /mnt/batches --lake s3://bucket/lake --engine temporal', 'by workers on many machines'],
    ['convert - --lake ./lake --content companies < companies.jsonl', 'standard input'],
  ])
}

const runConvert = async (from: string[], flags: ConvertCommandOptions): Promise<void> => {
  const { content, again, skipBadFiles, maxLineBytes, maxRatio, maxDepth } = flags
  const own = { from, content, again, skipBadFiles, maxLineBytes, maxRatio, maxDepth }
  const { convert } = await import('../../jobs/convert.ts')
  await runLoadJob<RunReport>(
    flags,
    (options, line) =>
      onEngineOr(
        flags,
        line,
        () => convert({ ...options, ...own }),
        async (on) => (await import('../../jobs/on-engine.ts')).convertOnEngine({ ...options, ...own }, on),
      ),
    (report) => printReport(report, flags),
    flags.engine && DETACHING,
  )
}
