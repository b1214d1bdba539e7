/** Tables of a schema of PostgreSQL: made where they are missing, widened where columns are, refused where they differ. */

import type { Client } from 'pg'
import { ToolkitError } from '../../core/errors.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { SINK_TABLES, type Table } from '../../lake/tables/tables.ts'
import { ABOUT_TAKEN, commentStatements, LOADS_TABLE } from '../current-rows.ts'
import { checkNameLength, type TargetColumn } from './staged-columns.ts'

/** A table that rows go to. */
export interface TargetTable {
  readonly name: string
  /** Quoted, with its schema. */
  readonly target: string
  readonly columns: readonly TargetColumn[]
  /** The lake's table of this name, where the rows have its key. */
  readonly declared: Table | undefined
  /** Whether this transaction made it: it has no rows of others and no index yet. */
  readonly fresh: boolean
}

export const qualified = (schema: string, table: string): string => `${ident(schema)}.${ident(table)}`

const MAKE_LOADS = (target: string): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${target} (
    run text PRIMARY KEY,
    loaded_at timestamptz NOT NULL DEFAULT now(),
    partitions integer NOT NULL,
    taken text
  )`,
  `COMMENT ON TABLE ${target} IS 'A row is a run whose rows this schema shows. Key: run.'`,
  `COMMENT ON COLUMN ${target}.taken IS ${literal(ABOUT_TAKEN)}`,
]

/** Whether a table exists. @param table as `qualified` gives it */
export const hasTable = async (client: Client, table: string): Promise<boolean> => {
  const { rows } = await client.query<{ readonly there: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS there',
    [table],
  )
  return rows[0]?.there === true
}

/** Makes the schema and its table of loads. Asked first: who may not make them may still use them. */
export const makeSchema = async (client: Client, schema: string): Promise<void> => {
  const found = await client.query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema])
  if (found.rows.length === 0) await client.query(`CREATE SCHEMA ${ident(schema)}`)
  const loads = qualified(schema, LOADS_TABLE)
  if (await hasTable(client, loads)) return
  for (const statement of MAKE_LOADS(loads)) await client.query(statement)
}

/** Marks a table that the next export of the same name may replace: others' tables are never touched so. */
const REPLACEABLE = 'Rows of a query, replaced whole by the next export of this name.'

/** The tables with rows of runs and exports, quoted, with their schema. */
export const ownTables = async (client: Client, schema: string): Promise<readonly string[]> => {
  const { rows } = await client.query<{ readonly name: string }>(
    `SELECT c.relname AS name FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND (c.relname = ANY($2) OR obj_description(c.oid, 'pg_class') = $3)`,
    [schema, SINK_TABLES.map(({ name }) => name), REPLACEABLE],
  )
  return rows.map(({ name }) => qualified(schema, name))
}

interface TableThere {
  readonly columns: ReadonlyMap<string, string>
  readonly replaceable: boolean
}

/** A table as it is; `null` where nothing has this name. @throws {ToolkitError} TARGET_REFUSED for a view */
const tableThere = async (client: Client, schema: string, table: string): Promise<TableThere | null> => {
  const found = await client.query<{
    readonly oid: string
    readonly relkind: string
    readonly comment: string | null
  }>(
    `SELECT c.oid::text AS oid, c.relkind::text AS relkind, obj_description(c.oid, 'pg_class') AS comment
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`,
    [schema, table],
  )
  const [relation] = found.rows
  if (relation === undefined) return null
  if (!'rp'.includes(relation.relkind)) {
    throw new ToolkitError('TARGET_REFUSED', `Cannot load into "${schema}.${table}": it is no table`)
  }
  const { rows } = await client.query<{ readonly name: string; readonly type: string }>(
    `SELECT attname AS name, pg_catalog.format_type(atttypid, atttypmod) AS type FROM pg_catalog.pg_attribute
WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped`,
    [relation.oid],
  )
  return {
    columns: new Map(rows.map(({ name, type }) => [name, type])),
    replaceable: relation.comment === REPLACEABLE,
  }
}

const definition = ({ name, type }: TargetColumn): string => `${ident(name)} ${type}`

const refuseOtherTypes = (
  schema: string,
  table: string,
  columns: readonly TargetColumn[],
  there: ReadonlyMap<string, string>,
): void => {
  for (const { name, type } of columns) {
    const other = there.get(name)
    if (other === undefined || other === type) continue
    throw new ToolkitError(
      'TARGET_REFUSED',
      `Cannot load column "${name}" into "${schema}.${table}": it is of type ${other}, expected ${type}`,
      { column: name, type: other, expected: type },
    )
  }
}

/** Makes a table ready for rows with these columns. @throws {ToolkitError} TARGET_REFUSED */
export const prepareTable = async (
  client: Client,
  schema: string,
  rows: Pick<TargetTable, 'name' | 'columns' | 'declared'>,
): Promise<TargetTable> => {
  checkNameLength('a table', rows.name)
  const target = qualified(schema, rows.name)
  const there = await tableThere(client, schema, rows.name)
  const fresh = there === null || !(await adapt(client, schema, rows, there))
  if (fresh) {
    await client.query(`CREATE TABLE ${target} (${rows.columns.map(definition).join(', ')})`)
    if (rows.declared) await comment(client, rows.declared, target, rows.columns)
    else await client.query(`COMMENT ON TABLE ${target} IS ${literal(REPLACEABLE)}`)
  }
  return { ...rows, target, fresh }
}

/** Makes a table that is there fit. @returns whether it stays; otherwise it was removed, to be made again */
const adapt = async (
  client: Client,
  schema: string,
  { name, columns, declared }: Pick<TargetTable, 'name' | 'columns' | 'declared'>,
  there: TableThere,
): Promise<boolean> => {
  const target = qualified(schema, name)
  if (declared === undefined) {
    if (!there.replaceable) throw notOurs(schema, name)
    const same =
      there.columns.size === columns.length &&
      columns.every((one) => there.columns.get(one.name) === one.type)
    if (!same) await client.query(`DROP TABLE ${target}`)
    return same
  }
  if (!declared.key.every((column) => there.columns.has(column))) throw notOurs(schema, name)
  refuseOtherTypes(schema, name, columns, there.columns)
  const further = columns.filter((column) => !there.columns.has(column.name))
  for (const column of further) await client.query(`ALTER TABLE ${target} ADD COLUMN ${definition(column)}`)
  if (further.length > 0) await comment(client, declared, target, further)
  return true
}

const notOurs = (schema: string, table: string): ToolkitError =>
  new ToolkitError(
    'TARGET_REFUSED',
    `Cannot load into "${schema}.${table}": the table holds something else, expected none of this name`,
  )

const comment = async (
  client: Client,
  table: Table,
  target: string,
  columns: readonly TargetColumn[],
): Promise<void> => {
  const names = columns.map(({ name }) => name)
  for (const statement of commentStatements(table, target, names)) await client.query(statement)
}

/** After the rows: an index is made of all of them at once in a fraction of the time. */
export const addKey = async (client: Client, { target, declared, fresh }: TargetTable): Promise<void> => {
  if (!fresh || declared === undefined) return
  await client.query(`ALTER TABLE ${target} ADD PRIMARY KEY (${declared.key.map(ident).join(', ')})`)
}
