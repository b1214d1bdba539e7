/** `views`: what `query` knows as SQL, for any DuckDB. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { VIEWS_COMMAND } from '../../options/lake-looks.ts'
import { addCommand } from '../add-command.ts'
import { print, printJson, printLines } from '../output/print.ts'

export const addViews = (program: Command): void => {
  addCommand(program, {
    name: 'views',
    summary: 'print the views of a lake as SQL, or write its lake.duckdb and lake.ducklake again',
    description:
      'Prints the views and macros that "query" knows as SQL for any DuckDB from 1.3 on, also of a lake in a bucket, ' +
      'with its place once at the head. Each commit writes them to lake.ducklake, and on a lake in a folder to ' +
      'lake.duckdb, with absolute paths; --write does it again, after a lake was moved.',
    options: VIEWS_COMMAND,
    run: runViews,
    examples: [
      ['views --lake ./lake --write && duckdb ./lake/lake.duckdb', 'after the lake was moved'],
      ['views --lake s3://bucket/lake > views.sql', 'for a DuckDB that reads the bucket'],
    ],
  })
}

const runViews = async ({ lake, snapshot, write, json }: ValuesOf<typeof VIEWS_COMMAND>): Promise<void> => {
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
