/**
 * The proof of a figure: each value that loads brought, with the load that said it first and the one that said it last, and where
 * these had it from, by the manifest.
 */

import type { CommittedPartition } from '../../core/partition.ts'
import { versionOrder } from '../../lake/views/version-order.ts'
import { sourcesOf } from '../../manifest/form/sources.ts'
import { anyText, count, objectOf } from '../../support/json-form.ts'
import { companyId, type Question, question, rowObjects } from './question.ts'

/** A figure by its place in the statements of a company. */
const FIGURE = objectOf({
  id: companyId,
  ...{ consolidation: anyText, category: anyText, lineItem: anyText },
  year: count,
})

/** Values that a figure had, at most; each has one row or two. */
const MOST_VALUES = 30

/** Facts of the manifest about a load; NULL where the caller does not see loads. */
const COLUMNS = [
  ...['partition', 'is_merged', 'file', 'file_sha256'],
  ...['source_kind', 'source_name', 'sources', 'source_sha256', 'first_line', 'last_line'],
] as const

const factsOf = (partition: CommittedPartition, table: string): readonly unknown[] => {
  const { id, files, source, counts } = partition
  const file = files.find((one) => one.table === table)
  const { length } = sourcesOf(partition)
  // Sources that share a partition are whole files, one after the other.
  const lines = length > 1 ? [null, null] : [source.firstLine, source.firstLine + counts.lines - 1]
  return [
    ...[id, file === undefined, file?.path ?? null, file?.sha256 ?? null],
    ...[source.kind, source.name, length, source.sha256, ...lines],
  ]
}

/** Headcounts have a table of their own. */
const historyOf = (category: string): readonly [table: string, columns: string, condition: string] =>
  category === 'Employees'
    ? ['employees', 'employees AS value, NULL AS currency, employees AS reported', '']
    : ['financials', 'value, currency, reported', ' AND category = $2 AND line_item = $3']

const proof = question(FIGURE, async (run, sent, maySee, partitionsOf) => {
  const { id, consolidation, category, lineItem, year } = sent
  const [table, columns, condition] = historyOf(category)
  const values = [consolidation, category, lineItem].slice(0, condition === '' ? 1 : 3)
  const answer = await run(
    `WITH reported AS (
  SELECT ${columns}, as_of, version, run, snapshot, loaded_at, is_current FROM ${table}_history
  WHERE internal_id = ${id} AND consolidation = $1${condition} AND fiscal_year = ${year}
), steps AS (
  SELECT *, sum(is_new::INTEGER) OVER (ORDER BY ${versionOrder()}) AS step FROM (
    SELECT *, lag(value) OVER in_order IS DISTINCT FROM value OR lag(currency) OVER in_order IS DISTINCT FROM currency AS is_new
    FROM reported WINDOW in_order AS (ORDER BY ${versionOrder()})
  )
), ends AS (
  SELECT *, count(*) OVER (PARTITION BY step) AS loads, row_number() OVER (PARTITION BY step ORDER BY ${versionOrder()}) AS nth FROM steps
)
SELECT step::INTEGER AS step, loads, nth = 1 AS is_first, value, currency, reported, is_current, as_of, snapshot, loaded_at, run, version
FROM ends WHERE nth IN (1, loads) ORDER BY ${versionOrder(undefined, 'DESC')} LIMIT ${2 * MOST_VALUES}`,
    values.map((text) => text.toWellFormed()),
  )
  const rows = rowObjects(answer)
  const loads = rows.map((row) => ({ run: String(row.run), version: Number(row.version) }))
  const seesLoads = maySee('FROM sources')
  const partitions = seesLoads && rows.length > 0 ? await partitionsOf(loads) : []
  const byVersion = new Map(partitions.map((one) => [one.version, factsOf(one, table)]))
  const shown = answer.columns.slice(0, -2)
  const none = COLUMNS.map(() => null)
  return {
    columns: [...shown, ...COLUMNS],
    rows: rows.map((row) => [
      ...shown.map((name) => row[name]),
      ...(byVersion.get(Number(row.version)) ?? none),
    ]),
  }
})

export const PROOF_QUESTIONS: Readonly<Record<string, Question>> = { proof }
