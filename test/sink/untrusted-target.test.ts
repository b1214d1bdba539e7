/** A database file as a target that somebody else has prepared: what it holds is never run. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { changeDatabase, hasTrace, macroInPlace, viewInPlace } from '../lake/duckdb/spiked-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const records = fromRecords('crm', [{ BasicDetails: { InternalId: 1 } }])

test.each([
  ['a table of the lake', 'companies', '"companies" is a view, expected a table'],
  ['the list of its runs', 'firmlake_loads', '"firmlake_loads" is a view, expected a table'],
  ['a function', '', 'macro "max" has the name of a function of DuckDB, expected another name'],
])(
  'a sink and an export refuse a file in which something stands in place of %s',
  async (_what, table, why) => {
    const folder = await temporaryFolder()
    const [lake, file, trace] = [join(folder, 'lake'), join(folder, 'x.duckdb'), join(folder, 'trace.json')]
    const sinks = [`duckdb:${file}`]
    await convert({ from: records, lake, sinks })
    const spike = table === '' ? [macroInPlace('max', trace)] : viewInPlace({ table, trace })
    await changeDatabase(file, ...spike)
    const refused = { code: 'TARGET_REFUSED', message: expect.stringContaining(why) }
    await expect(convert({ from: records, lake, sinks, again: true })).rejects.toMatchObject(refused)
    await expect(exportTables({ lake, to: `duckdb:${file}` })).rejects.toMatchObject(refused)
    expect(hasTrace(trace)).toBe(false)
  },
)

test('views and macros of others under other names stay', async () => {
  const folder = await temporaryFolder()
  const [lake, file] = [join(folder, 'lake'), join(folder, 'x.duckdb')]
  const sinks = [`duckdb:${file}`]
  await convert({ from: records, lake, sinks })
  await changeDatabase(file, 'CREATE VIEW mine AS FROM companies', 'CREATE MACRO of_mine(a) AS a + 1')
  await convert({ from: records, lake, sinks, again: true })
  await changeDatabase(file, 'SELECT of_mine(internal_id) FROM mine')
})
