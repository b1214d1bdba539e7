/** `export`: tables of a lake, or the answer to a query, to files, a folder, a database or standard output. */

import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { STREAM_FORMATS, type StreamFormatName, TARGET_FORMS } from '../../sink/targets.ts'
import type { ExportTarget } from '../../targets/export/export-tables.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  type CsvFlags,
  csvOptions,
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  namesOption,
  overwriteOption,
  type SnapshotOption,
  snapshotOption,
  tableOption,
} from '../options/options.ts'
import { exportProjectionOptions, type ProjectionFlags, projectionOf } from '../options/projection-options.ts'
import { adoptOption, memoryOption, threadsOption, toOption } from '../options/run-options.ts'
import { amountOfExport, exportLines, exportProgressText } from '../output/export-report.ts'
import { note, printedStream, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

interface ExportCommandOptions extends LakeOption, JsonOption, SnapshotOption, ProjectionFlags, CsvFlags {
  readonly to: string
  readonly format?: StreamFormatName
  readonly table?: readonly string[]
  readonly sql?: string
  readonly history?: true
  readonly names?: true
  readonly all?: true
  readonly overwrite?: true
  readonly adopt?: true
  /** `--no-neutralise` makes it false. */
  readonly neutralise: boolean
  readonly memory: number
  readonly threads: number
}

const STDOUT = '-'

export const addExport = (program: Command): void => {
  const command = program
    .command('export')
    .summary('write tables of a lake, or an answer, to files, a folder or a database')
    .description(
      `Exports the current versions of a snapshot. Targets: a file for one table (out${TARGET_FORMS.files.join(', ')}), ` +
        `a folder with a file a table (${TARGET_FORMS.folders.join(', ')}), ` +
        `a database (${[...TARGET_FORMS.databaseFiles.map((suffix) => `firms${suffix}`), ...TARGET_FORMS.databases].join(', ')}), ` +
        'or - for standard output.',
    )
    .addOption(lakeOption())
    .addOption(toOption('where to').makeOptionMandatory())
    .addOption(new Option('--format <format>', 'format on standard output').choices(STREAM_FORMATS))
    .addOption(tableOption())
    .option('--sql <sql>', 'the rows of this SELECT; one --table gives their name')
    .option('--history', 'all versions of each record, as in <table>_history')
    .option('--all', 'companies that the service does not list any more too')
    .addOption(namesOption())
    .addOption(overwriteOption())
    .addOption(adoptOption())
    .option('--no-neutralise', 'CSV: leave texts that a spreadsheet takes for formulas as they are')
    .addOption(snapshotOption())
    .addOption(memoryOption())
    .addOption(threadsOption())
  for (const option of [...csvOptions(), ...exportProjectionOptions()]) command.addOption(option)
  command.addOption(jsonOption()).action(runExport)
  withExamples(command, [
    ['export --lake ./lake --to companies.csv', 'the table that the file is named after'],
    ['export --lake ./lake --to companies.csv --bom --delimiter ";"', 'for an Excel that expects it so'],
    [
      'export --lake ./lake --to owners.xlsx --table ownerships --names',
      'for Excel, with names beside the ids',
    ],
    ['export --lake ./lake --to parquet:out', 'all tables, a file each'],
    [
      'export --lake ./lake --to parquet:out --leave-out persons --only-countries NO,SE',
      'without personal data, of two countries',
    ],
    ['export --lake ./lake --to firms.duckdb', 'a database with keys and comments, kept in step'],
    [
      `export --lake ./lake --to - --format csv --sql "SELECT country_code, count(*) FROM companies GROUP BY 1"`,
      'an answer on standard output',
    ],
  ])
}

const usage = (message: string): never => {
  throw new ToolkitError('USAGE', message)
}

const targetOf = async ({ to, format, json }: ExportCommandOptions): Promise<ExportTarget> => {
  if (to === STDOUT) {
    if (json) usage('Cannot use --json with --to -: standard output is the export itself')
    return {
      kind: 'stream',
      stream: printedStream(),
      format: format ?? usage('Cannot export to - without --format'),
    }
  }
  if (format !== undefined) usage('Cannot use --format with a target of its own format: it is for --to -')
  const { readAddress } = await import('../../targets/open-sink.ts')
  return readAddress(to)
}

const runExport = async (options: ExportCommandOptions): Promise<void> => {
  const {
    lake,
    table: tables,
    sql,
    history,
    names,
    all,
    overwrite,
    adopt,
    neutralise,
    delimiter,
    bom,
    snapshot,
    memory,
    threads,
    json,
  } = options
  if (sql !== undefined && history)
    usage('Cannot use --history with --sql: name a …_history view in the statement')
  if (sql !== undefined && (tables?.length ?? 0) > 1)
    usage('Cannot use several --table with --sql: one gives the answer its name')
  const to = await targetOf(options)
  const { exportTables } = await import('../../targets/export/export-tables.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const startMs = performance.now()
  const seconds = (): number => (performance.now() - startMs) / 1000
  const showFetched = showFetch(line)
  // A table that waits for its files reports its progress too.
  let fetching = false
  try {
    const summary = await interruptible(
      (signal) =>
        exportTables({
          lake,
          to,
          tables,
          sql,
          history,
          names,
          all,
          overwrite,
          adopt,
          take: projectionOf(options),
          ...{ neutralise, delimiter, bom },
          snapshot,
          memoryBytes: memory,
          threads,
          signal,
          onProgress: (progress) => {
            if (!fetching)
              line.show(() => exportProgressText(progress, seconds()), { amount: amountOfExport(progress) })
          },
          onFetch: (progress) => {
            fetching = progress.bytes < progress.bytesTotal
            showFetched(progress)
          },
        }),
      'no partial file is left',
    )
    line.clear()
    for (const warning of summary.warnings) note(`warning: ${warning}`)
    if (to.kind === 'stream') return
    if (json) return await printJson({ lake, ...summary, seconds: Math.round(seconds() * 1000) / 1000 })
    await printLines(exportLines(summary, seconds()))
  } finally {
    line.clear()
  }
}
