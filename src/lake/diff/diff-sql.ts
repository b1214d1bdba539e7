/**
 * The SQL of a comparison of two snapshots. A partition has one number in both; `candidates_<content>` lists the
 * records whose current version is in another partition: `owner`, `old_p`, `new_p` (NULL where there is none).
 */

import type { Content } from '../../contract/objects.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { ALWAYS_PRESENT } from '../tables/columns.ts'
import { LISTINGS, type RecordTable, type Table } from '../tables/tables.ts'
import { readTable, type VersionedFile } from '../views/current-versions.ts'

/** A partition, and whether each of the snapshots has it. */
export interface ComparedPartition {
  readonly number: number
  readonly version: number
  readonly old: boolean
  readonly new: boolean
}

export type Side = 'old' | 'new'

export const candidatesTable = (content: Content): string => `candidates_${content}`
export const differencesTable = (table: Table): string => `differences_${table.name}`

const ownerOf = (table: Table): string => ident(table.owner ?? '')

/** Files that say which records a snapshot has: `all` of both snapshots, and those that only one of them has. */
export interface ComparedFiles {
  readonly all: readonly VersionedFile[]
  readonly differing: readonly VersionedFile[]
}

/**
 * Finds the records whose current version differs. Only who has rows in a partition that one of the snapshots lacks
 * can be one of them, or a listing there.
 *
 * @param files of the main table @param listings files of companies that are not listed any more
 * @param hidden the versions that each snapshot does not show, as SQL
 */
export const makeCandidates = (
  table: RecordTable,
  partitions: readonly ComparedPartition[],
  files: ComparedFiles,
  listings: readonly VersionedFile[],
  hidden: Readonly<Record<Side, string>>,
): string => {
  const owned = (one: Table, some: readonly VersionedFile[]): string =>
    `SELECT ${ownerOf(one)} AS owner, version::INTEGER AS p FROM (${readTable(one, some, 'with-version')})`
  const differing = [
    owned(table, files.differing),
    ...(listings.length > 0 ? [owned(LISTINGS, listings)] : []),
  ]
  const ofPartition = (values: readonly (number | boolean)[]): string => `[${values.join(',')}][p + 1]`
  const shown = (
    side: Side,
  ): string => `SELECT owner, p FROM compared ANTI JOIN (${hidden[side]}) USING (owner, version)
WHERE ${ofPartition(partitions.map((one) => one[side]))}`
  return `CREATE TABLE ${candidatesTable(table.content)} AS
WITH compared AS MATERIALIZED (
  SELECT owner, p, ${ofPartition(partitions.map(({ version }) => version))}::BIGINT AS version FROM (${owned(table, files.all)})
  WHERE owner IN (SELECT owner FROM (${differing.join(' UNION ALL ')}))
)
SELECT owner, o.p AS old_p, n.p AS new_p
FROM (${shown('old')}) AS o FULL JOIN (${shown('new')}) AS n USING (owner)
WHERE old_p IS DISTINCT FROM new_p`
}

/** Records by their ids, from `least` on and below `below`; an absent end is open. */
export interface OwnerRange {
  readonly least?: string
  readonly below?: string
}

/** Current rows of one side, of the records of a range that both sides have. */
export const rowsOf = (
  table: RecordTable,
  files: readonly VersionedFile[],
  side: Side,
  { least, below }: OwnerRange = {},
): string => `SELECT r.* EXCLUDE (version) FROM (${readTable(table, files, 'with-version')}) AS r
JOIN ${candidatesTable(table.content)} AS c ON c.owner = r.${ownerOf(table)} AND c.${side}_p = r.version
WHERE c.old_p IS NOT NULL AND c.new_p IS NOT NULL${
  least === undefined ? '' : ` AND r.${ownerOf(table)} >= ${least}`
}${below === undefined ? '' : ` AND r.${ownerOf(table)} < ${below}`}`

