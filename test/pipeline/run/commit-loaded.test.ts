/** The commit goes by what is stored: whoever holds the lease commits what another process has loaded. */

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { inLake, runPath } from '../../../src/lake/lake/layout.ts'
import { openLoader } from '../../../src/load/loader.ts'
import { listRunIds } from '../../../src/manifest/runs.ts'
import { commitLoaded, type LoadSummary } from '../../../src/pipeline/run/commit-loaded.ts'
import { parseQuarantineLimit } from '../../../src/pipeline/run/quarantine-limit.ts'
import { withResumedRun } from '../../../src/pipeline/run/with-run.ts'
import { parquetLake } from '../../../src/sink/parquet-lake.ts'
import { makeFolder } from '../../../src/support/durable-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Bench, companyLine, companyLines, openBench, relationsLine } from '../batch-bench.ts'

/** Commits a run with nothing but its lease, as a process does that has loaded nothing of it. */
const commitOnly = (lake: string, run: string): Promise<LoadSummary> =>
  withResumedRun(lake, run, new Date(), async (lease) => {
    const spoolFolder = inLake(lake, `${runPath(run)}/spool`)
    await makeFolder(spoolFolder, { within: lake })
    const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
    try {
      const loader = await openLoader(engine, { spoolFolder })
      return await commitLoaded(
        { loader, sink: await parquetLake({ lake }).open(run) },
        {
          ...{ lease, pipeline: 'convert', tool: 'test 1', limit: parseQuarantineLimit('50%') },
          ...{ now: () => new Date(), random: randomBytes },
        },
      )
    } finally {
      engine.close()
    }
  })

const INPUTS = ['a.jsonl', 'b.jsonl', 'c.jsonl', 'twin.jsonl', 'bad.jsonl.br']

/** Files of every fate: of several blocks, relations, quarantined lines, a twin, a damaged one. */
const benchWithFiles = async (): Promise<Bench> => {
  const one = openBench(await temporaryFolder())
  const twin = companyLines(3, 500)
  await one.write('a.jsonl', [...companyLines(60), companyLine(1, { Strange: 1 })])
  await one.write('b.jsonl', [relationsLine(1), relationsLine(2)])
  await one.write('c.jsonl', [...twin, '{"bad'])
  await one.write('twin.jsonl', [...twin, '{"bad'])
  await one.write('bad.jsonl.br', Buffer.from('no Brotli'))
  return one
}
const OPTIONS = { limits: { blockBytes: 4000 }, skipBadFiles: true, threads: 2 } as const

test('a run is committed by its lease and its journal alone, with the same result as in one go', async () => {
  const [whole, parted] = [await benchWithFiles(), await benchWithFiles()]
  const { summary } = await whole.run(INPUTS, { ...OPTIONS, limit: { kind: 'count', lines: 1 } })
  await expect(parted.run(INPUTS, OPTIONS)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const [run = ''] = await listRunIds(parted.lake)
  for (const name of INPUTS) await rm(join(parted.folder, name))
  const committed = await commitOnly(parted.lake, run)

  const shown = ({ partitions, skipped, leftOut }: LoadSummary): unknown => ({
    ...{ skipped, leftOut },
    partitions: partitions.map(({ source, counts, content, drift }) => ({ source, counts, content, drift })),
  })
  expect(committed.partitions.length).toBeGreaterThan(4)
  expect(committed.skipped).toEqual([{ source: 'twin.jsonl', reason: 'it is equal to "c.jsonl"' }])
  expect(committed.leftOut).toMatchObject([{ source: 'bad.jsonl.br' }])
  expect(shown(committed)).toEqual(shown(summary))
  expect(committed.snapshot).toMatchObject({ snapshot: 1, run })
  expect(await parted.query('SELECT count(*) FROM companies')).toEqual([[63]])
  expect(await parted.query('SELECT count(*) FROM line_items')).toEqual(
    await whole.query('SELECT count(*) FROM line_items'),
  )
  expect((await parted.verify()).problems).toEqual([])
  expect(await listRunIds(parted.lake)).toEqual([])
})

test('a run whose work was cut off cannot be committed', async () => {
  const one = await benchWithFiles()
  const stop = new AbortController()
  const cut = one.run(INPUTS, {
    ...OPTIONS,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind === 'progress' && event.progress.records > 20) stop.abort()
    },
  })
  await expect(cut).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await listRunIds(one.lake)
  await expect(commitOnly(one.lake, run)).rejects.toThrow('its work is not done')
  expect(await listRunIds(one.lake)).toEqual([run])
})
