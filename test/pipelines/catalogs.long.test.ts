/** `lake.ducklake` and `lake.duckdb` over commands that commit several times: how often they are written, and what they name meanwhile. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readSettings } from '../../src/config/read-settings.ts'
import { convert } from '../../src/jobs/convert.ts'
import { gc } from '../../src/jobs/gc.ts'
import { Engine, type Row } from '../../src/lake/duckdb/engine.ts'
import { nightly } from '../../src/nightly/nightly.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { resumeRuns } from '../jobs/resume/resume-runs.ts'
import { filesOf } from '../manifest/damage.ts'
import { companyLine, companyLines, openBench } from '../run/batch-bench.ts'
import { lengthEmbedder, MEMORY_BYTES } from '../server/serving-index/served-lake.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { serve, TOKEN } from './nights.ts'

const CATALOGS = ['lake.ducklake', 'lake.duckdb'] as const
const MERGE = '[compact]\npartitions = 2\n'

/** Loads of every kind from a service. */
const loadsOf = (url: string): string => `
[service]
url = ${JSON.stringify(url)}
token_env = "FIRMLAKE_TOKEN"
max_requests_per_second = 500
[[pull]]
name = "owners"
content = "relations"
search = { InternalId = [1, 4] }
[[sync]]
name = "companies"
search = { CountryCode = ["SE"] }
[[batch_files]]
name = "batches"
`

/** A service with batch files. @returns its address */
const serveBatches = async (folder: string): Promise<string> => {
  const server = await serve(folder, '2025-03-01T00:00:00')
  onTestFinished(() => server.close())
  const lake = join(folder, 'lake')
  const index = await currentIndex({ lake, memoryBytes: MEMORY_BYTES, embedder: lengthEmbedder })
  await makeBatchFiles({ lake, index })
  await index.close()
  return server.address
}

/** A lake that is loaded from files, and nights by these settings more. */
const openNights = async (more: string) => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  const config = join(folder, 'firmlake.toml')
  const files = '[[files]]\nname = "own"\nfrom = ["inbox/*.jsonl"]\n'
  const text = `lake = ${JSON.stringify(lake)}\n${files}${more}`
  await writeFile(config, text, { mode: 0o644 })
  const { settings } = readSettings(text, config, folder)
  const night = async (): Promise<readonly string[]> => {
    const states: string[] = []
    await nightly({
      ...{ settings, env: { FIRMLAKE_TOKEN: TOKEN }, signal: new AbortController().signal },
      report: () => undefined,
      onPart: (event) => {
        if (event.kind === 'ended') states.push(`${event.part.name} ${event.part.state}`)
      },
    })
    return states
  }
  /** Another file in the inbox. */
  const deliver = (id: number): Promise<Buffer> => write(`inbox/${id}.jsonl`, [companyLine(id)])
  return { ...{ folder, lake, config, night, deliver } }
}

/** How often each catalog is put into its place from now on. */
const countWrites = (lake: string): (() => readonly number[]) => {
  const replace = vi.spyOn(storageOf(lake), 'replace')
  onTestFinished(() => replace.mockRestore())
  return () => {
    const paths = replace.mock.calls.map(([path]) => path)
    replace.mockClear()
    return CATALOGS.map((name) => paths.filter((path) => path === name).length)
  }
}

/** A catalog is asked without its extension: as the tables that it is made of. */
const ask = async (file: string, sql: string): Promise<readonly Row[]> => {
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${file}' AS lake (READ_ONLY); USE lake`)
    return await session.rows(sql)
  } finally {
    engine.close()
  }
}

const namedIn = async (file: string): Promise<readonly string[]> =>
  (await ask(file, 'SELECT DISTINCT path FROM ducklake_data_file')).map(({ path }) => String(path))

/** What a catalog names that is not in its lake. */
const missingOf = async (lake: string): Promise<readonly string[]> => {
  const files = new Set(await filesOf(lake))
  return (await namedIn(join(lake, 'lake.ducklake'))).filter((path) => !files.has(path))
}

/** The snapshots that the catalogs show, and those that the manifest has. */
const shownIn = async (lake: string) => {
  const manifest = (await readdir(join(lake, '_manifest'))).flatMap(
    (name) => /^0*(\d+)\.json$/.exec(name)?.[1] ?? [],
  )
  const sql = 'SELECT snapshot_id::INTEGER AS n FROM ducklake_snapshot ORDER BY 1'
  const catalog = (await ask(join(lake, 'lake.ducklake'), sql)).map(({ n }) => Number(n))
  const macro = `SELECT macro_definition::INTEGER AS n FROM duckdb_functions() WHERE function_name = 'shown_snapshot'`
  const [views] = await ask(join(lake, 'lake.duckdb'), macro)
  return { manifest: manifest.map(Number).sort((a, b) => a - b), catalog, views: views?.n }
}

