import { cp, mkdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkDuckdb, checkDuckLake } from '../../src/doctor/check-machine.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { duckLakeFile, missingDuckLake } from '../support/ducklake.ts'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A session that looks for extensions in an own folder, and where in it the one for DuckLake would stand. */
const openSession = async (): Promise<{ readonly session: Session; readonly file: string }> => {
  const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  const extensions = await temporaryFolder()
  await session.run(`SET extension_directory = ${literal(extensions)}`)
  const [row] = await session.rows('SELECT version() AS version, platform FROM pragma_platform()')
  const folder = join(extensions, String(row?.version), String(row?.platform))
  await mkdir(folder, { recursive: true })
  return { session, file: join(folder, 'ducklake.duckdb_extension') }
}

const ABSENT = {
  about: 'ducklake',
  state: 'absent',
  says: 'DuckDB v1.5.5 has no ducklake here, with which it attaches a lake.ducklake; lake.duckdb needs none',
  mend: 'run INSTALL ducklake in DuckDB of this version',
}

test('checkDuckLake says what to do where the extension is not installed', async () => {
  const { session } = await openSession()
  expect(await checkDuckLake(session, 'v1.5.5')).toEqual(ABSENT)
})

test('checkDuckLake takes the extension of the extension folder, and no file that only has its name', async (context) => {
  needs(context, "DuckDB's ducklake", missingDuckLake())
  const { session, file } = await openSession()
  await cp(duckLakeFile(), file, { dereference: true })
  await truncate(file, 4096)
  expect(await checkDuckLake(session, 'v1.5.5')).toEqual(ABSENT)
  await cp(duckLakeFile(), file, { dereference: true })
  expect(await checkDuckLake(session, 'v1.5.5')).toEqual({
    about: 'ducklake',
    state: 'well',
    says: 'DuckDB attaches a lake.ducklake here',
  })
})

test('checkDuckdb never fails for want of ducklake', async () => {
  const found = (await checkDuckdb({})).find(({ about }) => about === 'ducklake')
  expect(['well', 'absent']).toContain(found?.state)
})
