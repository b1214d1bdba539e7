/** `query`: one SELECT over the lake; without SQL the tables, views and macros that there are. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { readStdinText } from '../../core/user-text.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import type { CatalogEntry } from '../../lake/views/catalog.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { QUERY, type ResultFormat } from '../../options/query.ts'
import { addCommand } from '../add-command.ts'
import type { LakeCatalog } from '../output/lake-catalog.ts'
import { note, printJson, printLines } from '../output/print.ts'

type Values = ValuesOf<typeof QUERY>

export const addQuery = (program: Command): void => {
  addCommand(program, {
    name: 'query',
    summary: 'run a read-only query; without SQL list tables, views and macros',
    description:
      'Runs one SELECT in DuckDB over the lake, read-only. The views "figures" and "figures_in" have one figure ' +
      'a company, year and line item; "financials" has all that was reported. Views show the current version ' +
      'of each company, "companies_history" and so on show all. Without SQL it lists the ' +
      'tables with their row counts, and views and macros by subject, without reading data.',
    options: QUERY,
    run: runQuery,
    examples: [
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
    ],
  })
}

const statementOf = async (sql: string | undefined): Promise<string | undefined> => {
  const statement = sql === '-' ? await readStdinText() : sql
  if (statement === undefined || statement.trim() !== '') return statement
  throw new ToolkitError('USAGE', 'Cannot run an empty statement: expected a SELECT')
}

const runQuery = async (values: Values): Promise<void> => {
  const { format, limit, width, neutralise: neutral, notes: hasNotes, json, unchecked } = values
  const statement = await statementOf(values.sql)
  if (statement === undefined) return printCatalog(values)
  if (values.describe !== undefined)
    throw new ToolkitError('USAGE', 'Cannot describe and run a statement at once: expected --describe or SQL')
  const { sql: _sql, ...asked } = askedOf(QUERY, values)
  const request = { ...asked, json, unchecked }
  const noteOn = async (query: LakeQuery, tookMs: number): Promise<void> => {
    const notes = hasNotes ? await query.notes(statement, tookMs) : []
    if (json && notes.length > 0) note(JSON.stringify({ notes }))
    else for (const one of notes) note(`note: ${one}`)
  }
  if (format === 'parquet') {
    const { printParquet } = await import('../output/print-parquet.ts')
    return printParquet(request, statement, limit, noteOn)
  }
  const { askLake } = await import('../ask-lake.ts')
  await askLake(request, async (query) => {
    const { printResult } = await import('../output/print-result.ts')
    const started = performance.now()
    await printResult(await query.run(statement), format, { limit, width, neutral })
    await noteOn(query, performance.now() - started)
  })
}

/** Nothing of a lake in a bucket is fetched for it but lists of versions. */
const readCatalog = async ({ lake, snapshot, held }: Values): Promise<LakeCatalog> => {
  const { listLakeTables } = await import('../../jobs/list-tables.ts')
  const { catalog } = await import('../../lake/views/catalog.ts')
  const { tables, computed } = await listLakeTables(lake, { snapshot, held })
  return { entries: catalog(computed), tables }
}

const isListFormat = (format: ResultFormat): boolean => format === 'table' || format === 'json'

const printCatalog = async (values: Values): Promise<void> => {
  const { format, describe: name, width = process.stdout.columns || Number.POSITIVE_INFINITY } = values
  if (!isListFormat(format))
    throw new ToolkitError(
      'USAGE',
      `Cannot list what the lake has as ${format}: expected a SELECT, or --format table or json`,
    )
  const { catalogLines, entryLines, entryObject } = await import('../output/lake-catalog.ts')
  const lake = await readCatalog(values)
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
