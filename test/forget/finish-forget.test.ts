import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitForget } from '../../src/commit/commit-forget.ts'
import { finishDeadForgets } from '../../src/forget/finish-forget.ts'
import { holdBackAgain } from '../../src/jobs/resume.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { listSnapshots, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { storedPlan } from '../../src/run/run-plan.ts'
import { resumeRuns } from '../jobs/resume/resume-runs.ts'
import { DEAD, loadSources, NOW } from '../manifest/small-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A forget whose process has died, before its commit or right after it. */
const deadForget = async (isCommitted: boolean) => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const plan = storedPlan({ jobs: [{ kind: 'forget', published: ['delta all'] }], again: false, limits: {} })
  const lease = await createRun({ lake, plan, now: NOW, random: randomBytes, process: DEAD })
  const base = await readSnapshot(lake)
  const { partitions, files, pulls = [], merged = [] } = base
  if (isCommitted)
    await commitForget({
      ...{ lease, tool: 'firmlake 0.1.0', base, written: [], names: [], random: randomBytes, now: () => NOW },
      listed: { partitions, files, pulls, merged },
      versions: async ({ versions }) => versions,
      ids: { companies: new Set([7n]), persons: new Set() },
      receipt: { companies: 1, persons: 0, files: [], linesCleared: 0, later: 'refused' },
    })
  return lease
}

test('resume brings a forget to its end that was killed after its commit', async () => {
  const { lake, run } = await deadForget(true)
  expect(await listSnapshots(lake)).toEqual([1, 2])
  // The files of this lake are no Parquet: it cannot be published.
  await expect(resumeRuns({ lake, run })).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  expect(await listSnapshots(lake)).toEqual([2])
  expect(await readdir(join(lake, '_runs'))).toEqual([run])
})

test('finishDeadForgets leaves nothing of a forget that was killed before its commit', async () => {
  const { lake } = await deadForget(false)
  expect(await finishDeadForgets({ lake }, holdBackAgain)).toEqual([])
  expect(await listSnapshots(lake)).toEqual([1])
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})
