import { writeFileSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommitRule, withWritten } from '../../src/commit/commit-rule.ts'
import { inLake, loadPath, RUNS_FOLDER, recordPath, snapshotPath } from '../../src/lake/files/layout.ts'
import { NO_TOTALS } from '../../src/manifest/form/totals.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readJournal } from '../../src/manifest/runs/journal.ts'
import { leaseRun } from '../../src/manifest/runs/run-lease.ts'
import { listRuns, removeRun } from '../../src/manifest/runs/runs.ts'
import type { SnapshotRoot } from '../../src/manifest/snapshots/snapshot-root.ts'
import { rootToText } from '../../src/manifest/snapshots/snapshot-text.ts'
import {
  createSnapshot,
  listSnapshots,
  readRoot,
  readSnapshot,
} from '../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { filesOf } from '../manifest/damage.ts'
import {
  commitStaged,
  countLines,
  deadRun,
  loadSources,
  NOW,
  placeStaged,
  requestOf,
  type Staged,
  stagedPath,
  stageRun,
} from '../manifest/small-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const expectWhole = async (lake: string): Promise<void> => {
  const { problems, notes } = await verifyLake({ lake, countRows: countLines })
  expect({ problems, notes }).toEqual({ problems: [], notes: [] })
}

const sourcesOf = async (lake: string): Promise<string[]> =>
  (await readSnapshot(lake)).partitions.map(({ source }) => source.name)

test('commitPartitions shows all files of a run at once', async () => {
  const lake = await temporaryFolder()
  const outcome = await loadSources(lake, ['a', 'b'])
  expect(outcome).toMatchObject({ kind: 'committed', dropped: [], snapshot: { snapshot: 1, parent: null } })
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl'])
  // Parts: one with the partitions, one with the file of the run.
  const part = expect.stringMatching(/^_manifest\/parts\/[-0-9A-Za-z]+\.jsonl$/)
  expect((await filesOf(lake)).filter((path) => path.startsWith('_'))).toEqual([
    '_manifest/00000001.json',
    '_manifest/00000001.sha256',
    '_manifest/lake-id.json',
    part,
    part,
  ])
  await expectWhole(lake)
})

test('commitPartitions keeps the partitions of earlier commits before its own', async () => {
  const lake = await temporaryFolder()
  for (const source of ['a', 'b', 'c']) await loadSources(lake, [source])
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl', 'c.jsonl'])
  await expectWhole(lake)
})

test('commitPartitions lands every one of many runs at once in one process', async () => {
  const lake = await temporaryFolder()
  const sources = Array.from({ length: 8 }, (_, n) => `s${n}`)
  await Promise.all(sources.map((source) => loadSources(lake, [source])))
  expect((await sourcesOf(lake)).sort()).toEqual(sources.map((source) => `${source}.jsonl`).sort())
  expect(await listSnapshots(lake)).toEqual(sources.map((_, n) => n + 1))
  await expectWhole(lake)
})

test('commitPartitions gives up with COMMIT_CONFLICT when others are always first', async () => {
  const lake = await temporaryFolder()
  const staged = await stageRun(lake, ['a'])
  let others = 0
  // The clock is read after the newest snapshot and before the next is created: there the others get in.
  const now = () => {
    others += 1
    const parent = others === 1 ? null : others - 1
    const other = { snapshot: others, parent, run: 'another', pipeline: '', tool: '', time: '' }
    const lists = { partitions: [], files: [], pulls: [], merged: [], checks: [] }
    const text = rootToText({ ...other, totals: NO_TOTALS, nextVersion: 1, lists, versions: [] })
    writeFileSync(inLake(lake, snapshotPath(others)), text)
    return NOW
  }
  await expect(commitStaged(staged, { now, maxAttempts: 5 })).rejects.toMatchObject({
    code: 'COMMIT_CONFLICT',
    context: { run: staged.lease.run, tries: 5 },
  })
  expect(await listSnapshots(lake)).toEqual([1, 2, 3, 4, 5])
  expect(await commitStaged(staged)).toMatchObject({ kind: 'committed', snapshot: { snapshot: 6 } })
})

