import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { refuseAllButTables, wrongInPlace } from '../../../src/lake/duckdb/untrusted-database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { changeDatabase, hasTrace, macroInPlace, viewInPlace } from './spiked-database.ts'

const attached = async <T>(file: string, use: (session: Session) => Promise<T>): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2, threads: 1 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${file}' AS db (READ_ONLY)`)
    return await use(session)
  } finally {
    engine.close()
  }
}

const newFile = async (...statements: readonly string[]): Promise<string> => {
  const file = join(await temporaryFolder(), 'x.duckdb')
  await changeDatabase(file, 'CREATE TABLE plain ("default" INTEGER, value DOUBLE NOT NULL)', ...statements)
  return file
}

test.each([
  ['view', 'CREATE VIEW v AS SELECT 1 AS a', 'v'],
  ['macro', 'CREATE MACRO m(a) AS a + 1', 'm'],
  ['macro', 'CREATE MACRO t() AS TABLE SELECT 1 AS a', 't'],
  ['sequence', 'CREATE SEQUENCE s', 's'],
  ['index', 'CREATE INDEX i ON plain (value)', 'i'],
  ['column with an expression', 'CREATE TABLE e (a INTEGER, b AS (a + 1))', 'e'],
  ['column with an expression', 'CREATE TABLE e (a INTEGER DEFAULT (random()))', 'e'],
  ['column with an expression', 'CREATE TABLE e (a INTEGER CHECK (a > 0))', 'e'],
  ['view', 'CREATE SCHEMA other; CREATE VIEW other.w AS SELECT 1 AS a', 'w'],
])('a database with a %s is refused: %s', async (kind, sql, name) => {
  await attached(await newFile(sql), async (session) => {
    await expect(refuseAllButTables(session, 'db')).rejects.toMatchObject({
      code: 'LAKE_DAMAGED',
      message: `Cannot read the database file: it holds ${kind} "${name}", expected tables alone`,
    })
  })
})

test('a database of tables is not, whatever others are attached beside it', async () => {
  await attached(await newFile(), async (session) => {
    await session.run('CREATE VIEW memory.main.v AS SELECT 1 AS a')
    await refuseAllButTables(session, 'db')
  })
})

test('views and macros of others are left alone where they take the place of nothing', async () => {
  const trace = join(await temporaryFolder(), 'trace.json')
  const file = await newFile('CREATE VIEW v AS SELECT 1 AS a', 'CREATE MACRO m(a) AS a + 1')
  await attached(file, async (session) => {
    expect(await wrongInPlace(session, 'db', new Set(['plain']))).toBeUndefined()
    expect(await wrongInPlace(session, 'db', new Set(['v']))).toBe('"v" is a view, expected a table')
  })
  await changeDatabase(file, ...viewInPlace({ table: 'plain', trace }), macroInPlace('MAX', trace))
  await attached(file, async (session) => {
    expect(await wrongInPlace(session, 'db', new Set(['plain']))).toBe('"plain" is a view, expected a table')
    expect(await wrongInPlace(session, 'db', new Set(['v2']))).toBe(
      'macro "max" has the name of a function of DuckDB, expected another name',
    )
  })
  expect(hasTrace(trace)).toBe(false)
})
