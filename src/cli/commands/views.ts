/** `views`: what `query` knows as SQL, for any DuckDB. */

import { type Command, Option } from 'commander'
import { withExamples } from '../help.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
} from '../options/options.ts'
import { print, printJson, printLines } from '../output/print.ts'

interface ViewsOptions extends LakeOption, SnapshotOption, JsonOption {
  readonly write?: boolean
}

export const addViews = (program: Command): void => {
  const command = program
    .command('views')
    .summary('print the views of a lake as SQL, or write its lake.duckdb and lake.ducklake again')
    .description(
      'Prints the views and macros that "query" knows as SQL for any DuckDB from 1.3 on, also of a lake in a bucket, ' +
        'with its place once at the head. Each commit writes them to lake.ducklake, and on a lake in a folder to ' +
        'lake.duckdb, with absolute paths; --write does it again, after a lake was moved.',
    )
    .addOption(lakeOption())
    .addOption(snapshotOption())
    .addOption(
      new Option('--write', 'write lake.duckdb and lake.ducklake for the newest snapshot').conflicts(
        'snapshot',
      ),
    )
    .addOption(jsonOption('with --write the result as one JSON document; errors as one line of JSON'))
    .action(runViews)
  withExamples(command, [
    ['views --lake ./lake --write && duckdb ./lake/lake.duckdb', 'after the lake was moved'],
    ['views --lake s3://bucket/lake > views.sql', 'for a DuckDB that reads the bucket'],
  ])
}

const runViews = async ({ lake, snapshot, write, json }: ViewsOptions): Promise<void> => {
  if (!write) {
    const { viewsSql } = await import('../../jobs/views/views.ts')
    return print(await viewsSql(lake, snapshot))
  }
  const { writeLakeFiles } = await import('../../manifest/lake-file/lake-file.ts')
  const { views, catalog } = await writeLakeFiles(lake)
  const named = [
    ['lake.duckdb', views],
    ['lake.ducklake', catalog],
  ] as const
  if (json)
    return printJson({
      lake,
      ...Object.fromEntries(named.map(([name, one]) => [name, one.kind === 'written' ? one.snapshot : null])),
    })
  await printLines(
    named.map(([name, one]) =>
      one.kind === 'written'
        ? `Wrote ${name} of snapshot ${one.snapshot}.`
        : `Wrote no ${name}: ${one.reason}.`,
    ),
  )
}
