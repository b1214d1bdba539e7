import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inLake, recordPath } from '../../src/lake/files/layout.ts'
import { releaseRun } from '../../src/manifest/runs/run-lease.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { type RunPlan, storedPlan } from '../../src/run/run-plan.ts'
import { startRun } from '../../src/run/with-run.ts'
import { statPath } from '../../src/support/list-files.ts'
import { createSnapshot } from '../manifest/write-snapshot.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PLAN: RunPlan = { jobs: [{ kind: 'convert', inputs: ['a'], cwd: '/' }], again: false, limits: {} }

test('startRun writes the record of a commit that a crash cut off before it', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const request = { lake, plan: PLAN, now: new Date(), random: randomBytes }
  const dead = await createRun({ ...request, plan: storedPlan(PLAN) })
  await createSnapshot(lake, {
    snapshot: 1,
    parent: null,
    run: dead.run,
    pipeline: 'convert',
    tool: 'test 1',
    time: '2026-01-01T00:00:00.000Z',
    partitions: [],
    files: [],
  })
  await releaseRun(dead)
  const lease = await startRun(request)
  expect(lease.run).not.toBe(dead.run)
  expect(await statPath(inLake(lake, recordPath(1)))).not.toBeNull()
})
