/** A run in steps that any process takes: planned once, worked on by several, committed by anyone. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { unloadedSources } from '../../src/engine/run-engine.ts'
import { sortUnfinished } from '../../src/jobs/resume.ts'
import { listQuarantine, quarantineFiles } from '../../src/kinds/quarantine.ts'
import { inLake, runPath, stagingPath } from '../../src/lake/files/layout.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { journalPath, readUnitWork, recordUnit, removeUnit } from '../../src/manifest/runs/journal.ts'
import { leaseRun } from '../../src/manifest/runs/run-lease.ts'
import { listRunIds, listRuns, removeRunFolder } from '../../src/manifest/runs/runs.ts'
import { markCommit, recordEnded, unmarkCommit } from '../../src/manifest/runs/shared-commits.ts'
import { readUnits, UNITS_FILE, unitsText } from '../../src/manifest/runs/units.ts'
import { cancelSharedRun, sharedRunStatus } from '../../src/shared-run/shared-run.ts'
import { resumeRuns } from '../jobs/resume/resume-runs.ts'
import { cutTo, filesOf, flipBit } from '../manifest/damage.ts'
import { DEAD } from '../manifest/small-lake.ts'
import { type Bench, companyLine, companyLines, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SMALL_LIMITS, type Steps, stepsOf } from './shared-bench.ts'

interface SharedBench extends Bench, Steps {}

const openShared = async (): Promise<SharedBench> => {
  const one = openBench(await temporaryFolder())
  return { ...one, ...stepsOf(one.folder, one.lake) }
}

/** A bench with files, and a plan over all of them. */
const planned = async (
  files: Readonly<Record<string, readonly string[]>>,
  options?: Parameters<Steps['plan']>[1],
): Promise<SharedBench & { readonly id: string }> => {
  const one = await openShared()
  for (const [name, lines] of Object.entries(files)) await one.write(name, lines)
  const { run } = await one.plan(Object.keys(files), options)
  return { ...one, id: run ?? '' }
}

const EACH_ITS_UNIT = { unitBytes: 1 } as const

test('a file is as of the latest stamp in all of it, whoever worked on the unit that has it', async () => {
  const one = await openShared()
  await one.write('c.jsonl', [...companyLines(99, 100), companyLine(199, {}, 20)])
  const { run, units } = await one.plan(['c.jsonl'], { unitBytes: 5000 })
  expect(units).toBeGreaterThan(3)
  // The unit with that stamp first, each by a process of its own.
  for (let unit = units - 1; unit >= 0; unit -= 1) await one.work(run ?? '', [unit])
  await one.commit(run ?? '')
  const instants = (await one.snapshot()).partitions.map(({ asOf }) => asOf)
  expect(instants).toEqual(instants.map(() => '2025-01-20T00:00:00.000Z'))
})

