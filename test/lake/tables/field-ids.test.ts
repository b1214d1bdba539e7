import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { type ColumnTypeTree, ident, literal, parseColumnType } from '../../../src/lake/duckdb/sql.ts'
import { fieldId, fieldIds, fieldPaths } from '../../../src/lake/tables/field-ids.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A column's path and those within it. */
const pathsOf = (path: string, type: ColumnTypeTree): string[] => {
  switch (type.kind) {
    case 'scalar':
      return [path]
    case 'list':
      return [path, ...pathsOf(`${path}.element`, type.element)]
    case 'struct':
      return [path, ...type.fields.flatMap((field) => pathsOf(`${path}.${field.name}`, field.type))]
  }
}

/**
 * How many ids each table had given out when this was last changed, and the hash of their paths. A new column adds to
 * the end of its table's list; then its line here says the new number and hash. Files everywhere carry the ids: a line
 * whose first part no longer hashes to what stood here before is wrong, not this test.
 */
const GIVEN_OUT: Readonly<Record<string, readonly [count: number, sha256: string]>> = {
  companies: [94, 'ec4029c61641dd77'],
  financials: [19, '14a58e4927f97264'],
  employees: [14, '1ac38d4618c7046a'],
  relations: [29, '34f053a4eebb452b'],
  relation_entities: [42, 'e8efdde49016562c'],
  ownerships: [38, '6446a5bd0aecddee'],
  roles: [21, '424e8415d0426d01'],
  line_items: [11, '92d130ee8435d781'],
}

test.each(TABLES)('every column of $name has an id, also within lists and structs', ({ name, columns }) => {
  const paths = columns.flatMap((column) => pathsOf(column.name, parseColumnType(column.type)))
  expect(paths.filter((path) => fieldId(name, path) === undefined)).toEqual([])
  expect([fieldId(name, 'load'), fieldId(name, 'version')]).toEqual([1, 2])
})

test.each(TABLES)('no id of $name is used twice', ({ name }) => {
  expect(new Set(fieldPaths(name)).size).toBe(fieldPaths(name).length)
})

test.each(TABLES)('no id of $name has moved', ({ name }) => {
  const [count = 0, hash] = GIVEN_OUT[name] ?? []
  expect(sha256Of(fieldPaths(name).slice(0, count).join(' ')).slice(0, 16), 'ids given out earlier').toBe(
    hash,
  )
  expect(fieldPaths(name), 'new ids: write their number and hash into GIVEN_OUT').toHaveLength(count)
})

test('fieldIds gives DuckDB the ids of lists and structs too', async () => {
  const path = `${await temporaryFolder()}/companies.parquet`
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  const session = await engine.connect()
  const [companies] = TABLES
  if (companies === undefined) throw new TypeError('No table')
  const values = companies.columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`)
  const ids = fieldIds(companies.name, companies.columns) ?? ''
  await session.copy(`SELECT ${values.join(', ')}`, path, { kind: 'parquet', fieldIds: ids })
  const rows = await session.rows(
    `SELECT name, field_id FROM parquet_schema(${literal(path)}) WHERE field_id IS NOT NULL`,
  )
  engine.close()
  // Partition columns stand in no file: the first two, and four at the end, behind which those of compactions are.
  const written = fieldPaths(companies.name).slice(2, -6)
  expect(rows.map(({ field_id }) => Number(field_id))).toEqual(written.map((_, at) => at + 3))
  expect(rows.map(({ name }) => name)).toEqual(written.map((one) => one.split('.').at(-1)))
})

test('fieldIds leaves out what has no id', () => {
  const columns = [
    { name: 'of_nobody', type: 'VARCHAR' },
    { name: 'keywords', type: 'BIGINT' },
    { name: 'linkedin', type: 'STRUCT("name" VARCHAR, "of_nobody" ENUM(\'a[]\', \'b,\'))' },
  ]
  expect(fieldIds('companies', columns)).toBe(
    '{"keywords": 44, "linkedin": {__duckdb_field_id: 68, "name": 69}}',
  )
  expect(fieldIds('companies', columns.slice(0, 1))).toBeUndefined()
  expect(fieldIds('no_table', columns)).toBeUndefined()
})
