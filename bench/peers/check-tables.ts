/** Compares the tables that a way wrote with what the lines hold: counts and sums, so that none is wrong unnoticed. */

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { addValue, type Expected, ID_MODULUS, noTotals, type RowTotals } from './expected.ts'
import { SHAPE } from './shape.ts'

/** Sums of doubles depend on their order; those of counts, ids and years do not. */
const TOLERANCE = 1e-9
const differ = (found: number, expected: number, tolerance = TOLERANCE): boolean =>
  !(Math.abs(found - expected) <= tolerance * Math.max(Math.abs(found), Math.abs(expected)))

const tableOf = (folder: string, table: string): string =>
  `read_parquet('${folder}/${table}/**/*.parquet', hive_partitioning=false)`

const rowsOf = async (connection: DuckDBConnection, sql: string) =>
  (await connection.runAndReadAll(sql)).getRowObjectsJson()

const checkRows = async (
  connection: DuckDBConnection,
  folder: string,
  table: string,
  expected: Readonly<RowTotals & { sum?: number }>,
): Promise<string[]> => {
  const [found] = await rowsOf(
    connection,
    `SELECT count(*) AS rows, sum(internal_id % ${ID_MODULUS}) AS ids, sum(fiscal_year) AS years
      ${expected.sum === undefined ? '' : ', fsum(employees) AS sum'} FROM ${tableOf(folder, table)}`,
  )
  return Object.entries(expected).flatMap(([name, value]) =>
    differ(Number(found?.[name]), value, name === 'sum' ? TOLERANCE : 0)
      ? [`${table}: ${name} ${found?.[name]}, expected ${value}`]
      : [],
  )
}

/** By consolidation, category, line item and currency. */
const checkFigures = async (
  connection: DuckDBConnection,
  folder: string,
  figures: Expected['figures'],
): Promise<string[]> => {
  const found = await rowsOf(
    connection,
    `SELECT consolidation::VARCHAR AS consolidation, category::VARCHAR AS category, line_item::VARCHAR AS line_item,
      coalesce(currency::VARCHAR, '') AS currency, count(*) AS count, fsum(abs(value)) AS sum
      FROM ${tableOf(folder, 'financials')} GROUP BY ALL`,
  )
  const key = (...parts: readonly unknown[]): string => parts.join(' ')
  const [counts, sums] = [new Map<string, number>(), new Map<string, number>()]
  for (const { consolidation, category, line_item, currency, count, sum } of found) {
    const place = key(consolidation, category, line_item)
    counts.set(place, (counts.get(place) ?? 0) + Number(count))
    sums.set(key(place, currency), Number(sum))
  }
  const problems: string[] = []
  for (const [consolidation, categories] of Object.entries(figures))
    for (const [category, items] of Object.entries(categories))
      for (const [item, { count, sumAbs }] of Object.entries(items)) {
        const place = key(consolidation, category, item)
        if ((counts.get(place) ?? 0) !== count)
          problems.push(`financials: ${counts.get(place) ?? 0} of ${place}, expected ${count}`)
        for (const [currency, sum] of Object.entries(sumAbs))
          if (differ(sums.get(key(place, currency)) ?? Number.NaN, sum))
            problems.push(
              `financials: sum of ${place} in "${currency}" is ${sums.get(key(place, currency))}, expected ${sum}`,
            )
      }
  return problems
}

/** The columns of `companies` that all but ours write alike. */
const checkColumns = async (
  connection: DuckDBConnection,
  folder: string,
  expected: Expected['companies'],
): Promise<string[]> => {
  const totals = SHAPE.companies.map((column) => ({ ...column, totals: noTotals() }))
  const result = await connection.stream(
    `SELECT to_json(t)::VARCHAR FROM ${tableOf(folder, 'companies')} AS t`,
  )
  for await (const rows of result.yieldRowsJson())
    for (const [text] of rows) {
      const record: Readonly<Record<string, unknown>> = JSON.parse(String(text))
      for (const one of totals) addValue(one.totals, record[one.column], one.type)
    }
  return totals.flatMap(({ column, totals }) => {
    const wanted = expected[column] ?? noTotals()
    return (['present', 'characters', 'sum'] as const).flatMap((name) =>
      differ(totals[name], wanted[name], name === 'sum' ? TOLERANCE : 0)
        ? [`companies: ${name} of ${column} ${totals[name]}, expected ${wanted[name]}`]
        : [],
    )
  })
}

const checkCountries = async (
  connection: DuckDBConnection,
  folder: string,
  expected: Expected['byCountry'],
): Promise<string[]> => {
  const found = await rowsOf(
    connection,
    `SELECT coalesce(country_code::VARCHAR, '') AS country, count(*) AS count
      FROM ${tableOf(folder, 'companies')} GROUP BY ALL`,
  )
  const counts = new Map(found.map(({ country, count }) => [String(country), Number(count)]))
  return Object.entries(expected).flatMap(([country, count]) =>
    counts.get(country) === count
      ? []
      : [`companies: ${counts.get(country) ?? 0} of "${country}", expected ${count}`],
  )
}

/**
 * What is wrong with the tables of a folder; nothing where they hold what the lines hold.
 *
 * @param columns whether `companies` has the peers' columns; ours has more, and some under other names
 */
export const problemsOf = async (
  folder: string,
  expected: Expected,
  columns: boolean,
): Promise<readonly string[]> => {
  const connection = await (await DuckDBInstance.create()).connect()
  try {
    return [
      ...(await checkCountries(connection, folder, expected.byCountry)),
      ...(columns ? await checkColumns(connection, folder, expected.companies) : []),
      ...(await checkRows(connection, folder, 'financials', expected.financials)),
      ...(await checkFigures(connection, folder, expected.figures)),
      ...(await checkRows(connection, folder, 'employees', expected.employees)),
    ]
  } finally {
    connection.closeSync()
  }
}