test('commitPartitions starts again where gc removed the snapshot that it builds on', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const staged = await stageRun(lake, ['c'])
  const seen: (number | undefined)[] = []
  const look = async (newest: SnapshotRoot | null) => {
    seen.push(newest?.snapshot)
    if (seen.length > 1) return undefined
    await loadSources(lake, ['b'])
    await removeGarbage({ lake, keep: 1, now: NOW })
    return undefined
  }
  expect(await commitStaged(staged, { rules: [{ look }] })).toMatchObject({
    kind: 'committed',
    snapshot: { snapshot: 3 },
  })
  await removeRun(staged.lease)
  expect(seen).toEqual([1, 2])
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl', 'c.jsonl'])
  await expectWhole(lake)
})

test('partitions that a rule writes stand behind the others, and those of a lost attempt go with it', async () => {
  const lake = await temporaryFolder()
  const staged = await stageRun(lake, ['a'])
  const { run } = staged.lease
  const [loaded] = requestOf(staged).partitions
  if (!loaded) throw new Error('No partition')
  const folder = loadPath('companies', run)
  let attempts = 0
  const rule: CommitRule = {
    add: async (next) => {
      attempts += 1
      const path = `${folder}/rule-${attempts}.parquet`
      await writeFile(inLake(lake, path), 'one\n')
      if (attempts === 1) await loadSources(lake, ['b'])
      const file = { table: 'companies', path, rows: 1, bytes: 4, sha256: sha256Of('one\n') }
      const counts = { lines: 1, records: 1, quarantined: 0, rows: { companies: 1 } }
      const source = { ...loaded.source, name: 'rule', sha256: sha256Of('rule') }
      const written = { ...loaded, id: 'rule-0', source, counts, files: [file] }
      return withWritten({ lake, run, sink: { commit: async () => undefined } }, next, [written])
    },
  }
  expect(await commitStaged(staged, { rules: [rule] })).toMatchObject({ snapshot: { snapshot: 2 } })
  await removeRun(staged.lease)
  expect(await sourcesOf(lake)).toEqual(['b.jsonl', 'a.jsonl', 'rule'])
  expect((await readdir(inLake(lake, folder))).sort()).toEqual(['a-0.parquet', 'rule-2.parquet'])
  await expectWhole(lake)
})

test('commitPartitions drops a source that another run has loaded, with its files', async () => {
  const lake = await temporaryFolder()
  const staged = await stageRun(lake, ['a', 'b'])
  await loadSources(lake, ['a'])
  const outcome = await commitStaged(staged)
  expect(outcome).toMatchObject({ kind: 'committed', dropped: [{ id: 'a-0' }], snapshot: { snapshot: 2 } })
  await removeRun(staged.lease)
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl'])
  expect((await filesOf(lake)).filter((path) => path.includes('/a-0'))).toHaveLength(2)
  await expectWhole(lake)
})

test('commitPartitions removes files that an earlier try had published before it lost', async () => {
  const lake = await temporaryFolder()
  const staged = await stageRun(lake, ['a'])
  await placeStaged(staged)
  await loadSources(lake, ['a'])
  const before = await filesOf(lake)
  expect(await commitStaged(staged)).toMatchObject({ kind: 'nothing', dropped: [{ id: 'a-0' }] })
  await removeRun(staged.lease)
  expect((await filesOf(lake)).length).toBeLessThan(before.length)
  expect(await listSnapshots(lake)).toEqual([1])
  await expectWhole(lake)
})

test('commitPartitions loads a source once more when asked to', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const staged = await stageRun(lake, ['a'])
  expect(await commitStaged(staged, { again: true })).toMatchObject({ kind: 'committed', dropped: [] })
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'a.jsonl'])
})

test('commitPartitions refuses counts that do not add up, and partitions of another run', async () => {
  const lake = await temporaryFolder()
  const staged = await stageRun(lake, ['a'])
  const [partition] = requestOf(staged).partitions
  if (!partition) throw new Error('No partition')
  const lines = { ...partition, counts: { ...partition.counts, lines: 9 } }
  await expect(commitStaged(staged, { partitions: [lines] })).rejects.toThrow('9 lines are not 2 records')
  const unknown = { ...partition, run: 'another' }
  await expect(commitStaged(staged, { partitions: [unknown] })).rejects.toThrow(RangeError)
})

