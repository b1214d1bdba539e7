/** The rows of a catalog, asked as any DuckDB does. */

import { join } from 'node:path'
import { convert } from '../../../src/jobs/convert.ts'
import { Engine, type Row, type Session } from '../../../src/lake/duckdb/engine.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export const load = (lake: string, ...records: readonly object[]) =>
  convert({ from: fromRecords('crm', records), lake, again: true })

export const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')

export const inCatalog = async <T>(lake: string, use: (session: Session) => Promise<T>): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${join(lake, 'lake.ducklake')}' AS catalog (READ_ONLY); USE catalog`)
    return await use(session)
  } finally {
    engine.close()
  }
}

export const ask = (lake: string, sql: string): Promise<Row[]> =>
  inCatalog(lake, (session) => session.rows(sql))

/** The one file of superseded rows of a table: which version of company 1 it deletes is said by the rows alone. */
export const listedDeletes = async (lake: string): Promise<readonly string[]> =>
  (
    await ask(
      lake,
      `SELECT d.path FROM ducklake_delete_file AS d JOIN ducklake_data_file AS f USING (data_file_id)
WHERE f.path LIKE 'companies/%' ORDER BY f.begin_snapshot`,
    )
  ).map(({ path }) => join(lake, String(path)))
