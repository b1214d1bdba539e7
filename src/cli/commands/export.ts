/** `export`: tables of a lake, or the answer to a query, to files, a folder, a database or standard output. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { EXPORT, EXPORT_COMMAND } from '../../options/export.ts'
import { TARGET_FORMS } from '../../sink/targets.ts'
import type { ExportTarget } from '../../targets/export/export-tables.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { projectionOf } from '../options/projection-options.ts'
import { amountOfExport, exportLines, exportProgressText } from '../output/export-report.ts'
import { note, printedStream, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { showFetch } from '../output/show-fetch.ts'

type Values = ValuesOf<typeof EXPORT_COMMAND>

const STDOUT = '-'

export const addExport = (program: Command): void => {
  addCommand(program, {
    name: 'export',
    summary: 'write tables of a lake, or an answer, to files, a folder or a database',
    description:
      `Exports the current versions of a snapshot. Targets: a file for one table (out${TARGET_FORMS.files.join(', ')}), ` +
      `a folder with a file a table (${TARGET_FORMS.folders.join(', ')}), ` +
      `a database (${[...TARGET_FORMS.databaseFiles.map((suffix) => `firms${suffix}`), ...TARGET_FORMS.databases].join(', ')}), ` +
      'or - for standard output.',
    options: EXPORT_COMMAND,
    run: runExport,
    examples: [
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
    ],
  })
}

const usage = (message: string): never => {
  throw new ToolkitError('USAGE', message)
}

const targetOf = async ({ to, format, json }: Values): Promise<ExportTarget> => {
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

const runExport = async (values: Values): Promise<void> => {
  const { lake, tables, sql, history, json } = values
  if (sql !== undefined && history)
    usage('Cannot use --history with --sql: name a …_history view in the statement')
  if (sql !== undefined && (tables?.length ?? 0) > 1)
    usage('Cannot use several --table with --sql: one gives the answer its name')
  const to = await targetOf(values)
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
          ...askedOf(EXPORT, values),
          to,
          take: projectionOf(values),
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
