/** `views`: the SQL of `query` for any DuckDB. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { VIEWS_COMMAND } from '../../options/lake-looks.ts'
import { addCommand } from '../add-command.ts'
import { print } from '../output/print.ts'

export const addViews = (program: Command): void => {
  addCommand(program, {
    name: 'views',
    summary: 'print the views of a lake as SQL',
    description:
      'Prints the views and macros that "query" knows as SQL for any DuckDB from 1.3 on, also of a lake in a bucket, ' +
      'with its place once at the head. Each commit writes them to lake.ducklake, and on a lake in a folder to ' +
      'lake.duckdb.',
    options: VIEWS_COMMAND,
    run: runViews,
    examples: [['views --lake s3://bucket/lake > views.sql', 'for a DuckDB that reads the bucket']],
  })
}

const runViews = async ({ lake, snapshot }: ValuesOf<typeof VIEWS_COMMAND>): Promise<void> => {
  const { viewsSql } = await import('../../jobs/views.ts')
  await print(await viewsSql(lake, snapshot))
}