/** The least id of each of some ranges with about as many records to compare in each. */
export const rangeStarts = (content: Content, ranges: number): string => `
SELECT min(owner) AS least FROM (
  SELECT owner, ntile(${ranges}) OVER (ORDER BY owner) AS part FROM ${candidatesTable(content)}
  WHERE old_p IS NOT NULL AND new_p IS NOT NULL
) GROUP BY part ORDER BY least`

/** Both sides' rows by their key; a row that has no counterpart stands beside NULLs. */
const paired = (table: Table, old: string, other: string): string => {
  const conditions = table.key.map((name) =>
    // The owner is never NULL and is what is hashed.
    name === table.owner
      ? `o.${ident(name)} = n.${ident(name)}`
      : `o.${ident(name)} IS NOT DISTINCT FROM n.${ident(name)}`,
  )
  return `(${old}) AS o FULL JOIN (${other}) AS n ON ${conditions.join(' AND ')}`
}

/** Whether two values differ, as SQL; NULL is no. */
type Differs = (old: string, current: string) => string

const differsAsValue: Differs = (old, current) => `${old} IS DISTINCT FROM ${current}`
/** Nothing and a value that says no more are alike. */
const differsUnless =
  (sql: string): Differs =>
  (old, current) =>
    `(${differsAsValue(old, current)} AND (${old} <> ${sql} OR ${current} <> ${sql}))`

/**
 * Always-present fields are in pages of the service and may be missing in batch files: what a page has in place of nothing counts
 * as nothing, so that data that comes another way is no change. A currency that one side lacks is no difference: figures have their own.
 */
const DIFFERS: Readonly<Record<string, Readonly<Record<string, Differs>>>> = {
  companies: {
    ...Object.fromEntries([...ALWAYS_PRESENT].map(([name, sql]) => [name, differsUnless(sql)])),
    current_currency_code: (old, current) => `(${old} <> ${current} AND ${old} <> '' AND ${current} <> '')`,
  },
  financials: { currency: differsUnless("''") },
}

/** Whether a column of paired rows differs, as values: NULL equals NULL, numbers are not rounded. */
const columnDiffers = (table: Table, name: string): string =>
  (DIFFERS[table.name]?.[name] ?? differsAsValue)(`o.${ident(name)}`, `n.${ident(name)}`)

/** Columns that say what other figures of the record say of a row: it is the same where these differ. */
const OF_OTHERS: ReadonlySet<string> = new Set(['months', 'is_preferred'])

const differ = (table: Table): string => {
  const values = table.columns.filter(({ name }) => !table.key.includes(name) && !OF_OTHERS.has(name))
  return [
    `o.${ownerOf(table)} IS NULL`,
    `n.${ownerOf(table)} IS NULL`,
    ...values.map(({ name }) => columnDiffers(table, name)),
  ].join('\n  OR ')
}

/** Records whose rows in a table differ. @param old rows of one side @param other rows of the other */
export const selectDifferences = (table: Table, old: string, other: string): string =>
  `SELECT DISTINCT coalesce(o.${ownerOf(table)}, n.${ownerOf(table)}) AS owner FROM ${paired(table, old, other)}
WHERE ${differ(table)}`

/** A value as text: instants in ISO 8601, lists and structs as JSON. */
const textOf = (type: string, value: string): string => {
  if (type === 'TIMESTAMPTZ') return `strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`
  return /[[\])(]/.test(type) ? `to_json(${value})::VARCHAR` : `CAST(${value} AS VARCHAR)`
}

export const changedColumnsTable = (content: Content): string => `changed_columns_${content}`

