/** `convert`: batch files into the lake, or with `--to` into files or a database, without a lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { ConvertedTo } from '../../jobs/convert-to.ts'
import { CONVERT, CONVERT_COMMAND, CONVERT_TO } from '../../options/convert.ts'
import { askedOf, flagOf, type ValuesOf } from '../../options/entry.ts'
import type { ConvertToOptions } from '../../options/interfaces.ts'
import type { RunReport } from '../../run/run-report.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { exitCodeOfReports } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { DETACHING, onEngineOr, planOnly } from '../on-engine.ts'
import { neededLake } from '../options/options.ts'
import { projectionOf } from '../options/projection-options.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { countLines, remarkLines, warnOfSources } from '../output/run-report.ts'
import { watchRun } from '../output/watch-run.ts'
import { printReport, runLoadJob } from '../run-job.ts'

type Values = ValuesOf<typeof CONVERT_COMMAND>

export const addConvert = (program: Command): void => {
  addCommand(program, {
    name: 'convert',
    summary: 'load batch files of companies or relations into a lake',
    description:
      'Loads JSON Lines files of companies or relations (Brotli, gzip, zstd or plain) into a lake, all in one ' +
      'commit. A JSON list of records, a saved page {"Companies":[…]} and records over several lines load too. ' +
      'Files that the lake already holds are skipped. An interrupted run resumes when the same command is ' +
      'given again. With --to no lake is kept: the tables are written to files or a database, and an interrupted ' +
      'command starts again.',
    options: CONVERT_COMMAND,
    run: runConvert,
    examples: [
      ['convert data/sample --lake ./lake', 'all files of a folder'],
      ["convert 'batches/*.jsonl.br' --lake ./lake --max-quarantined 5%", 'a pattern, less strict'],
      ['convert page.json --lake ./lake', 'a saved page, or any JSON list of records'],
      ['convert batches/ --lake ./lake --skip-bad-files', 'damaged files are skipped and named'],
      ['convert /mnt/batches --lake s3://bucket/lake --engine temporal', 'by workers on many machines'],
      ['convert batches/ --lake s3://bucket/lake --plan-only --json', 'units for "firmlake run work"'],
      ['convert batches/ --to parquet:out', 'tables as Parquet files, without a lake'],
      ['convert batches/ --to companies.xlsx', 'one table for Excel'],
      ['convert - --lake ./lake --content companies < companies.jsonl', 'standard input'],
    ],
  })
}

const runConvert = async (given: Values, command: Command): Promise<void> => {
  const { to, tables, names, bom, delimiter } = given
  if (to !== undefined) return withoutLake({ ...given, to }, command)
  if (tables ?? names ?? bom ?? delimiter)
    throw new ToolkitError('USAGE', 'Cannot use --table, --names, --bom or --delimiter without --to')
  const values = neededLake(given)
  const asked = askedOf(CONVERT, values)
  if (values.planOnly) return planOnly(command, values, { load: 'convert', ...asked })
  const { convert } = await import('../../jobs/convert.ts')
  await runLoadJob<RunReport>(
    values,
    (job, line) =>
      onEngineOr(
        values,
        line,
        () => convert({ ...asked, ...job }),
        (jobs, on) => jobs.convertOnEngine({ ...asked, ...job }, on),
      ),
    (report) => printReport(report, values),
    values.engine && DETACHING,
  )
}

const withoutLake = async (values: Values & { readonly to: string }, command: Command): Promise<void> => {
  // The lake of a variable is meant for commands that take one.
  const lake = command.getOptionValueSource('lake') === 'env' ? undefined : values.lake
  refuseLakeOptions({ ...values, lake })
  const asked = { ...askedOf(CONVERT_TO, values), take: projectionOf(values) }
  await runConvertTo({ ...asked, to: values.to }, values)
}

/** Options that mean a lake that stays. @throws {ToolkitError} USAGE */
const refuseLakeOptions = (values: Readonly<Record<string, unknown>>): void => {
  const given = (
    [
      'lake',
      'mode',
      'again',
      'asOf',
      'sinks',
      'publish',
      'engine',
      'planOnly',
      'changeCurrency',
      'changeTaken',
    ] as const
  ).find((name) => values[name] !== undefined)
  if (given === undefined) return
  throw new ToolkitError(
    'USAGE',
    `Cannot use ${flagOf(given, CONVERT_COMMAND[given])} with --to: no lake is kept; with --lake, --sink delivers beside it`,
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

const runConvertTo = async (options: ConvertToOptions, { json }: Pick<Values, 'json'>): Promise<void> => {
  const { convertTo } = await import('../../jobs/convert-to.ts')
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
