/** Every row of every table of a lake against what the generator says: whole rows, as texts, whatever their order. */

import { createHash } from 'node:crypto'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { openQuery } from '../../src/jobs/query.ts'
import type { ExpectedLake, Version } from './year-expected.ts'
import { type Company, nationalIdOf, personId, USUAL_STATUS } from './year-world.ts'

export type Row = Readonly<Record<string, unknown>>
type Rows = readonly Row[]

const instant = (day: string): string => `${day} 12:00:00+00`

const companyRows = ({ id, name, status, day, extra }: Company): Rows => [
  {
    ...{ internal_id: id, company_name: name, country_code: 'SE', operational_status: status },
    ...(status === USUAL_STATUS && { operational_status_name: 'Active' }),
    ...{ current_currency_code: 'USD', financial_figure_scale: 'None' },
    ...{ industry_codes: [], weighted_group_industry_codes: [], has_reported_missing_ubo: false },
    ...{ has_foreign_ultimate_parent: false, has_group_structure: false },
    ...{ content_updated_at: instant(day), relations_updated_at: instant(day) },
    ...(extra !== undefined && { extra: JSON.stringify({ [extra]: 1 }) }),
  },
]

const figureRows = ({ id, sales, item }: Company): Rows => {
  const own = {
    internal_id: id,
    country_code: 'SE',
    consolidation: 'Consolidated',
    category: 'ProfitAndLoss',
    is_preferred: true,
  }
  const sold = (fiscal_year: number, value: number): Row => ({
    ...{ ...own, line_item: 'NetSales', fiscal_year, value, currency: 'USD' },
  })
  return [
    sold(2024, 1000 + id),
    sold(2025, sales),
    ...(item === undefined ? [] : [{ ...own, line_item: item, fiscal_year: 2025, value: 7 }]),
  ]
}

const employeeRows = ({ id, staff }: Company): Rows => [
  {
    internal_id: id,
    country_code: 'SE',
    consolidation: 'Consolidated',
    fiscal_year: 2025,
    employees: staff,
    is_preferred: true,
  },
]

const personRow = (number: number): Row => ({
  ...{ direction: 'parent', entity_id: personId(number), country_code: 'SE', is_company: false },
  ...{ name: `First${number} Last${number}`, first_name: `First${number}`, last_name: `Last${number}` },
  national_identification_number: nationalIdOf(number),
})

type Ids = ReadonlySet<number>

/** In the order of the document: who leads, who led before, the child. Of the forgotten only their lists are left. */
const entityRows = ({ id, chair, chairBefore }: Company, forgotten: Ids): Rows => {
  const rows: Row[] = []
  if (!forgotten.has(personId(chair))) {
    const isLost = chairBefore !== undefined && forgotten.has(personId(chairBefore))
    rows.push({
      ...{ ...personRow(chair), is_history: false, depth: 0 },
      ...(isLost && { empty_lists: ['History'] }),
    })
    if (chairBefore !== undefined && !isLost)
      rows.push({ ...personRow(chairBefore), parent_no: 1, is_history: true, depth: 1 })
  }
  const child = { direction: 'child', entity_id: id + 1, name: `Child of ${id}`, is_company: true }
  if (!forgotten.has(id + 1)) rows.push({ ...child, is_history: false, depth: 0 })
  return rows.map((row, at) => ({ ...row, company_id: id, entity_no: at + 1 }))
}

const relationRows = ({ id, name, chair }: Company, forgotten: Ids): Rows => {
  const empty = [
    ...(forgotten.has(personId(chair)) ? ['Parents'] : []),
    ...(forgotten.has(id + 1) ? ['Children'] : []),
  ]
  return [{ internal_id: id, name, country_code: 'SE', ...(empty.length > 0 && { empty_lists: empty }) }]
}

const keyOf = ({ company_id, entity_no, direction, entity_id, is_history }: Row): Row => ({
  ...{ company_id, entity_no, direction, entity_id, is_history },
  no: 1,
})

const ownershipRows = (company: Company, forgotten: Ids): Rows =>
  entityRows(company, forgotten)
    .filter(({ direction }) => direction === 'child')
    .map((row) => ({ ...keyOf(row), kind: 'Direct', ownership_stake: company.stake }))

const roleRows = (company: Company, forgotten: Ids): Rows =>
  entityRows(company, forgotten)
    .filter(({ direction, depth }) => direction === 'parent' && depth === 0)
    .map((row) => ({ ...keyOf(row), id: 1, text: 'Chair' }))

const TABLES_OF = {
  companies: { companies: companyRows, financials: figureRows, employees: employeeRows },
  relations: {
    relations: relationRows,
    relation_entities: entityRows,
    ownerships: ownershipRows,
    roles: roleRows,
  },
} as const

interface Interval {
  readonly row: Row
  readonly first: Version
  readonly last: Version
}

/** The rows of a record's versions: what a compaction has put together is one row from its first version to its last. */
const intervalsOf = (
  versions: readonly Version[],
  rowsOf: (version: Version) => Rows,
): readonly Interval[] => {
  const done: Interval[] = []
  let open = new Map<string, Interval>()
  for (const version of versions) {
    const next = new Map<string, Interval>()
    for (const row of rowsOf(version)) {
      const text = JSON.stringify(row)
      const before = version.isCompacted ? open.get(text) : undefined
      next.set(text, { row, first: before?.first ?? version, last: version })
    }
    for (const [text, interval] of open) if (next.get(text)?.first !== interval.first) done.push(interval)
    open = next
  }
  return [...done, ...open.values()]
}