test('bad lines of a run in steps that was refused are listed, and so are the units that are done', async () => {
  const one = await planned(
    { 'a.jsonl': [companyLine(1), '{bad'], 'b.jsonl': [companyLine(2)] },
    EACH_ITS_UNIT,
  )
  const done = async (): Promise<unknown> =>
    (await listRuns(one.lake, { now: new Date() })).map(({ partitions, unitsDone }) => [
      partitions,
      unitsDone,
    ])
  await one.work(one.id, [0])
  expect(await done()).toEqual([[0, 1]])
  await one.work(one.id, [1])
  expect(await done()).toEqual([[0, 2]])
  await expect(one.commit(one.id)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const listed: unknown[] = []
  for await (const lines of listQuarantine(await quarantineFiles({ lake: one.lake, run: one.id })))
    listed.push(...lines.map(({ source, line, code }) => [source, line, code]))
  expect(listed).toEqual([['a.jsonl', 2, 'NOT_JSON']])
})

test('bad lines of a run that has ended are those of its snapshot, whatever a killed process has left of it', async () => {
  const one = await planned({ 'a.jsonl': [companyLine(1), '{bad'] })
  await one.work(one.id, [0])
  const kept = join(one.folder, 'kept')
  await cp(inLake(one.lake, runPath(one.id)), kept, { recursive: true })
  await one.commit(one.id, { maxQuarantined: { kind: 'count', lines: 1 } })
  const ofSnapshot = await quarantineFiles({ lake: one.lake })
  expect(ofSnapshot).toHaveLength(1)
  for (const left of ['plan.json', 'journals', 'staging']) {
    await mkdir(inLake(one.lake, runPath(one.id)), { recursive: true })
    await cp(kept, inLake(one.lake, runPath(one.id)), {
      recursive: true,
      filter: (path) => path === kept || path.startsWith(join(kept, left)),
    })
    expect(await quarantineFiles({ lake: one.lake, run: one.id }), left).toEqual(ofSnapshot)
    await removeRunFolder(one.lake, one.id)
  }
  // One that the lake does not hold.
  const other = await planned(
    { 'a.jsonl': [companyLine(1)], 'b.jsonl': [companyLine(2), '{bad'] },
    EACH_ITS_UNIT,
  )
  await other.work(other.id, [1])
  await removePlan(other)
  const listed = () => quarantineFiles({ lake: other.lake, run: other.id })
  await expect(listed()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await other.run(['a.jsonl'])
  await expect(listed()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('consecutive small files are one unit, a large one is ranges of its blocks', async () => {
  const one = await openShared()
  await one.write('a.jsonl', companyLines(2))
  await one.write('b.jsonl', companyLines(2, 10))
  await one.write('c.jsonl', companyLines(100, 100))
  await one.write('d.jsonl', companyLines(2, 20))
  const { run, units } = await one.plan(['a.jsonl', 'b.jsonl', 'c.jsonl', 'd.jsonl'], { unitBytes: 5000 })
  const stored = (await readUnits(one.lake, run ?? ''))?.units ?? []
  expect(stored).toHaveLength(units)
  expect(stored[0]?.sources.map(({ name, blocks }) => [name, blocks])).toEqual([
    ['a.jsonl', undefined],
    ['b.jsonl', undefined],
  ])
  const ranges = stored.slice(1, -1).flatMap(({ sources }) => sources)
  expect(ranges.length).toBeGreaterThan(3)
  expect(ranges.map(({ name, content }) => [name, content])).toEqual(
    ranges.map(() => ['c.jsonl', 'companies']),
  )
  expect(ranges.map(({ blocks }) => blocks?.from)).toEqual([
    0,
    ...ranges.slice(0, -1).map(({ blocks }) => blocks?.to),
  ])
  expect(ranges.at(-1)?.blocks?.to).toBe(ranges[0]?.blocks?.of)
  // Worked on from the last to the first.
  await one.work(run ?? '', stored.map((_, id) => id).reverse())
  await one.commit(run ?? '')
  const whole = openBench(await temporaryFolder())
  for (const [name, lines] of [['c.jsonl', companyLines(100, 100)]] as const) await whole.write(name, lines)
  await whole.run(['c.jsonl'], { limits: SMALL_LIMITS })
  const blocksOf = async (bench: Bench): Promise<unknown> =>
    (await bench.snapshot()).partitions.flatMap(({ source, counts }) =>
      source.name === 'c.jsonl' ? [[source.block, source.firstLine, source.offset, source.last, counts]] : [],
    )
  expect(await blocksOf(one)).toEqual(await blocksOf(whole))
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[106]])
})

test('of two attempts at a unit the first counts, and the other leaves nothing', async () => {
  const one = await planned({ 'a.jsonl': companyLines(100) })
  const both = await Promise.all([one.work(one.id, [0]), one.work(one.id, [0])])
  expect(both.flatMap(({ units }) => units.map(({ kind }) => kind)).sort()).toEqual(['done', 'lease-lost'])
  expect(await one.work(one.id, [0])).toMatchObject({ units: [{ kind: 'already-done' }] })
  const done = await readUnitWork(one.lake, one.id, 0)
  expect(await readdir(join(one.lake, 'companies', `load=${one.id}`))).toEqual(
    done?.entries.map(({ partition }) => `${partition.id}.${done.result.attempt}.parquet`),
  )
  await one.commit(one.id)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[100]])
})

test('a plan --again over files finds the run that was killed behind its commit, unless a file has changed', async () => {
  const one = await planned({ 'a.jsonl': companyLines(2) }, { again: true })
  await one.work(one.id, [0])
  const kept = join(one.folder, 'kept')
  await cp(inLake(one.lake, runPath(one.id)), kept, { recursive: true })
  await one.commit(one.id)
  await cp(kept, inLake(one.lake, runPath(one.id)), { recursive: true })
  expect(await one.plan(['a.jsonl'], { again: true })).toMatchObject({ run: one.id, existing: true })
  await one.write('a.jsonl', companyLines(2, 8))
  const { run, existing } = await one.plan(['a.jsonl'], { again: true })
  expect([run === one.id, existing]).toEqual([false, false])
})

test('a commit of a run that found nothing new can be repeated until gc has removed its trace', async () => {
  const one = await planned({ 'a.jsonl': companyLines(3) })
  // Another run loads the same file first.
  await one.write('b.jsonl', companyLines(1, 50))
  const { run: first } = await one.plan(['a.jsonl', 'b.jsonl'])
  expect(first).not.toBe(one.id)
  await one.work(first ?? '', { shard: { index: 0, of: 1 } })
  await one.commit(first ?? '')
  await one.work(one.id, [0])
  expect(await one.commit(one.id)).toMatchObject({ kind: 'committed', summary: { partitions: [] } })
  const again = { kind: 'already', run: one.id, snapshot: null }
  expect(await Promise.all([one.commit(one.id), one.commit(one.id)])).toEqual([again, again])
  await one.gc()
  expect(await one.commit(one.id)).toEqual(again)
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await listRunIds(one.lake)).toEqual([])
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000)
  await removeGarbage({ lake: one.lake, now: inTwoDays })
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
  await expect(one.commit(one.id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a commit before all units are done names the first that are not, and commits nothing', async () => {
  const one = await planned({ 'a.jsonl': companyLines(2), 'b.jsonl': companyLines(2, 9) }, EACH_ITS_UNIT)
  await one.work(one.id, [1])
  await expect(one.commit(one.id)).rejects.toMatchObject({
    code: 'RUN_INCOMPLETE',
    context: { open: 1, first: 0 },
  })
  expect(await sharedRunStatus(one.lake, one.id)).toMatchObject({
    ...{ snapshot: null, units: 2, done: 1, open: [0], records: 2 },
    phases: [{ first: 0, count: 2, done: 1 }],
  })
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
})

test('three commits at once make one snapshot, and one that comes later finds it', async () => {
  const one = await planned({ 'a.jsonl': companyLines(100) })
  await one.work(one.id, [0])
  await Promise.all([one.commit(one.id), one.commit(one.id), one.commit(one.id)])
  expect(await one.commit(one.id)).toEqual({ kind: 'already', run: one.id, snapshot: 1 })
  expect(await one.work(one.id, [0])).toEqual({ run: one.id, snapshot: 1, units: [] })
  expect(await sharedRunStatus(one.lake, one.id)).toMatchObject({ state: 'committed', snapshot: 1 })
  expect(await listRunIds(one.lake)).toEqual([])
  expect((await one.snapshot()).snapshot).toBe(1)
  await one.gc()
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a file that changed since the plan is refused', async () => {
  const one = await planned({ 'a.jsonl': companyLines(2) })
  await one.write('a.jsonl', companyLines(3))
  await expect(one.work(one.id, [0])).rejects.toMatchObject({ code: 'SOURCE_CHANGED' })
  await rm(join(one.folder, 'a.jsonl'))
  await expect(one.work(one.id, [0])).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})

test('the same plan again gives the run that is there, unless its files are others', async () => {
  const one = await planned({ 'a.jsonl': companyLines(2) })
  expect(await one.plan(['a.jsonl'])).toMatchObject({ run: one.id, existing: true })
  await one.write('a.jsonl', companyLines(3))
  const { run, existing } = await one.plan(['a.jsonl'])
  expect([run === one.id, existing]).toEqual([false, false])
})

test('what the lake holds and equal files are skipped, and a plan of nothing begins no run', async () => {
  const one = await openShared()
  await one.write('a.jsonl', companyLines(2))
  await one.write('twin.jsonl', companyLines(2))
  const first = await one.plan(['a.jsonl', 'twin.jsonl'])
  expect(first.skipped).toEqual([{ source: 'twin.jsonl', reason: 'it is equal to "a.jsonl"' }])
  await one.work(first.run ?? '', [0])
  await one.commit(first.run ?? '')
  expect(await one.plan(['a.jsonl', 'twin.jsonl'])).toMatchObject({ run: null, units: 0, phases: [] })
  expect((await one.plan(['a.jsonl'], { again: true })).run).not.toBeNull()
  await expect(one.plan(['-'])).rejects.toMatchObject({ code: 'USAGE' })
  expect(await listRunIds(one.lake)).toHaveLength(1)
})

test('a damaged file is left out where that was planned, and else fails its unit', async () => {
  for (const skipBadFiles of [true, false]) {
    const one = await openShared()
    await one.write('a.jsonl', companyLines(2))
    await one.write('bad.jsonl.br', Buffer.from('no Brotli'))
    const { run } = await one.plan(['a.jsonl', 'bad.jsonl.br'], { skipBadFiles })
    const work = one.work(run ?? '', [0])
    if (skipBadFiles) {
      await work
      const { summary } = { summary: undefined, ...(await one.commit(run ?? '')) }
      expect(summary?.excluded).toMatchObject([{ source: 'bad.jsonl.br' }])
    } else await expect(work).rejects.toMatchObject({ code: /DECODE|SOURCE/ })
  }
})

test('too many bad lines of all units refuse the commit, and a higher limit lets it pass', async () => {
  const one = await planned(
    { 'a.jsonl': ['{"bad', ...companyLines(2)], 'b.jsonl': [...companyLines(1, 9), '{"bad'] },
    EACH_ITS_UNIT,
  )
  await one.work(one.id, [0, 1])
  const limit = { kind: 'count', lines: 1 } as const
  await expect(one.commit(one.id, { maxQuarantined: limit })).rejects.toMatchObject({
    code: 'QUARANTINE_LIMIT',
  })
  await one.commit(one.id, { maxQuarantined: { kind: 'count', lines: 2 } })
  expect(await one.query('SELECT source, line FROM quarantine ORDER BY 1')).toEqual([
    ['a.jsonl', 1],
    ['b.jsonl', 2],
  ])
})

test('gc and other commands leave a run alone, until nobody has worked on it for a day', async () => {
  const one = await planned({ 'a.jsonl': companyLines(50), 'b.jsonl': companyLines(5, 90) }, EACH_ITS_UNIT)
  await one.work(one.id, [0])
  const { lake, id: run } = one
  expect(await one.gc()).toMatchObject({ runs: [], files: [], working: [run] })
  expect(await listRuns(lake, { now: new Date() })).toMatchObject([{ run, state: 'unknown', shared: true }])
  expect(await sortUnfinished(lake)).toMatchObject({ resumable: [], working: [{ run }] })
  await expect(resumeRuns({ lake, run })).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  // A convert of the very same does not take it over.
  await one.run(['a.jsonl', 'b.jsonl'], { limits: SMALL_LIMITS })
  expect(await listRunIds(lake)).toEqual([run])
  const later = new Date(Date.now() + 25 * 3_600_000)
  expect(await listRuns(lake, { now: later })).toMatchObject([{ run, state: 'gone' }])
  expect(await removeGarbage({ lake, now: later })).toMatchObject({ runs: [run] })
  await expect(one.work(run, [1])).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await expect(one.commit(run)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  expect((await filesOf(lake)).filter((path) => path.includes(run))).toEqual([])
})

test('a cancelled run is gone for its workers, and gc removes what it loaded', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await one.work(one.id, [0])
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  await expect(one.work(one.id, [0])).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await expect(cancelSharedRun(one.lake, one.id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await expect(one.commit(one.id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  await one.gc()
  expect((await filesOf(one.lake)).filter((path) => path.includes(one.id))).toEqual([])
})

test.each([
  ['of which a byte was changed', (path: string, bytes: number) => flipBit(path, bytes - 1, 0), 'changed'],
  ['that was cut', (path: string, bytes: number) => cutTo(path, bytes - 1), 'changed'],
  ['that is missing', (path: string) => rm(path), 'missing'],
])(
  'a commit refuses a file %s since it was loaded, and after a cancel the plan is a new run',
  async (_, damage, why) => {
    const one = await planned({ 'a.jsonl': companyLines(5), 'b.jsonl': companyLines(5, 9) }, EACH_ITS_UNIT)
    await one.work(one.id, [0, 1])
    const [file] = (await readUnitWork(one.lake, one.id, 1))?.entries[0]?.partition.files ?? []
    if (file === undefined) throw new TypeError('the unit has no file')
    await damage(inLake(one.lake, file.path), file.bytes)
    for (let again = 0; again < 2; again += 1)
      await expect(one.commit(one.id)).rejects.toMatchObject({
        code: 'RUN_NOT_RESUMABLE',
        message: expect.stringMatching(
          `"${file.path}".* ${why}.*; "firmlake run cancel" ends it, then plan it again`,
        ),
        context: { path: file.path },
      })
    const inputs = ['a.jsonl', 'b.jsonl']
    expect(await one.plan(inputs, EACH_ITS_UNIT)).toMatchObject({ run: one.id, existing: true })
    await cancelSharedRun(one.lake, one.id)
    const { run, existing } = await one.plan(inputs, EACH_ITS_UNIT)
    expect([existing, run === one.id]).toEqual([false, false])
    await one.work(run ?? '', [0, 1])
    expect(await one.commit(run ?? '')).toMatchObject({ kind: 'committed' })
    expect((await one.verify()).problems).toEqual([])
  },
)

/** As a kill, or a storage that fails, leaves a run between the two steps of its end. */
const removePlan = ({ lake, id }: { lake: string; id: string }): Promise<void> =>
  rm(join(inLake(lake, runPath(id)), 'plan.json'))

test('a cancel that was stopped halfway is seen, and the same again finishes it', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await one.work(one.id, [0])
  await removePlan(one)
  expect(await sharedRunStatus(one.lake, one.id)).toMatchObject({
    state: 'cancelled',
    snapshot: null,
    commits: 0,
  })
  for (const step of [() => one.work(one.id, [0]), () => one.commit(one.id)])
    await expect(step()).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: expect.stringContaining('"firmlake run cancel" removes what is left of it'),
    })
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  expect(await listRunIds(one.lake)).toEqual([])
  await expect(sharedRunStatus(one.lake, one.id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a run that was cancelled while it was committed stays until the commit ends, and says so', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await one.work(one.id, [0])
  await markCommit(one.lake, one.id, 'attempt')
  for (let again = 0; again < 2; again += 1) {
    expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
    expect(await sharedRunStatus(one.lake, one.id)).toMatchObject({ state: 'cancelled', commits: 1 })
  }
  await unmarkCommit(one.lake, one.id, 'attempt')
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  expect(await listRunIds(one.lake)).toEqual([])
})

test('a commit that found nothing new and was stopped before its folder was gone removes it when it is repeated', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await recordEnded(one.lake, one.id)
  await removePlan(one)
  const gone = { code: 'RUN_NOT_FOUND', message: expect.stringContaining('as it found nothing new') }
  await expect(sharedRunStatus(one.lake, one.id)).rejects.toMatchObject(gone)
  await expect(one.work(one.id, [0])).rejects.toMatchObject(gone)
  expect(await one.commit(one.id)).toEqual({ kind: 'already', run: one.id, snapshot: null })
  expect(await listRunIds(one.lake)).toEqual([])
})

test('a commit that found nothing new and was stopped before anything of its folder was gone is finished when it is repeated', async () => {
  const one = await planned({ 'a.jsonl': companyLines(3) })
  await one.write('b.jsonl', companyLines(1, 50))
  const { run: first } = await one.plan(['a.jsonl', 'b.jsonl'])
  for (const id of [first ?? '', one.id]) await one.work(id, { shard: { index: 0, of: 1 } })
  await one.commit(first ?? '')
  const kept = join(one.folder, 'kept')
  await cp(inLake(one.lake, runPath(one.id)), kept, { recursive: true })
  expect(await one.commit(one.id)).toMatchObject({ kind: 'committed', summary: { partitions: [] } })
  await cp(kept, inLake(one.lake, runPath(one.id)), { recursive: true })
  expect((await filesOf(one.lake)).filter((path) => path.includes(`load=${one.id}`))).toEqual([])
  expect(await one.commit(one.id)).toEqual({ kind: 'already', run: one.id, snapshot: null })
  expect(await listRunIds(one.lake)).toEqual([])
})

test('a commit that found nothing new is done although its folder cannot be removed', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await recordEnded(one.lake, one.id)
  const runs = inLake(one.lake, '_runs')
  await rename(runs, join(one.folder, 'elsewhere'))
  // Nothing is removed behind a link.
  await symlink(join(one.folder, 'elsewhere'), runs)
  expect(await one.commit(one.id)).toEqual({ kind: 'already', run: one.id, snapshot: null })
  expect(await listRunIds(one.lake)).toEqual([one.id])
})

test('a cancel of a run that ended removes its folder, waits for its commits, and finds no run behind that', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await recordEnded(one.lake, one.id)
  await removePlan(one)
  await markCommit(one.lake, one.id, 'attempt')
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  expect(await listRunIds(one.lake)).toEqual([one.id])
  await unmarkCommit(one.lake, one.id, 'attempt')
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  expect(await listRunIds(one.lake)).toEqual([])
  await expect(cancelSharedRun(one.lake, one.id)).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
    message: expect.stringContaining('as it found nothing new'),
  })
})

