/** What other readers see of a year's published tables: delta-rs and PyIceberg, all rows, now and of all versions. */

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../src/lake/tables/tables.ts'
import { openPython, pythonMissing } from '../support/readers.ts'
import type { ExpectedLake } from './year-expected.ts'
import { differenceOf, publishedTables, type Row, textOf } from './year-rows.ts'

const COPY = `
import pyarrow.parquet as pq
if input['format'] == 'delta':
    from deltalake import DeltaTable
    rows = DeltaTable(input['path']).to_pyarrow_table()
else:
    from pyiceberg.table import StaticTable
    rows = StaticTable.from_metadata(input['path']).scan().to_arrow()
pq.write_table(rows, input['to'])
`
const FORMATS = ['delta', 'iceberg'] as const

const ownColumns = ({ columns }: Table): string =>
  columns.map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`).join(', ')

/** PyIceberg gives a list of structs as an empty one where there is none: which of both it was cannot be seen there. */
const withoutEmpty = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => !Array.isArray(value) || value.length > 0))

export const otherReadersMissing = pythonMissing

/** @returns what they see that is not so */
export const compareReaders = async (lake: string, expected: ExpectedLake): Promise<readonly string[]> => {
  const wrong: string[] = []
  const folder = await mkdtemp(join(lake, '..', 'readers-'))
  const to = join(folder, 'copy.parquet')
  const python = await openPython()
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  try {
    const session = await engine.connect()
    const rows = publishedTables(expected)
    for (const format of FORMATS) {
      const shownAs = (row: Row): string => textOf(format === 'iceberg' ? withoutEmpty(row) : row)
      for (const table of TABLES.filter(({ name }) => rows.has(name)))
        for (const shown of [table.name, `${table.name}_history`]) {
          const path = shown === table.name ? `published/${format}/${table.name}` : table.name
          await python.run(COPY, { format, path: join(lake, path), to })
          const seen = await session.rows(
            `SELECT to_json(t)::VARCHAR AS text FROM (SELECT ${ownColumns(table)} FROM read_parquet(${literal(to)})) AS t`,
          )
          const found = seen.map(({ text }) => shownAs(JSON.parse(String(text))))
          const wanted = (rows.get(shown) ?? []).map(shownAs)
          wrong.push(...differenceOf(`${shown} as ${format}`, found, wanted))
        }
    }
    return wrong
  } finally {
    engine.close()
    await python.close()
    await rm(folder, { recursive: true })
  }
}
