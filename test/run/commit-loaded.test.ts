/** The commit goes by what is stored: any process commits what another one has loaded, also several at once. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJournal } from '../../src/manifest/runs/journal.ts'
import { type SeenRun, seeRun } from '../../src/manifest/runs/run-lease.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import { commitLoaded, type LoadSummary } from '../../src/run/commit-loaded.ts'
import { withTools } from '../../src/run/run-tools.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, companyLine, companyLines, openBench, relationsLine } from './batch-bench.ts'

const seen = async (lake: string, run: string): Promise<SeenRun> => {
  const found = await seeRun(lake, run)
  if (found === null) throw new Error('there is no such run')
  return found
}

/** Commits a run by its id alone, as a process does that has loaded nothing of it and owns nothing. */
const commitOnly = async (lake: string, run: string, attempt?: string): Promise<LoadSummary> => {
  const { entries, result } = await readJournal(lake, run)
  if (result === undefined) throw new Error('its work is not done')
  const work = { entries, sources: result.sources }
  const options = {
    maxQuarantined: { kind: 'share', share: 0.5 },
    attempt,
  } as const
  return withTools(
    { run, scratch: await temporaryFolder() },
    { limits: {} },
    { lake, threads: 1 },
    async (tools) => commitLoaded(tools, await seen(lake, run), work, [], options),
  )
}

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

test('a run is committed by what is stored of it alone, with the same result as in one go', async () => {
  const [whole, parted] = [await benchWithFiles(), await benchWithFiles()]
  const { summary } = await whole.run(INPUTS, { ...OPTIONS, maxQuarantined: { kind: 'count', lines: 1 } })
  await expect(parted.run(INPUTS, OPTIONS)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const [run = ''] = await listRunIds(parted.lake)
  for (const name of INPUTS) await rm(join(parted.folder, name))
  const committed = await commitOnly(parted.lake, run)

  const shown = ({ partitions, skipped, excluded }: LoadSummary): unknown => ({
    ...{ skipped, excluded },
    partitions: partitions.map(({ source, counts, content, drift }) => ({ source, counts, content, drift })),
  })
  expect(committed.partitions.length).toBeGreaterThan(4)
  expect(committed.skipped).toEqual([{ source: 'twin.jsonl', reason: 'it is equal to "c.jsonl"' }])
  expect(committed.excluded).toMatchObject([{ source: 'bad.jsonl.br' }])
  expect(shown(committed)).toEqual(shown(summary))
  expect(committed.snapshot).toMatchObject({ snapshot: 1, run })
  expect(await parted.query('SELECT count(*) FROM companies')).toEqual([[63]])
  expect(await parted.query('SELECT count(*) FROM line_items')).toEqual(
    await whole.query('SELECT count(*) FROM line_items'),
  )
  expect((await parted.verify()).problems).toEqual([])
})

test('several commits of one run at once make one snapshot, and only its own files stay', async () => {
  const one = await benchWithFiles()
  await expect(one.run(INPUTS, OPTIONS)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const [run = ''] = await listRunIds(one.lake)
  const commits = await Promise.all(['a', 'b', 'c'].map((attempt) => commitOnly(one.lake, run, attempt)))
  expect(commits.map(({ snapshot }) => snapshot?.snapshot)).toEqual([1, 1, 1])
  expect(await commitOnly(one.lake, run, 'd')).toMatchObject({ snapshot: { snapshot: 1 } })
  expect(await readdir(join(one.lake, 'line_items', `load=${run}`))).toHaveLength(1)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[64]])
  expect((await one.verify()).problems).toEqual([])
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
