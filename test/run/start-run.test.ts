import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inLake, recordPath } from '../../src/lake/files/layout.ts'
import { journalPath, openJournal } from '../../src/manifest/runs/journal.ts'
import { releaseRun, runState } from '../../src/manifest/runs/run-lease.ts'
import { createRun, listRunIds } from '../../src/manifest/runs/runs.ts'
import { type RunPlan, storedPlan } from '../../src/run/run-plan.ts'
import { startRun } from '../../src/run/with-run.ts'
import { statPath } from '../../src/support/list-files.ts'
import { newRunId, runBegan } from '../../src/support/run-ids.ts'
import { stagePartition } from '../manifest/small-lake.ts'
import { createSnapshot } from '../manifest/write-snapshot.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PLAN: RunPlan = { jobs: [{ kind: 'convert', inputs: ['a'], cwd: '/' }], again: false, limits: {} }

const commitOf = (lake: string, run: string): Promise<boolean> =>
  createSnapshot(lake, {
    snapshot: 1,
    parent: null,
    run,
    pipeline: 'convert',
    tool: 'test 1',
    time: '2026-01-01T00:00:00.000Z',
    partitions: [],
    files: [],
  })

test.each([
  ['files as of now', { kind: 'convert', inputs: ['a'], cwd: '/', asOf: 'now' }, false],
  ['sources of a program', { kind: 'program', pipeline: 'crm', inputs: ['a'], cwd: '' }, false],
  ['files as of what they say', { kind: 'convert', inputs: ['a'], cwd: '/' }, true],
] as const)(
  'startRun takes over a run of %s behind a later commit only where its begin dates nothing',
  async (_, job, isTakenOver) => {
    const lake = join(await temporaryFolder(), 'lake')
    const plan: RunPlan = { ...PLAN, jobs: [job] }
    const request = { lake, plan, now: new Date(), random: randomBytes }
    const dead = await createRun({ ...request, plan: storedPlan(plan) })
    await releaseRun(dead)
    const again = await startRun(request)
    expect(again.run).toBe(dead.run)
    await releaseRun(again)
    await commitOf(lake, newRunId(new Date(), randomBytes))
    const later = await startRun(request)
    expect(later.run === dead.run).toBe(isTakenOver)
    expect(await listRunIds(lake)).toEqual([later.run])
  },
)

test.each([
  ['a stamp', () => '2026-01-01T00:00:00.000Z', true],
  ['no stamp', () => undefined, false],
  ["today's date in its name", runBegan, false],
] as const)(
  'startRun takes over a run of a file with %s behind a later commit only where its begin dates nothing',
  async (_, asOfIn, isTakenOver) => {
    const lake = join(await temporaryFolder(), 'lake')
    const request = { lake, plan: PLAN, now: new Date(), random: randomBytes }
    const dead = await createRun({ ...request, plan: storedPlan(PLAN) })
    const asOf = asOfIn(dead.run)
    const journal = await openJournal(dead)
    const { partition, ...entry } = await stagePartition(dead, 'a', 'companies')
    await journal.append({ ...entry, partition: { ...partition, ...(asOf !== undefined && { asOf }) } })
    await journal.close()
    await releaseRun(dead)
    await commitOf(lake, newRunId(new Date(), randomBytes))
    expect((await startRun(request)).run === dead.run).toBe(isTakenOver)
  },
)

test('startRun releases a run whose journal is damaged', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const request = { lake, plan: PLAN, now: new Date(), random: randomBytes }
  const { run, ...dead } = await createRun({ ...request, plan: storedPlan(PLAN) })
  await writeFile(inLake(lake, journalPath(run)), 'no line of a run\nnor this\n')
  await releaseRun({ run, ...dead })
  await commitOf(lake, newRunId(new Date(), randomBytes))
  await expect(startRun(request)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  expect(await runState(lake, run, { now: new Date() })).toMatchObject({ state: 'gone' })
})

test('startRun writes the record of a commit that a crash cut off before it', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const request = { lake, plan: PLAN, now: new Date(), random: randomBytes }
  const dead = await createRun({ ...request, plan: storedPlan(PLAN) })
  await commitOf(lake, dead.run)
  await releaseRun(dead)
  const lease = await startRun(request)
  expect(lease.run).not.toBe(dead.run)
  expect(await statPath(inLake(lake, recordPath(1)))).not.toBeNull()
})
