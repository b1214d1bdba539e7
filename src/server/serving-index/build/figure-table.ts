/**
 * The table `figure`. Sorting every figure would put most of a large lake aside on the disk: the years of a
 * company's line item are put together first, slice by slice, then those lists are parted again, some names at a time.
 */

import { CONSOLIDATIONS } from '../../../contract/dictionaries.ts'
import { CATEGORIES, LINE_ITEMS } from '../../../contract/line-items.ts'
import type { Session } from '../../../lake/duckdb/engine.ts'
import { literal } from '../../../lake/duckdb/sql.ts'
import { type SessionRequest, slicesOf, sliceView } from '../../../load/restore/slices.ts'
import { EMPLOYEES, FIGURE_NAMES } from '../index-form.ts'

/** Rows of a slice: their lists take about 50 bytes a figure, and DuckDB cannot put those aside. */
const SLICE_ROWS = { companies: 16_384, financials: 1_000_000, employees: 400_000 }

/** For each name the position of the category where it is at home; -1 for headcounts. */
const HOMES = FIGURE_NAMES.map((name) =>
  CATEGORIES.findIndex((category) =>
    LINE_ITEMS.some((item) => item.lineItem === name && item.category === category),
  ),
)

/** Figures of a slice by name; a line item counts in its own category only. */
const reportedFigures = (): string => {
  const consolidated = `consolidation = ${literal(CONSOLIDATIONS[0].name)} AS consolidated`
  return `SELECT name, internal_id, fiscal_year, value, currency, consolidated
  FROM (
    SELECT try_cast(line_item AS figure_name) AS name, try_cast(category AS figure_category) AS category,
      internal_id, fiscal_year, value, currency, ${consolidated}
    FROM ${sliceView('financials')}
  )
  WHERE [${HOMES.join(',')}][enum_code(name)::INTEGER + 1] = enum_code(category)
  UNION ALL
  SELECT ${literal(EMPLOYEES)}::figure_name AS name, internal_id, fiscal_year, employees AS value, NULL AS currency, ${consolidated}
  FROM ${sliceView('employees')}`
}

/** One row a company and name: its years in order, consolidated values before unconsolidated ones. */
const figureLists = (): string => {
  const years = (condition: string): string => `list({year: fiscal_year, value: value}) FILTER (${condition})`
  return `SELECT name, internal_id, currency, list_sort(CASE
    WHEN parents IS NULL THEN groups
    WHEN groups IS NULL THEN parents
    ELSE groups || list_filter(parents, lambda one : NOT list_contains(list_transform(groups, lambda two : two.year), one.year))
  END) AS years
FROM (
  SELECT name, internal_id, any_value(currency) AS currency,
    ${years('consolidated')} AS groups, ${years('NOT consolidated')} AS parents
  FROM (${reportedFigures()})
  GROUP BY name, internal_id
)`
}

/** Names that follow each other, from the first to the last. */
interface NameRange {
  readonly from: string
  readonly to: string
}

/** Figures sorted at once: they fit into memory, and a small lake takes one statement. */
const SORTED_ROWS = 1_000_000

/** Parts the names into ranges with few enough figures each; a name with more is one by itself. */
const rangesOf = async (session: Session): Promise<readonly NameRange[]> => {
  const counts = await session.rows(
    'SELECT name::VARCHAR AS name, sum(len(years))::DOUBLE AS figures FROM scratch.figure_list GROUP BY name ORDER BY name',
  )
  const ranges: NameRange[] = []
  let size = SORTED_ROWS
  for (const row of counts) {
    const name = String(row.name)
    const figures = Number(row.figures)
    const last = ranges.at(-1)
    if (last !== undefined && size + figures <= SORTED_ROWS) {
      ranges[ranges.length - 1] = { from: last.from, to: name }
      size += figures
    } else {
      ranges.push({ from: name, to: name })
      size = figures
    }
  }
  return ranges
}

/** Figures of some names, in the order of the table. */
const insertRange = ({ from, to }: NameRange): string => `INSERT INTO copy.figure BY NAME
SELECT name::VARCHAR AS line_item, internal_id, one.year AS fiscal_year, one.value AS value, currency, one.year = last AS latest
FROM (
  SELECT name, internal_id, currency, years[-1].year AS last, unnest(years) AS one
  FROM scratch.figure_list WHERE name BETWEEN ${literal(from)}::figure_name AND ${literal(to)}::figure_name
)
ORDER BY name, latest DESC, fiscal_year, internal_id`

/** Fills `copy.figure`. @param request of a session to which `copy` and a database `scratch` are attached */
export const fillFigures = async (request: SessionRequest): Promise<void> => {
  const { session, signal } = request
  await session.setEnum('figure_category', CATEGORIES)
  await session.setEnum('figure_name', FIGURE_NAMES)
  await session.run(
    `CREATE TABLE scratch.figure_list (name figure_name, internal_id BIGINT, currency VARCHAR, years STRUCT("year" SMALLINT, value DOUBLE)[])`,
  )
  // Sorted within a slice, a name's rows stand together: whoever looks for them skips the others.
  for await (const _ of slicesOf(request, 'companies', SLICE_ROWS))
    await session.run(`INSERT INTO scratch.figure_list ${figureLists()} ORDER BY name`)
  for (const range of await rangesOf(session)) {
    signal?.throwIfAborted()
    await session.run(insertRange(range))
  }
  // Detached with its rows, the database would write them once more.
  await session.run('DROP TABLE scratch.figure_list')
}
