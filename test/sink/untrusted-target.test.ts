/** A database file as a target that somebody else has prepared: what it holds is never run. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { changeDatabase, hasTrace, macroInPlace, viewInPlace } from '../lake/duckdb/spiked-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const records = fromRecords('crm', [{ BasicDetails: { InternalId: 1 } }])

const pathsIn = (folder: string) => {
  const [lake, file] = [join(folder, 'lake'), join(folder, 'x.duckdb')]
  return { folder, lake, file, sinks: [`duckdb:${file}`] }
}

let made: string
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'firmlake-'))
  const { lake, sinks } = pathsIn(made)
  await convert({ from: records, lake, sinks })
})
afterAll(() => rm(made, { recursive: true, force: true }))

/** A copy of a lake, and of the database to which its run was delivered. */
const delivered = async (): Promise<ReturnType<typeof pathsIn>> => {
  const folder = await temporaryFolder()
  await cp(made, folder, { recursive: true })
  return pathsIn(folder)
}

test.each([
  ['a table of the lake', 'companies', '"companies" is a view, expected a table'],
  ['the list of its runs', 'firmlake_loads', '"firmlake_loads" is a view, expected a table'],
  ['a function', '', 'macro "max" has the name of a function of DuckDB, expected another name'],
])(
  'a sink and an export refuse a file in which something stands in place of %s',
  async (_what, table, why) => {
    const { folder, lake, file, sinks } = await delivered()
    const trace = join(folder, 'trace.json')
    const spike = table === '' ? [macroInPlace('max', trace)] : viewInPlace({ table, trace })
    await changeDatabase(file, ...spike)
    const refused = { code: 'TARGET_REFUSED', message: expect.stringContaining(why) }
    await expect(convert({ from: records, lake, sinks, again: true })).rejects.toMatchObject(refused)
    await expect(exportTables({ lake, to: `duckdb:${file}` })).rejects.toMatchObject(refused)
    expect(hasTrace(trace)).toBe(false)
  },
)

test('views and macros of others under other names stay', async () => {
  const { lake, file, sinks } = await delivered()
  await changeDatabase(file, 'CREATE VIEW mine AS FROM companies', 'CREATE MACRO of_mine(a) AS a + 1')
  await convert({ from: records, lake, sinks, again: true })
  await changeDatabase(file, 'SELECT of_mine(internal_id) FROM mine')
})
