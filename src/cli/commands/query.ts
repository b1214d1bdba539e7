/** `query`: one SELECT over the lake; without SQL the tables that there are, with columns, units and row counts. */

import { type Command, Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { readStdinText } from '../../core/user-text.ts'
import type { ListedTable } from '../../lake/tables/tables.ts'
import type { LakeQueryRequest } from '../ask-lake.ts'
import { withExamples } from '../help.ts'
import {
  type CheckedFlag,
  checkedOption,
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
import { formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'
import { MOST_TABLE_ROWS, RESULT_FORMATS, type ResultFormat } from '../output/print-result.ts'
import { textTable } from '../output/text-table.ts'

interface QueryOptions extends LakeOption, JsonOption, SnapshotOption, UncheckedOption, CheckedFlag {
  readonly format?: ResultFormat
  readonly limit?: number
  readonly width?: number
  /** `--no-neutralise` makes it false. */
  readonly neutralise: boolean
  readonly memory: number
  readonly threads: number
}

export const addQuery = (program: Command): void => {
  const command = program
    .command('query')
    .summary('run a read-only query; without SQL list the tables')
    .description(
      'Runs one SELECT in DuckDB over the lake, read-only. Views such as "companies" and "financials" show the ' +
        'current version of each company, "companies_history" and so on show all. Without SQL it lists the ' +
        'tables with their columns, units and row counts, by the manifest and without reading data.',
    )
    .argument('[sql]', 'the statement; - reads it from standard input')
    .addOption(lakeOption())
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
    ['query --lake ./lake', 'tables, columns, units, row counts'],
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
  if (statement === undefined) return printTables(options)
  if (format === 'parquet') {
    const { printParquet } = await import('../output/print-parquet.ts')
    return printParquet(requestOf(options), statement, limit)
  }
  const { askLake } = await import('../ask-lake.ts')
  await askLake(requestOf(options), async (query) => {
    const { printResult } = await import('../output/print-result.ts')
    return printResult(await query.run(statement), format, { limit, width, neutral })
  })
}

const requestOf = ({ memory: memoryBytes, ...options }: QueryOptions): LakeQueryRequest => {
  const { lake, snapshot, threads, json, unchecked, checked } = options
  return { lake, snapshot, memoryBytes, threads, json, unchecked, checked }
}

/** By the manifest alone: nothing of a lake in a bucket is fetched for it. */
const printTables = async ({ lake, snapshot, format }: QueryOptions): Promise<void> => {
  if (format === 'parquet')
    throw new ToolkitError('USAGE', 'Cannot print the list of tables as Parquet: expected a SELECT')
  const { listLakeTables } = await import('../../jobs/query/list-tables.ts')
  const { tables } = await listLakeTables(lake, snapshot)
  if (format === 'json') return printJson(tableObjects(tables))
  await printLines(tableLines(tables))
}

/** A type longer than this (a struct of many fields) is cut for people. */
const LONGEST_TYPE = 24

const shortType = (type: string): string =>
  type.length > LONGEST_TYPE ? `${type.slice(0, LONGEST_TYPE - 1)}…` : type

/** One object for each table, as `query --json` prints it; `rows` is null where the manifest does not state them. */
const tableObjects = (listings: readonly ListedTable[]): readonly object[] =>
  listings.map(({ table: { name, row, key, columns }, rows, historyRows }) => ({
    name,
    row,
    key,
    rows,
    historyRows,
    columns: columns.map(({ name, type, unit, about }) => ({ name, type, unit: unit ?? null, about })),
  }))

const rowsText = ({ rows, historyRows }: ListedTable): string =>
  rows === null ? `${formatCounted(historyRows, 'row')} in all versions` : formatCounted(rows, 'row')

const UNKNOWN_CURRENT =
  'The manifest counts all versions; to count the current rows: SELECT count(*) FROM companies.'

const tableLines = (listings: readonly ListedTable[]): string[] => [
  ...listings.flatMap((listing) => [
    `${listing.table.name}: ${rowsText(listing)}, each ${listing.table.row}`,
    ...textTable(
      [{ title: 'column' }, { title: 'type' }, { title: 'unit' }, { title: 'meaning' }],
      listing.table.columns.map((one) => [one.name, shortType(one.type), one.unit ?? '', one.about]),
    ).map((line) => `  ${line}`),
    '',
  ]),
  'Each name stands for the current version of each company; <name>_history holds all versions.',
  ...(listings.some(({ rows }) => rows === null) ? [UNKNOWN_CURRENT] : []),
]