/** Records whose rows in their main table differ, with the columns that do and both values as text. */
export const selectChangedColumns = (table: Table, old: string, other: string): string => {
  const columns = table.columns
    .filter(({ name }) => !table.key.includes(name))
    .map(({ name, type }) => {
      const [before, after] = [`o.${ident(name)}`, `n.${ident(name)}`]
      return `CASE WHEN ${columnDiffers(table, name)} THEN {'column': ${literal(name)}, 'old': ${textOf(type, before)}, 'new': ${textOf(type, after)}} END`
    })
  return `SELECT o.${ownerOf(table)} AS owner, list_filter([${columns.join(',\n')}], lambda c: c IS NOT NULL) AS columns
FROM ${paired(table, old, other)}
WHERE ${differ(table)}`
}

/** The same records alone. */
export const makeMainDifferences = (table: RecordTable): string =>
  `CREATE TABLE ${differencesTable(table)} AS SELECT owner FROM ${changedColumnsTable(table.content)}`

/**
 * Figures that differ, with both sides: `was` and `stays` say on which side there is one. The same amount may have been
 * reported in another scale: what it was reported as is not compared.
 */
export const selectFigures = (table: Table, old: string, other: string): string => {
  const key = ['country_code', ...table.key].map((name) => `coalesce(o.${name}, n.${name}) AS ${name}`)
  const compared = { ...table, columns: table.columns.filter(({ name }) => name !== 'reported') }
  return `SELECT ${key.join(', ')}, o.internal_id IS NOT NULL AS was, n.internal_id IS NOT NULL AS stays,
  o.value AS old_value, o.reported AS old_reported, o.currency AS old_currency,
  n.value AS new_value, n.reported AS new_reported, n.currency AS new_currency
FROM ${paired(table, old, other)}
WHERE ${differ(compared)}`
}

/** Companies whose figures differ. */
export const makeFigureDifferences = (table: Table): string =>
  `CREATE TABLE ${differencesTable(table)} AS SELECT DISTINCT internal_id AS owner FROM figures`

/** Companies all of whose amounts are in other currencies than before: another one was asked for. */
export const makeRecurrencied = (old: string, other: string): string => {
  const currencies = (rows: string): string =>
    `SELECT internal_id, list(DISTINCT currency) AS currencies FROM (${rows})
  WHERE currency IS NOT NULL AND internal_id IN (SELECT internal_id FROM touched) GROUP BY internal_id`
  return `CREATE TABLE recurrencied AS
WITH touched AS (SELECT DISTINCT internal_id FROM figures WHERE old_currency <> new_currency),
  o AS (${currencies(old)}), n AS (${currencies(other)})
SELECT internal_id FROM o JOIN n USING (internal_id) WHERE NOT list_has_any(o.currencies, n.currencies)`
}

/**
 * A restatement is a difference in a year that the company had reported before: of the figures with the same
 * consolidation, no later year than the latest of the older snapshot.
 */
export const makeRestatements = (old: string): string => `CREATE TABLE restatements AS
WITH latest AS (
  SELECT internal_id, consolidation, max(fiscal_year) AS latest FROM (${old})
  WHERE internal_id IN (SELECT internal_id FROM figures WHERE NOT was)
  GROUP BY internal_id, consolidation
)
SELECT CASE WHEN NOT stays THEN 'withdrawn' WHEN NOT was THEN 'added' ELSE 'changed' END AS change, f.*
FROM figures AS f LEFT JOIN latest USING (internal_id, consolidation)
WHERE CASE
  WHEN NOT stays THEN true
  WHEN NOT was THEN fiscal_year <= latest
  WHEN old_currency IS DISTINCT FROM new_currency THEN internal_id NOT IN (SELECT internal_id FROM recurrencied)
  ELSE old_value IS DISTINCT FROM new_value
END`

/**
 * The records of a content that are new, changed or gone; `differs` lists the tables of those that are changed.
 *
 * @param facts rows with `internal_id`, `country_code` and `name` of the records' current versions, of the older ones
 *   where there is no newer
 */