/** Current rows, and those of all versions with what is known of their loads. */
const expectedRows = (lake: ExpectedLake): ReadonlyMap<string, Rows> => {
  const rows = new Map<string, Rows>()
  for (const content of ['companies', 'relations'] as const) {
    const { current, history } = lake[content]
    const isShown = ({ company }: Version): boolean => content === 'relations' || !lake.gone.has(company.id)
    const isCurrent = (version: Version): boolean =>
      current.get(version.company.id) === version && isShown(version)
    for (const [table, rowsOf] of Object.entries(TABLES_OF[content])) {
      rows.set(
        table,
        [...current.values()].filter(isShown).flatMap(({ company }) => rowsOf(company, lake.forgotten)),
      )
      rows.set(
        `${table}_history`,
        [...Map.groupBy(history, ({ company }) => company.id).values()].flatMap((versions) =>
          intervalsOf(versions, (version) => rowsOf(version.company, lake.forgotten)).map(
            ({ row, first, last }) => ({ ...row, snapshot: first.snapshot, is_current: isCurrent(last) }),
          ),
        ),
      )
    }
  }
  rows.set(
    'line_items',
    [
      ...LINE_ITEMS.map(({ lineItem, category, unit, kind, scaled }) => ({
        ...{ lineItem, category, unit },
        kind,
        scaled,
      })),
      ...lake.items.map((lineItem) => ({
        ...{ lineItem, category: 'ProfitAndLoss', unit: 'unknown', kind: 'unknown', scaled: false },
      })),
    ].map(({ lineItem, ...item }) => ({ line_item: lineItem, ...item })),
  )
  rows.set(
    'listings',
    [...lake.gone].map((internal_id) => ({ internal_id })),
  )
  rows.set(
    'quarantine',
    Array.from({ length: lake.quarantined }, () => ({ content: 'companies', code: 'ID_NOT_WHOLE' })),
  )
  return rows
}

const TABLES = Object.values(TABLES_OF).flatMap((tables) => Object.keys(tables))

/** The rows of the tables of both contents: current ones, and as `<table>_history` all versions. */
export const contentTables = (lake: ExpectedLake): ReadonlyMap<string, Rows> => {
  const rows = expectedRows(lake)
  const names = TABLES.flatMap((table) => [table, `${table}_history`])
  return new Map(names.map((name) => [name, rows.get(name) ?? []]))
}

/**
 * The rows of published tables: current ones, and as `<table>_history` those of all versions since the last compaction, which begins
 * with the rows that were current then.
 */
export const publishedTables = (lake: ExpectedLake): ReadonlyMap<string, Rows> => {
  const tables = new Map(contentTables(lake))
  for (const content of ['companies', 'relations'] as const) {
    const records = [...Map.groupBy(lake[content].history, ({ company }) => company.id).values()]
    const left = records.flatMap((versions) =>
      versions.filter((one, at) => !one.isCompacted || !versions[at + 1]?.isCompacted),
    )
    for (const [table, rowsOf] of Object.entries(TABLES_OF[content]))
      tables.set(
        `${table}_history`,
        left.flatMap(({ company }) => rowsOf(company, lake.forgotten)),
      )
  }
  return tables
}

/** What no generator can know. */
const UNKNOWN = [
  ...(['run', 'loaded_at', 'as_of', 'version', 'until', 'until_as_of'] as const),
  ...(['shown_from', 'shown_until', 'known_since'] as const),
] as const
/** Columns that are compared, where not all are. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  listings: ['internal_id'],
  quarantine: ['content', 'code'],
}

export const textOf = (row: Row, chosen: readonly string[] = Object.keys(row)): string =>
  JSON.stringify(
    chosen
      .filter((name) => row[name] !== null && !(UNKNOWN as readonly string[]).includes(name))
      .sort()
      .map((name) => [name, row[name]]),
  )

export interface ComparedRows {
  readonly wrong: readonly string[]
  readonly rows: number
  /** Of all rows, sorted: the same for the same seed. */
  readonly hash: string
}

/** What differs between the rows of a table as texts and those that are wanted, at most a line. */
export const differenceOf = (
  table: string,
  found: readonly string[],
  wanted: readonly string[],
): readonly string[] => {
  if (found.toSorted().join('\n') === wanted.toSorted().join('\n')) return []
  const [there, expected] = [new Set(found), new Set(wanted)]
  const lacking = wanted.filter((text) => !there.has(text))
  const surplus = found.filter((text) => !expected.has(text))
  return [
    `${table} has ${found.length} rows, expected ${wanted.length}; it lacks ${lacking.length}: ${lacking[0] ?? ''}; it has ${surplus.length} others: ${surplus[0] ?? ''}`,
  ]
}

/** @param taken what a lake takes of a row */
export const compareRows = async (
  lake: string,
  expected: ExpectedLake,
  taken = (_table: string, row: Row): Row => row,
): Promise<ComparedRows> => {
  const wrong: string[] = []
  const hash = createHash('sha256')
  let rows = 0
  const query = await openQuery({ lake })
  try {
    for (const [table, wanted] of expectedRows(expected)) {
      const found: string[] = []
      for await (const chunk of (await query.run(`SELECT to_json(t)::VARCHAR FROM ${table} AS t`)).rows)
        for (const [text] of chunk) found.push(textOf(JSON.parse(String(text)), CHOSEN[table]))
      const strings = wanted.map((row) => textOf(taken(table, row)))
      rows += found.length
      hash.update(`${table} ${strings.toSorted().join('\n')}\n`)
      wrong.push(...differenceOf(table, found, strings))
    }
  } finally {
    query.close()
  }
  return { wrong, rows, hash: hash.digest('hex') }
}
