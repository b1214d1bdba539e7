import { randomBytes } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { commitPartitions } from '../../src/commit/commit-run.ts'
import { ToolkitError } from '../../src/core/errors.ts'
import { clearDeadCompactions } from '../../src/jobs/compact.ts'
import {
  inLake,
  loadPath,
  MANIFEST_FOLDER,
  PARTS_FOLDER,
  partName,
  partPath,
  RUNS_FOLDER,
} from '../../src/lake/files/layout.ts'
import type { RunLease } from '../../src/manifest/runs/run-lease.ts'
import { createRun, listRuns } from '../../src/manifest/runs/runs.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { undoRewrite } from '../../src/run/rewriting-session.ts'
import { seal } from '../../src/support/hash.ts'
import { temporaryName, thisProcess } from '../../src/support/process-identity.ts'
import { countLines, DEAD, loadSources, NOW, placeStaged, stageRun } from '../manifest/small-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PLAN = { pipeline: 'compact', jobs: [], again: false, limits: {} }

/** A compaction that has put one file into its place, and has written one part of its snapshot. */
const beginCompaction = async (lake: string, process = DEAD): Promise<RunLease> => {
  const lease = await createRun({ lake, plan: PLAN, now: new Date(), random: randomBytes, process })
  const path = inLake(lake, `${loadPath('companies', lease.run)}/new.parquet`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'rows')
  await mkdir(inLake(lake, PARTS_FOLDER), { recursive: true })
  await writeFile(inLake(lake, partPath(partOf(lease))), '')
  return lease
}

const partOf = ({ run }: RunLease): string => partName(run, () => new Uint8Array(8))

/** What it has written that is still there. */
const filesOf = async (lake: string, lease: RunLease): Promise<string[]> => {
  const namesIn = (folder: string): Promise<string[]> => readdir(inLake(lake, folder)).catch(() => [])
  const parts = await namesIn(PARTS_FOLDER)
  return [
    ...(await namesIn(loadPath('companies', lease.run))),
    ...parts.filter((name) => name === partOf(lease)),
  ]
}

test('clearDeadCompactions removes what a dead compaction has written', async () => {
  const lake = await temporaryFolder()
  const lease = await beginCompaction(lake)
  await clearDeadCompactions(lake, new Date())
  expect(await filesOf(lake, lease)).toEqual([])
  expect(await readdir(inLake(lake, RUNS_FOLDER))).toEqual([])
})

test('clearDeadCompactions removes what a killed removal of a run has left, and none that is under way', async () => {
  const lake = await temporaryFolder()
  const [left, underWay] = [temporaryName(DEAD), temporaryName()]
  for (const name of [left, underWay])
    await mkdir(inLake(lake, `${RUNS_FOLDER}/${name}/spill`), { recursive: true })
  await clearDeadCompactions(lake, new Date())
  expect(await readdir(inLake(lake, RUNS_FOLDER))).toEqual([underWay])
})

test('clearDeadCompactions removes what a process that is gone was writing of the manifest', async () => {
  const lake = await temporaryFolder()
  const [left, underWay] = [temporaryName(DEAD), temporaryName()]
  await mkdir(inLake(lake, MANIFEST_FOLDER), { recursive: true })
  for (const name of [left, underWay]) await writeFile(inLake(lake, `${MANIFEST_FOLDER}/${name}`), '{')
  await clearDeadCompactions(lake, new Date())
  expect(await readdir(inLake(lake, MANIFEST_FOLDER))).toEqual([underWay])
})

test('clearDeadCompactions keeps the files of one that had committed', async () => {
  const lake = await temporaryFolder()
  const { lease, entries } = await stageRun(lake, ['a'], DEAD)
  await writeFile(inLake(lake, `${RUNS_FOLDER}/${lease.run}/plan.json`), seal(JSON.stringify(PLAN)))
  await placeStaged({ lease, entries, runFiles: [] })
  const partitions = entries.map(({ partition }) => partition)
  await commitPartitions({
    lease,
    pipeline: 'compact',
    tool: 'firmlake 0.1.0',
    partitions,
    runFiles: [],
    rules: [],
    now: () => NOW,
    random: randomBytes,
  })
  await clearDeadCompactions(lake, new Date())
  expect(await readdir(inLake(lake, RUNS_FOLDER))).toEqual([])
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [], files: 2 })
})

test('clearDeadCompactions leaves other runs and a compaction at work alone', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const other = await stageRun(lake, ['b'], DEAD)
  const working = await beginCompaction(lake, thisProcess())
  await clearDeadCompactions(lake, new Date())
  const runs = (await listRuns(lake, { now: new Date() })).map(({ run }) => run)
  expect(runs).toEqual([other.lease.run, working.run].sort())
  expect(await filesOf(lake, working)).toEqual(['new.parquet', partOf(working)])
})

test('undoRewrite removes what it has written, but not where its commit may still be under way', async () => {
  const lake = await temporaryFolder()
  const failed = await beginCompaction(lake)
  expect(await undoRewrite(failed, new ToolkitError('LAKE_DAMAGED', 'Cannot read'))).toBe(true)
  expect(await filesOf(lake, failed)).toEqual([])
  const unsure = await beginCompaction(lake)
  const failure = new ToolkitError('STORAGE_FAILED', 'Cannot create the snapshot: no answer')
  expect(await undoRewrite(unsure, failure)).toBe(false)
  expect(await filesOf(lake, unsure)).toEqual(['new.parquet', partOf(unsure)])
  await clearDeadCompactions(lake, new Date())
  expect(await filesOf(lake, unsure)).toEqual([])
})
