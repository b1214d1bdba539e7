/** What the round trip of `demo` did, in a few lines, and whether it held. */

import { ToolkitError } from '../../core/errors.ts'
import { formatBytes, formatCount, formatCounted, formatDuration } from '../output/format.ts'
import { textTable } from '../output/text-table.ts'
import type { ComparedTable } from './compare-lakes.ts'
import { ANY_CURRENCY, type RoundTrip } from './round-trip.ts'

export const roundTripLines = (lake: string, trip: RoundTrip, seconds: number): string[] => {
  const { companies, relations, batch, scores } = trip
  const byCursor = companies.reduce((sum, [, received]) => sum + received, 0)
  const currencies = companies.map(
    ([currency, received]) =>
      `${formatCount(received)} in ${currency}${currency === ANY_CURRENCY ? ' or without a currency' : ''}`,
  )
  return [
    `Served ${lake} at ${trip.address} with a token made for this run, ${formatCount(trip.batchFiles)} batch files on offer`,
    `Pulled ${formatCounted(byCursor, 'company', 'companies')} by cursor, a search for each currency, as pages convert:`,
    `  ${currencies.join(', ')}`,
    `Pulled ${formatCount(relations)} relations by cursor`,
    `Pulled ${formatCounted(batch.records, 'company', 'companies')} by batch file ${batch.name}: PLN has no built-in rate`,
    `${formatCounted(trip.requests, 'request')}, ${formatBytes(trip.bytes)}, ${formatDuration(seconds)} in all`,
    '',
    'Both lakes compared, row by row:',
    ...textTable(
      [
        { title: 'table' },
        ...['rows', 'only served', 'only pulled'].map((title) => ({ title, right: true })),
      ],
      trip.compared.map(({ table, rows, onlyFirst, onlySecond }) => [
        table,
        ...[rows, onlyFirst, onlySecond].map(formatCount),
      ]),
    ),
    ...(scores > 0
      ? [
          `Left out: the Score that ${formatCount(scores)} of the companies by cursor have from an earlier search`,
        ]
      : []),
  ]
}

/** @throws {ToolkitError} RECORDS_DIFFER naming the tables */
export const checkRoundTrip = ({ compared }: Pick<RoundTrip, 'compared'>): void => {
  const differing = compared.filter(({ onlyFirst, onlySecond }) => onlyFirst + onlySecond > 0)
  if (differing.length === 0) return
  const sum = (count: (table: ComparedTable) => number): number =>
    differing.reduce((all, table) => all + count(table), 0)
  throw new ToolkitError(
    'RECORDS_DIFFER',
    `Cannot show that both lakes hold the same: they differ in ${differing.map(({ table }) => table).join(', ')}`,
    { onlyFirst: sum(({ onlyFirst }) => onlyFirst), onlySecond: sum(({ onlySecond }) => onlySecond) },
  )
}