const shows = (...numbers: readonly number[]) => ({
  ...{ manifest: numbers, catalog: numbers, views: numbers.at(-1) },
})

test('a night with loads, a compaction and a gc writes each catalog once, and removes nothing that it names', async () => {
  const { lake, folder, night, deliver } = await openNights(
    `${loadsOf(await serveBatches(await temporaryFolder()))}${MERGE}[gc]\nkeep = 2\n`,
  )
  await deliver(900)
  const written = countWrites(lake)
  expect(await night()).toEqual(
    ['owners', 'companies', 'batches', 'own', 'compact'].map((name) => `${name} done`).concat('gc nothing'),
  )
  expect(written()).toEqual([1, 1])
  expect(await shownIn(lake)).toEqual(shows(1, 2))
  await deliver(901)
  const { remove } = storageOf(lake)
  /** The catalogs that readers found while something was removed, with its paths. */
  const moments: { readonly file: string; readonly paths: readonly string[] }[] = []
  const removing = vi.spyOn(storageOf(lake), 'remove').mockImplementation(async (paths) => {
    const file = join(folder, `seen-${moments.length}.ducklake`)
    await copyFile(join(lake, 'lake.ducklake'), file)
    moments.push({ file, paths })
    return remove(paths)
  })
  onTestFinished(() => removing.mockRestore())
  expect((await night()).slice(3)).toEqual(['own done', 'compact done', 'gc done'])
  expect(written()).toEqual([1, 1])
  expect(await shownIn(lake)).toEqual(shows(3, 4))
  const removed = moments.flatMap(({ paths }) => paths).filter((path) => path.startsWith('companies/'))
  expect(removed.length).toBeGreaterThan(0)
  for (const { file, paths } of moments) {
    const named = new Set(await namedIn(file))
    expect(paths.filter((path) => named.has(path))).toEqual([])
  }
  expect(await missingOf(lake)).toEqual([])
})

test('a night without a compaction or a gc writes the catalogs behind its loads', async () => {
  const { lake, night, deliver } = await openNights('[check]\nmin_companies = 1\ndata = false\n')
  await deliver(900)
  const written = countWrites(lake)
  expect((await night()).at(-1)).toBe('check done')
  expect(written()).toEqual([1, 1])
  expect(await night()).toContain('own nothing')
  expect(written()).toEqual([0, 0])
  expect(await shownIn(lake)).toEqual(shows(1))
})

test('a night that is killed between its commits leaves catalogs whose files are all there, until the next commit or gc', async () => {
  for (const next of ['commit', 'gc'] as const) {
    const { lake, folder, config, night, deliver } = await openNights(MERGE)
    for (const id of [900, 901]) {
      await deliver(id)
      await night()
    }
    await deliver(902)
    const child = spawn(process.execPath, [MAIN, 'nightly', '--config', config], {
      ...{ cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
      env: { ...process.env, FIRMLAKE_TOKEN: TOKEN },
    })
    createInterface(child.stderr).on('line', (line) => {
      if (line === 'compact begins') child.kill('SIGKILL')
    })
    expect(await once(child, 'close')).toEqual([null, 'SIGKILL'])
    expect(await shownIn(lake)).toEqual({ manifest: [1, 2, 3, 4], catalog: [1, 2, 3], views: 3 })
    expect(await missingOf(lake)).toEqual([])
    if (next === 'gc') await gc({ lake, keep: 1 })
    else await convert({ from: fromRecords('crm', [JSON.parse(companyLine(903))]), lake })
    expect(await shownIn(lake)).toEqual(next === 'commit' ? shows(1, 2, 3, 4, 5) : shows(4))
    expect(await missingOf(lake)).toEqual([])
  }
})

test('resume writes the catalogs once for all runs', async () => {
  const { lake, folder, write } = openBench(await temporaryFolder())
  await write('a.jsonl', companyLines(2))
  await convert({ from: join(folder, 'a.jsonl'), lake })
  for (const name of ['b', 'c']) {
    await write(`${name}.jsonl`, [companyLine(name.charCodeAt(0)), '{bad'])
    const refused = convert({ from: join(folder, `${name}.jsonl`), lake, maxQuarantined: 0 })
    await expect(refused).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  }
  const written = countWrites(lake)
  const loaded = await resumeRuns({ lake, maxQuarantined: { kind: 'count', lines: 1 } })
  expect(loaded.map(({ kind }) => kind)).toEqual(['loaded', 'loaded'])
  expect(written()).toEqual([1, 1])
  expect(await shownIn(lake)).toEqual(shows(1, 2, 3))
})