/** As a gc that was killed before it removed anything of a run which nobody had worked on for a day. */
const takenByGc = async ({ lake, id }: { lake: string; id: string }): Promise<void> => {
  await leaseRun(lake, id, { now: new Date(Date.now() + 2 * 86_400_000) }, DEAD)
}

test('a run that gc has taken over and lost is resumed by its command, and by resume', async () => {
  for (const isById of [false, true]) {
    const one = await planned({ 'a.jsonl': companyLines(3) })
    await takenByGc(one)
    if (isById) expect(await resumeRuns({ lake: one.lake, run: one.id })).toMatchObject([{ kind: 'loaded' }])
    else await one.run(['a.jsonl'], { limits: SMALL_LIMITS })
    expect((await one.snapshot()).run).toBe(one.id)
    expect(await one.query('SELECT count(*) FROM companies')).toEqual([[3]])
    expect(await listRunIds(one.lake)).toEqual([])
  }
})

test('of a run that is just being removed nothing is reported as left out: its commit is', async () => {
  const one = await planned({ 'a.jsonl': companyLines(3) })
  await one.work(one.id, [0])
  // Listed, and gone when it is read.
  const journal = inLake(one.lake, journalPath(one.id, 0))
  await rm(journal)
  await symlink(join(one.folder, 'nowhere'), journal)
  const nothing = { skipped: [], excluded: [] }
  expect(await unloadedSources({ lake: one.lake, run: one.id })).toEqual(nothing)
  await removeRunFolder(one.lake, one.id)
  expect(await unloadedSources({ lake: one.lake, run: one.id })).toEqual(nothing)
})

