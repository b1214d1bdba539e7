/** `convert`: batch files into the lake, or with `--to` into files or a database, without a lake. */

import type { Command } from 'commander'
import { DEFAULT_MAX_DEPTH } from '../../check/drift/check-options.ts'
import type { Content } from '../../contract/objects.ts'
import { DECODE_LIMITS } from '../../core/decode-limits.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { RunReport } from '../../jobs/common/run-report.ts'
import type { ConvertedTo } from '../../jobs/convert/convert-to.ts'
import type { ConvertToOptions } from '../../options/interfaces.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { exitCodeOfReports, withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { DETACHING, onEngineOr } from '../on-engine.ts'
import { type FileEngineFlags, fileEngineOptions } from '../options/engine-options.ts'
import {
  type CsvFlags,
  contentOption,
  csvOptions,
  type JsonOption,
  jsonOption,
  lakeOrTargetOption,
  namesOption,
  neededLake,
  tableOption,
  wholeNumber,
} from '../options/options.ts'
import { projectionOf, projectionOptions } from '../options/projection-options.ts'
import {
  bytesOption,
  modeOption,
  type SkipBadFilesOption,
  skipBadFilesOption,
  toOption,
  unknownOptions,
  workOptions,
} from '../options/run-options.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { countLines, remarkLines, warnOfSources } from '../output/run-report.ts'
import { watchRun } from '../output/watch-run.ts'
import { type LoadJobFlags, printReport, runLoadJob } from '../run-job.ts'

interface ConvertCommandOptions
  extends Omit<LoadJobFlags, 'lake'>,
    SkipBadFilesOption,
    FileEngineFlags,
    CsvFlags {
  readonly lake?: string
  readonly to?: string
  readonly table?: readonly string[]
  readonly names?: true
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
        'given again. With --to no lake is kept: the tables are written to files or a database, and an interrupted ' +
        'command starts again.',
    )
    .argument('<path...>', 'files, folders, patterns; - for standard input')
    .addOption(lakeOrTargetOption())
    .addOption(toOption('no lake: into files or a database, as export --to'))
    .addOption(tableOption())
    .addOption(namesOption())
    .addOption(modeOption())
    .addOption(contentOption('what the files hold (default: detected for each)'))
    .option('--again', 'load files that the lake already holds again')
  for (const option of [...csvOptions(), ...workOptions(), skipBadFilesOption()]) command.addOption(option)
  command
    .addOption(bytesOption('--max-line-bytes <bytes>', 'longest line', DECODE_LIMITS.maxLineBytes, '16MiB'))
    .option(
      '--max-ratio <n>',
      'most decoded bytes for one compressed byte',
      wholeNumber('--max-ratio'),
      DECODE_LIMITS.maxRatio,
    )
    .option('--max-depth <n>', 'deepest nesting of a record', wholeNumber('--max-depth'), DEFAULT_MAX_DEPTH)
  for (const option of [...unknownOptions(), ...projectionOptions(), ...fileEngineOptions()])
    command.addOption(option)
  command.addOption(jsonOption()).action(runConvert)
  withExamples(command, [
    ['convert data/sample --lake ./lake', 'all files of a folder'],
    ["convert 'batches/*.jsonl.br' --lake ./lake --max-quarantined 5%", 'a pattern, less strict'],
    ['convert page.json --lake ./lake', 'a saved page, or any JSON list of records'],
    ['convert batches/ --lake ./lake --skip-bad-files', 'damaged files are skipped and named'],
    ['convert /mnt/batches --lake s3://bucket/lake --engine temporal', 'by workers on many machines'],
    ['convert batches/ --to parquet:out', 'tables as Parquet files, without a lake'],
    ['convert batches/ --to companies.xlsx', 'one table for Excel'],
    ['convert - --lake ./lake --content companies < companies.jsonl', 'standard input'],
  ])
}