test('commitPartitions refuses a run whose staged file is gone or has another length', async () => {
  const lake = await temporaryFolder()
  for (const damage of [rm, (path: string) => writeFile(path, 'x')]) {
    const staged = await stageRun(lake, [`s${damage.length}`])
    const [file] = staged.runFiles
    if (!file) throw new Error('No file')
    await damage(stagedPath(staged.lease, file))
    await expect(commitStaged(staged)).rejects.toMatchObject({
      code: 'RUN_NOT_RESUMABLE',
      context: { path: file.path },
    })
  }
  expect(await listSnapshots(lake)).toEqual([])
})

test('commitPartitions refuses a run that another process took over, or that gc removed', async () => {
  const lake = await temporaryFolder()
  const dead = await deadRun(lake, ['a'])
  await leaseRun(lake, dead.lease.run, { now: NOW })
  await expect(commitStaged(dead)).rejects.toMatchObject({ code: 'RUN_LIVE' })
  const removed = await stageRun(lake, ['b'])
  await removeRun(removed.lease)
  await expect(commitStaged(removed)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('commitPartitions stops when it is aborted', async () => {
  const staged = await stageRun(await temporaryFolder(), ['a'])
  await expect(commitStaged(staged, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  })
})

/** What a run can have done when its process is killed. */
const CRASHES: readonly [string, (lake: string, staged: Staged) => Promise<void>][] = [
  ['before its commit', () => Promise.resolve()],
  ['with one file in place', (_, staged) => placeStaged(staged, 1)],
  ['with all files in place', (_, staged) => placeStaged(staged)],
  [
    'before the record of its commit',
    async (lake, staged) => {
      const outcome = await commitStaged(staged)
      if (outcome.kind === 'committed') await rm(inLake(lake, recordPath(outcome.snapshot.snapshot)))
    },
  ],
  [
    'before the end of its run',
    async (_, staged) => {
      await commitStaged(staged)
    },
  ],
]

const resumeRun = async (lake: string, { lease, runFiles }: Staged): Promise<string> => {
  const own = await leaseRun(lake, lease.run, { now: NOW })
  const { entries } = await readJournal(lake, lease.run)
  const outcome = await commitStaged({ lease: own, entries, runFiles })
  await removeRun(own)
  return outcome.kind
}

test.each(CRASHES)('a run killed %s is finished by a resume', async (_, crash) => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const staged = await deadRun(lake, ['b', 'c'])
  await crash(lake, staged)
  const [summary] = await listRuns(lake, { now: NOW })
  const kind = await resumeRun(lake, staged)
  expect(kind).toBe(summary?.committed === null ? 'committed' : 'already')
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl', 'c.jsonl'])
  expect(await listSnapshots(lake)).toEqual([1, 2])
  await expectWhole(lake)
})

test.each(CRASHES)('a run killed %s is cleared away or completed by gc', async (_, crash) => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const staged = await deadRun(lake, ['b', 'c'])
  await crash(lake, staged)
  const committed = (await listRuns(lake, { now: NOW }))[0]?.committed !== null
  await removeGarbage({ lake, now: NOW })
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([])
  expect(await sourcesOf(lake)).toEqual(committed ? ['a.jsonl', 'b.jsonl', 'c.jsonl'] : ['a.jsonl'])
  expect((await filesOf(lake)).some((path) => path.includes('/b-0'))).toBe(committed)
  await expectWhole(lake)
})

test('a run killed after its commit is finished although others have committed since', async () => {
  const lake = await temporaryFolder()
  const staged = await deadRun(lake, ['a'])
  await commitStaged(staged)
  for (const source of ['b', 'c']) await loadSources(lake, [source])
  expect(await resumeRun(lake, staged)).toBe('already')
  expect(await sourcesOf(lake)).toEqual(['a.jsonl', 'b.jsonl', 'c.jsonl'])
  await expectWhole(lake)
})

test('a commit writes the record that the one before it left out', async () => {
  const lake = await temporaryFolder()
  const staged = await deadRun(lake, ['a'])
  await commitStaged(staged)
  await rm(inLake(lake, recordPath(1)))
  await loadSources(lake, ['b'])
  expect(await filesOf(join(lake, '_manifest'))).toContain('00000001.sha256')
})

test('createSnapshot leaves a number alone that is taken', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const first = await readSnapshot(lake)
  expect(await createSnapshot(lake, { ...(await readRoot(lake)), run: 'another' })).toBe(false)
  expect(await readSnapshot(lake)).toEqual(first)
})