test.each(['plan.json', 'units.json'])('a run of which %s is damaged can be cancelled', async (name) => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await writeFile(join(inLake(one.lake, runPath(one.id)), name), '{}')
  await expect(sharedRunStatus(one.lake, one.id)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(await cancelSharedRun(one.lake, one.id)).toBeNull()
  expect(await listRunIds(one.lake)).toEqual([])
})

test('work and a commit that fail because their run is removed meanwhile say that it is gone', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5), 'b.jsonl': companyLines(5, 9) }, EACH_ITS_UNIT)
  const staging = inLake(one.lake, stagingPath(one.id))
  const onEvent = (): void => {
    rmSync(inLake(one.lake, runPath(one.id)), { recursive: true, force: true })
    // Nothing can be staged any more.
    mkdirSync(dirname(staging), { recursive: true })
    writeFileSync(staging, '')
  }
  await expect(one.work(one.id, [0], { onEvent })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  const other = await planned({ 'a.jsonl': companyLines(5) })
  await other.work(other.id, [0])
  const removed = { onEvent: () => rmSync(inLake(other.lake, runPath(other.id)), { recursive: true }) }
  await expect(other.commit(other.id, removed)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('a worker that is late writes nothing for good: what it left in a removed run goes with the next gc', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await one.work(one.id, [0])
  const done = await readUnitWork(one.lake, one.id, 0)
  const late = done && { ...done, result: { ...done.result, attempt: 'late' } }
  await one.commit(one.id)
  // As a worker that was killed right behind its journal.
  if (late) await recordUnit(one.lake, one.id, 0, late)
  expect(await readdir(inLake(one.lake, runPath(one.id)))).toEqual(['journals'])
  await one.gc()
  expect(await listRunIds(one.lake)).toEqual([])
  // As one that was not killed.
  if (late) await recordUnit(one.lake, one.id, 0, late)
  await removeUnit(one.lake, one.id, 0)
  await one.gc()
  expect(await listRunIds(one.lake)).toEqual([])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

/** Does something many times while workers write below a run's folder. */
const whileWriting = async ({ lake, id }: { lake: string; id: string }, what: () => Promise<unknown>) => {
  const over = new AbortController()
  const write = async (worker: number): Promise<void> => {
    const folder = join(inLake(lake, stagingPath(id)), `table-${worker}`)
    for (let at = 0; !over.signal.aborted; at += 1) {
      await mkdir(folder, { recursive: true }).catch(() => undefined)
      await writeFile(join(folder, `${at}`), '').catch(() => undefined)
    }
  }
  const writing = [0, 1, 2].map(write)
  try {
    for (let again = 0; again < 6; again += 1) await what()
  } finally {
    over.abort()
    await Promise.all(writing)
  }
}

test('a run is removed although workers still write below its folder', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await whileWriting(one, () => removeRunFolder(one.lake, one.id))
  await one.gc()
  expect(await listRunIds(one.lake)).toEqual([])
})

test('gc removes what is left of a committed run although workers still write below its folder', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  await one.work(one.id, [0])
  await one.commit(one.id)
  await whileWriting(one, () => one.gc())
  await one.gc()
  expect(await listRunIds(one.lake)).toEqual([])
})

test('a plan of another release is not worked on', async () => {
  const one = await planned({ 'a.jsonl': companyLines(5) })
  const units = await readUnits(one.lake, one.id)
  const text = units && unitsText({ ...units, tool: 'firmlake 0.0.1' })
  await writeFile(join(one.lake, '_runs', one.id, UNITS_FILE), text ?? '')
  await expect(one.work(one.id, [0])).rejects.toMatchObject({ code: 'RUN_OTHER_RELEASE' })
  await expect(one.commit(one.id)).rejects.toMatchObject({ code: 'RUN_OTHER_RELEASE' })
})