export const makeChanges = (content: Content, tables: readonly Table[], facts: string): string => {
  const differences = tables.map(
    (table, at) => `SELECT owner, '${table.name}' AS name, ${at} AS no FROM ${differencesTable(table)}`,
  )
  return `CREATE TABLE changes_${content} AS
WITH changes AS (
  SELECT owner, CASE WHEN old_p IS NULL THEN 'new' ELSE 'gone' END AS change, NULL::VARCHAR AS differs
  FROM ${candidatesTable(content)} WHERE old_p IS NULL OR new_p IS NULL
  UNION ALL
  SELECT owner, 'changed', string_agg(name, ',' ORDER BY no) FROM (${differences.join(' UNION ALL ')}) GROUP BY owner
)
SELECT changes.*, c.country_code, c.name FROM changes LEFT JOIN (${facts}) AS c ON c.internal_id = changes.owner`
}

/** `country_code` and `name` by `internal_id` of the records that a comparison is about. */
export const factsOf = (table: RecordTable, files: readonly VersionedFile[]): string => {
  const name = table.columns.find((column) => ['company_name', 'name'].includes(column.name))?.name
  return `SELECT r.internal_id, r.country_code, ${name === undefined ? 'NULL::VARCHAR' : `r.${ident(name)}`} AS name
FROM (${readTable(table, files, 'with-version')}) AS r
JOIN ${candidatesTable(table.content)} AS c ON c.owner = r.internal_id AND coalesce(c.new_p, c.old_p) = r.version`
}

/** Rows of the records that changed, of one kind. */
const changeRows = (kind: string, content: Content): string =>
  `SELECT '${kind}' AS kind, change, c.owner AS internal_id, country_code, differs, NULL::VARCHAR AS consolidation,
  NULL::VARCHAR AS category, NULL::VARCHAR AS line_item, NULL::SMALLINT AS fiscal_year, NULL::DOUBLE AS old_value,
  NULL::VARCHAR AS old_currency, NULL::DOUBLE AS new_value, NULL::VARCHAR AS new_currency, name AS company_name,
  NULL::DOUBLE AS percent, d.columns FROM changes_${content} AS c
LEFT JOIN ${changedColumnsTable(content)} AS d ON d.owner = c.owner`

const RECORDS = `${changeRows('company', 'companies')} UNION ALL ${changeRows('relations', 'relations')}`

/** The percent by which a figure changed, where both sides have one in the same currency. */
const PERCENT = `CASE WHEN old_currency IS NOT DISTINCT FROM new_currency AND old_value <> 0
  THEN round(100 * (new_value - old_value) / abs(old_value), 2) + 0 END AS percent`

const RESTATED = `(SELECT r.*, c.name AS company_name, ${PERCENT}
FROM restatements AS r LEFT JOIN changes_companies AS c ON c.owner = r.internal_id)`

export const RECORD_ROWS = `SELECT kind, change, internal_id, country_code, differs, company_name
FROM (${RECORDS}) ORDER BY kind, internal_id`

/** A row for each column of a record that has another value. */
export const COLUMN_ROWS = `SELECT kind, internal_id, company_name, c.column, c.old AS old_value, c.new AS new_value
FROM (SELECT *, unnest(columns) AS c FROM (${RECORDS})) ORDER BY kind, internal_id, c.column`

export const RESTATEMENT_ROWS = `SELECT change, internal_id, country_code, consolidation, category, line_item,
  fiscal_year, old_value, old_currency, new_value, new_currency, company_name, percent FROM ${RESTATED}
ORDER BY internal_id, consolidation, category, line_item, fiscal_year`

/** The rows of all kinds in the same columns. @param kinds which kinds of them */
export const allRows = (kinds: string): string => `SELECT * FROM (
${RECORDS} UNION ALL
SELECT 'restatement', change, internal_id, country_code, NULL, consolidation, category, line_item, fiscal_year,
  old_value, old_currency, new_value, new_currency, company_name, percent, NULL FROM ${RESTATED})
WHERE kind IN (${kinds})
ORDER BY kind, internal_id, consolidation, category, line_item, fiscal_year`
