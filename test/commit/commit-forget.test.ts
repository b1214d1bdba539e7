import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitForget, type ForgetCommitRequest } from '../../src/commit/commit-forget.ts'
import { refusedBy } from '../../src/manifest/form/forgotten.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import type { RunLease } from '../../src/manifest/runs/run-lease.ts'
import { createRun, removeRun } from '../../src/manifest/runs/runs.ts'
import { findCommit, newestRoot, readRoot, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { commitStaged, countLines, loadSources, NOW, stageRun } from '../manifest/small-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const begin = (lake: string): Promise<RunLease> =>
  createRun({ lake, plan: { pipeline: 'forget' }, now: NOW, random: randomBytes })

/** A forget that finds nothing: all files stay. */
const requestOf = async (
  lease: RunLease,
  later: 'refused' | 'allowed' = 'refused',
): Promise<ForgetCommitRequest> => {
  const base = await readSnapshot(lease.lake)
  const { partitions, files, pulls = [], merged = [] } = base
  return {
    ...{ lease, tool: 'firmlake 0.1.0', base, written: [], names: [], random: randomBytes, now: () => NOW },
    listed: { partitions, files, pulls, merged },
    versions: async ({ versions }) => versions,
    ids: { companies: new Set([7n]), persons: new Set([8n]) },
    receipt: { companies: 1, persons: 1, files: [], linesCleared: 0, later },
  }
}

const forgetAll = async (lake: string, later?: 'refused' | 'allowed'): Promise<RunLease> => {
  const lease = await begin(lake)
  await commitForget(await requestOf(lease, later))
  await removeRun(lease)
  return lease
}

test('commitForget lists the same, with a receipt, and marks by which the ids are refused from then on', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const { run } = await forgetAll(lake)
  await loadSources(lake, ['b'])
  const { forgotten, refusals } = await readRoot(lake)
  expect(forgotten).toMatchObject([{ snapshot: 2, time: NOW.toISOString(), run, companies: 1, persons: 1 }])
  const refused = refusedBy(refusals)
  expect([7n, 8n, 9n].map((id) => refused?.isCompany(id))).toEqual([true, false, false])
  expect([7n, 8n, 9n].map((id) => refused?.isEntity(id))).toEqual([true, true, false])
  expect(JSON.stringify(refusals)).not.toContain('"7"')
  await forgetAll(lake, 'allowed')
  expect((await readRoot(lake)).refusals).toBeUndefined()
})

test('commitForget ends with COMMIT_CONFLICT where another run has committed meanwhile', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const request = await requestOf(await begin(lake))
  await loadSources(lake, ['b'])
  await expect(commitForget(request)).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' })
  expect((await readRoot(lake)).snapshot).toBe(2)
})

test('a run that began before a forget is not committed, and leaves nothing', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const staged = await stageRun(lake, ['late'])
  await forgetAll(lake)
  await expect(commitStaged(staged)).rejects.toMatchObject({
    code: 'COMMIT_CONFLICT',
    context: { snapshot: 2 },
  })
  expect(await readdir(join(lake, '_runs'))).toEqual([])
  expect(await readdir(join(lake, 'companies'))).toHaveLength(1)
  expect((await readRoot(lake)).snapshot).toBe(2)
})

test('gc removes what a forget has left that was killed after its commit, and knows it as committed ever after', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const { run } = await forgetAll(lake)
  await loadSources(lake, ['b'])
  const { snapshots } = await removeGarbage({ lake, now: NOW })
  expect(snapshots).toEqual([1])
  await removeGarbage({ lake, now: NOW, keep: 1 })
  expect(await findCommit(lake, run, 1, await newestRoot(lake))).not.toBeNull()
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [], notes: [] })
})

test('a snapshot from before a forget is refused, also before gc has removed it', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await forgetAll(lake)
  await expect(readRoot(lake, 1)).rejects.toMatchObject({
    code: 'SNAPSHOT_FORGOTTEN',
    context: { snapshot: 1, forgottenBy: 2 },
  })
})