const runConvert = async (
  from: string[],
  options: ConvertCommandOptions,
  command: Command,
): Promise<void> => {
  const { to, table, names, bom, delimiter } = options
  if (to !== undefined) return withoutLake(from, { ...options, to }, command)
  if (table ?? names ?? bom ?? delimiter)
    throw new ToolkitError('USAGE', 'Cannot use --table, --names, --bom or --delimiter without --to')
  const flags = neededLake(options)
  const own = { from, ...limitsOf(flags), again: flags.again }
  const { convert } = await import('../../jobs/convert/convert.ts')
  await runLoadJob<RunReport>(
    flags,
    (given, line) =>
      onEngineOr(
        flags,
        line,
        () => convert({ ...given, ...own }),
        (jobs, on) => jobs.convertOnEngine({ ...given, ...own }, on),
      ),
    (report) => printReport(report, flags),
    flags.engine && DETACHING,
  )
}

const limitsOf = ({ content, skipBadFiles, maxLineBytes, maxRatio, maxDepth }: ConvertCommandOptions) => ({
  ...{ content, skipBadFiles, maxLineBytes, maxRatio, maxDepth },
})

const withoutLake = async (
  from: readonly string[],
  flags: ConvertCommandOptions & { readonly to: string },
  command: Command,
): Promise<void> => {
  const { to, table: tables, names, overwrite, bom, delimiter, adopt, threads, memory: memoryBytes } = flags
  const { maxQuarantined, maxUnknownPerRecord, maxUnknownNames } = flags
  // The lake of a variable is meant for commands that take one.
  const lake = command.getOptionValueSource('lake') === 'env' ? undefined : flags.lake
  refuseLakeOptions({ ...flags, lake })
  const limits = { ...limitsOf(flags), maxQuarantined, maxUnknownPerRecord, maxUnknownNames }
  const load = { from, ...limits, take: projectionOf(flags) }
  await runConvertTo(
    { ...load, to, tables, names, overwrite, bom, delimiter, adopt, threads, memoryBytes },
    flags,
  )
}

/** Options that mean a lake that stays. @throws {ToolkitError} USAGE */
const refuseLakeOptions = (flags: Readonly<Record<string, unknown>>): void => {
  const given = ['lake', 'mode', 'again', 'sink', 'publish', 'engine', 'changeCurrency', 'changeTaken'].find(
    (name) => flags[name] !== undefined,
  )
  if (given === undefined) return
  throw new ToolkitError(
    'USAGE',
    `Cannot use --${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} with --to: no lake is kept; with --lake, --sink delivers beside it`,
  )
}

const warn = (report: ConvertedTo): void => {
  const { quarantined, lines, quarantinedBy, warnings } = report
  if (quarantined > 0) {
    const codes = Object.entries(quarantinedBy).map(([code, count]) => `${formatCount(count)} ${code}`)
    note(
      `warning: ${formatCount(quarantined)} of ${formatCounted(lines, 'line')} were left out (${codes.join(', ')}); ` +
        'convert into a lake to see and replay them',
    )
  }
  warnOfSources(report)
  for (const warning of warnings) note(`warning: ${warning}`)
}

const runConvertTo = async (
  options: Omit<ConvertToOptions, 'signal' | 'onEvent' | 'onProgress'>,
  { json }: JsonOption,
): Promise<void> => {
  const { convertTo } = await import('../../jobs/convert/convert-to.ts')
  const { amountOfExport, exportedLines, exportProgressText } = await import('../output/export-report.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  let startMs = 0
  try {
    const report = await interruptible(
      (signal) =>
        convertTo({
          ...options,
          signal,
          onEvent: watchRun(line),
          onProgress: (progress) => {
            startMs ||= performance.now()
            line.show(() => exportProgressText(progress, (performance.now() - startMs) / 1000), {
              amount: amountOfExport(progress),
            })
          },
        }),
      'nothing is left, the same command starts again',
    )
    line.clear()
    process.exitCode = exitCodeOfReports([report])
    if (json) return await printJson({ to: options.to, ...report })
    const written = report.tables.length > 0
    await printLines([
      ...countLines(report),
      '',
      ...(written ? exportedLines(report.tables) : ['Nothing was loaded: nothing is written.']),
      ...remarkLines(report),
    ])
    warn(report)
  } finally {
    line.clear()
  }
}
