/** `query`: one SELECT over the lake; without SQL the tables, views and macros that there are. */

import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { readStdinText } from '../../core/user-text.ts'
import type { CatalogEntry } from '../../lake/views/catalog.ts'
import type { LakeQueryRequest } from '../ask-lake.ts'
import { withExamples } from '../help.ts'
import {
  type CheckedFlag,
  checkedOption,
  filesOption,
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  type UncheckedOption,
  uncheckedOption,
  wholeNumber,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import type { LakeCatalog } from '../output/lake-catalog.ts'
import { printJson, printLines } from '../output/print.ts'
import { MOST_TABLE_ROWS, RESULT_FORMATS, type ResultFormat } from '../output/print-result.ts'

interface QueryOptions extends LakeOption, JsonOption, SnapshotOption, UncheckedOption, CheckedFlag {
  readonly describe?: string
  readonly notes: boolean
  readonly format?: ResultFormat
  readonly limit?: number
  readonly width?: number
  /** `--no-neutralise` makes it false. */
  readonly neutralise: boolean
  readonly files?: string
  readonly memory: number
  readonly threads: number
}

export const addQuery = (program: Command): void => {
  const command = program
    .command('query')
    .summary('run a read-only query; without SQL list tables, views and macros')
    .description(
      'Runs one SELECT in DuckDB over the lake, read-only. The views "figures" and "figures_in" have one figure ' +
        'a company, year and line item; "financials" has all that was reported. Views show the current version of each company, "companies_history" and so on show all. Without SQL it lists the ' +
        'tables with their row counts, and views and macros by subject, by the manifest and without reading data.',
    )
    .argument('[sql]', 'the statement; - reads it from standard input')
    .addOption(lakeOption())
    .option('--describe <name>', 'without SQL: print a table, view or macro with its columns and an example')
    .addOption(
      new Option('--format <format>', 'how rows are printed').choices(RESULT_FORMATS).default('table'),
    )
    .option(
      '--limit <n>',
      `most rows to print (default: ${MOST_TABLE_ROWS} in a table, else all)`,
      wholeNumber('--limit'),
    )
    .option(
      '--width <n>',
      "columns that a table is cut to (default: the terminal's; not cut where standard output is none)",
      wholeNumber('--width'),
    )
    .option('--no-neutralise', 'CSV: leave texts that a spreadsheet takes for formulas as they are')
    .option(
      '--no-notes',
      'print no notes on sums that add what does not add up, or on names that do not occur',
    )
    .addOption(filesOption())
    .addOption(snapshotOption())
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(uncheckedOption())
  command
    .addOption(checkedOption())
    .addOption(
      jsonOption('the same as --format json; errors as one line of JSON').implies({ format: 'json' }),
    )
    .action(runQuery)
  withExamples(command, [
    ['query --lake ./lake', 'tables, views and macros'],
    ['query --lake ./lake --describe growth', 'one of them, with its columns'],
    [
      "query --lake ./lake \"SELECT fiscal_year, sum(value) FROM figures_in('EUR') WHERE line_item = 'NetSales' GROUP BY ALL\"",
      'a sum of one figure a company and year, in one currency',
    ],
    ['query --lake ./lake "SELECT country_code, count(*) FROM companies GROUP BY ALL"', 'a question'],
    ['query --lake ./lake --format csv - < question.sql > answer.csv', 'a long one, for a spreadsheet'],
    [
      'query --lake ./lake --format parquet "SELECT * FROM latest_figures" > latest.parquet',
      'for other tools',
    ],
    ['query --lake ./lake --snapshot 3 "SELECT count(*) FROM companies"', 'as it was then'],
  ])
}

const statementOf = async (sql: string | undefined): Promise<string | undefined> => {
  const statement = sql === '-' ? await readStdinText() : sql
  if (statement === undefined || statement.trim() !== '') return statement
  throw new ToolkitError('USAGE', 'Cannot run an empty statement: expected a SELECT')
}

const runQuery = async (sql: string | undefined, options: QueryOptions): Promise<void> => {
  const { format = 'table', limit, width, neutralise: neutral } = options
  const statement = await statementOf(sql)
  if (statement === undefined) return printCatalog(options)
  if (options.describe !== undefined)
    throw new ToolkitError('USAGE', 'Cannot describe and run a statement at once: expected --describe or SQL')
  if (format === 'parquet') {
    const { printParquet } = await import('../output/print-parquet.ts')
    return printParquet(requestOf(options), statement, limit)
  }
  const { askLake } = await import('../ask-lake.ts')
  await askLake(requestOf(options), async (query) => {
    const { printResult } = await import('../output/print-result.ts')
    const started = performance.now()
    await printResult(await query.run(statement), format, { limit, width, neutral })
    if (!options.notes) return
    const notes = await query.notes(statement, performance.now() - started)
    const { note } = await import('../output/print.ts')
    if (options.json && notes.length > 0) note(JSON.stringify({ notes }))
    else for (const one of notes) note(`note: ${one}`)
  })
}

const requestOf = ({ memory: memoryBytes, ...options }: QueryOptions): LakeQueryRequest => {
  const { lake, snapshot, threads, json, unchecked, checked, files } = options
  return { lake, snapshot, memoryBytes, threads, json, unchecked, checked, files }
}

/** By the manifest alone: nothing of a lake in a bucket is fetched for it. */
const readCatalog = async ({ lake, snapshot }: QueryOptions): Promise<LakeCatalog> => {
  const { listLakeTables } = await import('../../jobs/query/list-tables.ts')
  const { catalog } = await import('../../lake/views/catalog.ts')
  const { tables, computed } = await listLakeTables(lake, snapshot)
  return { entries: catalog(computed), tables }
}

const isListFormat = (format: ResultFormat): boolean => format === 'table' || format === 'json'

const printCatalog = async (options: QueryOptions): Promise<void> => {
  const {
    format = 'table',
    describe: name,
    width = process.stdout.columns || Number.POSITIVE_INFINITY,
  } = options
  if (!isListFormat(format))
    throw new ToolkitError(
      'USAGE',
      `Cannot list what the lake has as ${format}: expected a SELECT, or --format table or json`,
    )
  const { catalogLines, entryLines, entryObject } = await import('../output/lake-catalog.ts')
  const lake = await readCatalog(options)
  const objectOf = (entry: CatalogEntry): object => entryObject(lake, entry)
  if (name === undefined) {
    if (format === 'json') return printJson(lake.entries.map(objectOf))
    return printLines(catalogLines(lake, width))
  }
  const entry = lake.entries.find((one) => one.name === name.toLowerCase())
  if (entry === undefined) throw await unknownName(name, lake)
  if (format === 'json') return printJson(objectOf(entry))
  await printLines(entryLines(lake, entry))
}

const unknownName = async (name: string, { entries }: LakeCatalog): Promise<ToolkitError> => {
  const { nearestName } = await import('../../support/nearest-name.ts')
  const nearest = nearestName(
    name,
    entries.map((entry) => entry.name),
  )
  const hint = nearest === undefined ? 'query without SQL lists all' : `did you mean "${nearest}"?`
  return new ToolkitError(
    'USAGE',
    `Cannot describe "${name}": there is no such table, view or macro, ${hint}`,
  )
}
