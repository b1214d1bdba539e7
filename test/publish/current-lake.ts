/** Tables of current rows as they stand in a lake, read by DuckDB alone: what a reader of either format would see. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../src/lake/tables/tables.ts'
import type { PublishOptions } from '../../src/options/interfaces.ts'
import { currentSnapshot, type TableMetadata } from '../../src/publish/iceberg/table-metadata.ts'
import { type PublishSummary, publish } from '../../src/targets/publish.ts'
import { ownColumns } from './history.ts'
import { readManifests } from './iceberg/iceberg-lake.ts'

export const publishCurrent = (
  lake: string,
  options: Partial<PublishOptions> = {},
): Promise<PublishSummary> =>
  publish({
    ...{ lake, formats: ['delta', 'iceberg'], rows: ['current'], memoryBytes: 256 * 1024 ** 2 },
    ...options,
  })

const emptyRows = ({ columns }: Table): string =>
  `SELECT ${columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`).join(', ')} WHERE false`

const union = (table: Table, selects: readonly string[]): string =>
  selects.length === 0 ? emptyRows(table) : selects.join('\nUNION ALL ')

/** Files of a Delta table by its log alone, by name. */
export const deltaFiles = async (lake: string, table: string): Promise<readonly string[]> => {
  const folder = join(lake, 'published/delta', table, '_delta_log')
  const names = (await readdir(folder)).filter((name) => /^\d{20}\.json$/.test(name)).sort()
  const files = new Set<string>()
  for (const name of names)
    for (const line of (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n')) {
      const { add, remove } = JSON.parse(line) as Record<'add' | 'remove', { path: string } | undefined>
      if (add) files.add(add.path)
      if (remove) files.delete(remove.path)
    }
  return [...files]
}

/** The newest metadata of an Iceberg table of current rows. */
export const currentMetadata = async (lake: string, table: string): Promise<TableMetadata> => {
  const folder = join(lake, 'published/iceberg', table, 'metadata')
  const number = await readFile(join(folder, 'version-hint.text'), 'utf8')
  return JSON.parse(await readFile(join(folder, `v${number}.metadata.json`), 'utf8'))
}

/** Data files and files of deletes of the current snapshot. */
export const icebergFiles = async (lake: string, table: string) => {
  const manifests = await readManifests(currentSnapshot(await currentMetadata(lake, table)))
  const live = manifests.flatMap((one) =>
    one.entries
      .filter(({ status }) => status !== 2)
      .map((entry) => ({
        path: entry.data_file.file_path.replace('file://', ''),
        content: one.content,
        rows: entry.data_file.record_count,
        sequence: entry.sequence_number ?? one.sequence_number,
      })),
  )
  return {
    data: live.filter(({ content }) => content === 0),
    deletes: live.filter(({ content }) => content === 1),
  }
}

/** Rows that a format shows of a table, by what its log or its metadata alone says. */
export const shownCounts = async (
  lake: string,
  table: Table,
  format: 'delta' | 'iceberg',
): Promise<number> => {
  if (format === 'iceberg') {
    const { data, deletes } = await icebergFiles(lake, table.name)
    const sum = (files: readonly { readonly rows: number }[]): number =>
      files.reduce((all, { rows }) => all + rows, 0)
    return sum(data) - sum(deletes)
  }
  const files = await deltaFiles(lake, table.name)
  const paths = files.map((name) => join(lake, 'published/delta', table.name, name))
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  const session = await engine.connect()
  const [row] = await session.rows(
    `SELECT count(*) AS n FROM read_parquet([${paths.map(literal).join(', ')}])`,
  )
  session.close()
  engine.close()
  return Number(row?.n)
}

/** SQL of the rows that each format shows of a table. */
export const shownRows = async (
  lake: string,
  table: Table,
): Promise<Readonly<Record<'delta' | 'iceberg', string>>> => {
  const delta = (await deltaFiles(lake, table.name)).map(
    (name) =>
      `SELECT ${ownColumns(table)} FROM read_parquet(${literal(join(lake, 'published/delta', table.name, name))})`,
  )
  const { data, deletes } = await icebergFiles(lake, table.name)
  const gone = deletes.map(({ path }) => `SELECT file_path, pos FROM read_parquet(${literal(path)})`)
  const iceberg = data.map(
    ({
      path,
    }) => `SELECT ${ownColumns(table)} FROM read_parquet(${literal(path)}, file_row_number = true) AS f
WHERE NOT EXISTS (FROM (${gone.length === 0 ? `SELECT '' AS file_path, 0 AS pos WHERE false` : gone.join(' UNION ALL ')}) AS d
  WHERE d.file_path = ${literal(`file://${path}`)} AND d.pos = f.file_row_number)`,
  )
  return { delta: union(table, delta), iceberg: union(table, iceberg) }
}

export const contentTables = TABLES.filter(({ content }) => content !== undefined)
