/** Folders whose names mean something to DuckDB, a shell or an address. */

import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { SAMPLE, SAMPLE_COMPANIES } from './run-cli.ts'

let temporary = ''
let folder = ''
let lake = ''

/** A backup beside the lake, with the same files in it, that the lake's path as a pattern would match too. */
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'firmlake-'))
  const above = join(temporary, 'country_code=ZZ')
  folder = join(above, `a b'c"d#e%20f*g[h]i?j;ü中`)
  lake = join(folder, 'lake')
  await mkdir(folder, { recursive: true })
  await runCommandJson(['convert', SAMPLE_COMPANIES, `${SAMPLE}/relations-0001.jsonl.br`, '--lake', lake])
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake, '--again'])
  for (const name of ['fXghi_j', 'fXg[h]i?j', 'f*ghi_j'])
    await cp(folder, join(above, `a b'c"d#e%20${name};ü中`), { recursive: true })
})
afterAll(() => rm(temporary, { recursive: true, force: true }))

const COUNTED = 'SELECT count(*) AS rows, count(DISTINCT country_code) AS countries FROM'
const counts = async (view: string): Promise<unknown> =>
  (await runCommandJson<readonly unknown[]>(['query', '--lake', lake, `${COUNTED} ${view}`]))[0]

const ofFile = async (file: string, sql: string): Promise<unknown> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH ${literal(file)} AS db (READ_ONLY)`)
    return (await session.rows(sql))[0]
  } finally {
    engine.close()
  }
}

test('query reads the files of the lake alone, and no columns from names of folders', async () => {
  expect(await counts('companies')).toEqual({ rows: 300, countries: 12 })
  expect(await counts('companies_history')).toEqual({ rows: 600, countries: 12 })
  expect(await counts('quality_scale')).toMatchObject({ countries: expect.any(Number) })
  const twice = `WITH one AS NOT MATERIALIZED (FROM companies)
SELECT count(*) AS rows FROM one JOIN one AS other USING (internal_id)`
  expect(await runCommandJson(['query', '--lake', lake, twice])).toEqual([{ rows: 300 }])
})

test('other DuckDB reads the same from lake.duckdb', async () => {
  const found = await ofFile(join(lake, 'lake.duckdb'), `${COUNTED} db.companies_history`)
  expect(found).toEqual({ rows: '600', countries: '12' })
})

test('a DuckDB file as the target of exports and runs is made and filled again', async () => {
  const [file, sink] = [join(folder, 'export.duckdb'), join(folder, 'sink.duckdb')]
  for (const _ of [1, 2]) await runCommandJson(['export', '--lake', lake, '--to', file])
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake, '--sink', sink])
  const again = ['convert', SAMPLE_COMPANIES, '--lake', lake, '--again', '--sink', sink]
  await runCommandJson(again)
  for (const one of [file, sink])
    expect(await ofFile(one, `${COUNTED} db.companies`)).toEqual({ rows: '300', countries: '12' })
  expect((await readdir(folder)).sort()).toEqual(['export.duckdb', 'lake', 'sink.duckdb'])
})

test.each(['csv', 'jsonl', 'parquet'])('folders of %s files are filled by exports and runs', async (kind) => {
  const [files, sink] = [join(folder, 'files', kind), join(folder, 'runs', kind)]
  await runCommandJson(['export', '--lake', lake, '--to', `${kind}:${files}`])
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake, '--sink', `${kind}:${sink}`])
  expect(await readdir(files)).toContain(`companies.${kind}`)
  expect((await readdir(join(sink, 'companies'))).length).toBeGreaterThan(1)
})

test('what rewrites, copies, publishes and serves a lake works on it', async () => {
  const [first] = await runCommandJson<readonly { readonly id: number }[]>([
    ...['query', '--lake', lake, 'SELECT min(internal_id) AS id FROM companies'],
  ])
  const works: readonly (readonly string[])[] = [
    ['diff', '--lake', lake, '--from', '1', '--to', '2'],
    ['publish', 'delta', '--lake', lake],
    ['report', '--lake', lake, '--to', join(folder, 'report.html')],
    ['batches', 'make', '--lake', lake],
    ['copy', lake, join(folder, 'copy')],
    ['forget', '--lake', lake, '--company', String(first?.id)],
    ['compact', '--lake', lake],
    ['publish', 'iceberg', '--lake', lake],
    ['gc', '--lake', lake, '--keep', '1'],
    ['records', '--lake', lake],
    ['verify', '--lake', lake],
  ]
  for (const args of works) {
    const { code, stderr } = await runCommand(args)
    expect([args[0], code, code === 0 ? '' : stderr]).toEqual([args[0], 0, ''])
  }
  expect(await counts('companies')).toMatchObject({ rows: 299 })
}, 120_000)
