/** An export on its way, and what it wrote, as text for people. */

import { formatBytes, formatCount, formatCounted, formatDuration, formatRate } from '../../support/format.ts'
import type { ExportProgress, ExportSummary } from '../../targets/export/export-tables.ts'
import { textTable } from './text-table.ts'
import type { Amount } from './time-left.ts'

export const exportProgressText = (progress: ExportProgress, seconds: number): string => {
  const { table, tablesDone, tables, rows, bytes, loading } = progress
  return [
    `${formatCount(tablesDone)}/${formatCounted(tables, 'table')}`,
    loading ? 'loading into the database' : table,
    ...(rows > 0 ? [formatCounted(rows, 'row')] : []),
    formatBytes(bytes),
    ...(loading ? [] : [formatRate(bytes, seconds)]),
  ].join('  ')
}

/** While a database loads, nobody knows how far it is. */
export const amountOfExport = ({ share, loading }: ExportProgress): Amount | undefined =>
  share === undefined || loading ? undefined : { done: share, total: 1 }

export const exportLines = ({ snapshot, tables, already }: ExportSummary, seconds: number): string[] => {
  if (already) return [`Snapshot ${snapshot}: the database has loaded it last; --overwrite loads it again.`]
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const bytes = tables.reduce((sum, table) => sum + (table.bytes ?? 0), 0)
  const files = tables.some((table) => table.path !== undefined)
  return [
    `Snapshot ${snapshot}: ${formatCounted(rows, 'row')} in ${formatDuration(seconds)}` +
      (files ? `, ${formatBytes(bytes)}, ${formatRate(bytes, seconds)}` : ''),
    '',
    ...exportedLines(tables),
  ]
}

/** A row a table, with its file where there are files. */
export const exportedLines = (tables: ExportSummary['tables']): string[] => {
  const files = tables.some((table) => table.path !== undefined)
  return textTable(
    [{ title: 'table' }, { title: 'rows', right: true }, ...(files ? [{ title: 'file' }] : [])],
    tables.map((table) => [table.table, formatCount(table.rows), ...(files ? [table.path ?? ''] : [])]),
  )
}
