/** Plans as they stand on disk, and as they are read back. */

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { releaseRun } from '../../src/manifest/runs/run-lease.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { pipelineOf, planOf, type RunPlan, storedPlan } from '../../src/run/run-plan.ts'
import { startRun } from '../../src/run/with-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const limits = { maxLineBytes: 16_777_216, maxRatio: 250, maxDepth: 256, blockBytes: 33_000_000 }
const search = { CountryCode: ['SE'], NumberOfEmployees: ['>=', 10] }
const asked = { content: 'companies', search, pageSize: 500, cap: 100_000 }

/** The plan of one job, as it is stored. */
const planWith = (pipeline: string, job: object, more: object = { again: false, limits }): object => ({
  ...{ pipeline, jobs: [job] },
  ...more,
})

const JOBS: readonly (readonly [pipeline: string, job: object])[] = [
  ['convert', { kind: 'convert', inputs: ['a', '*.br'], cwd: '/data', content: 'relations' }],
  ['convert', { kind: 'convert', inputs: ['a'], cwd: '/data', asOf: '2026-01-31' }],
  ['replay', { kind: 'replay', files: ['ab', 'cd'] }],
  ['pull', { kind: 'pull', url: 'https://a', ...asked, since: 'last', currency: 'SEK' }],
  ['sync', { kind: 'sync', url: 'https://a', ...asked, by: 'ContentUpdatedAt', closeGap: false }],
  [
    'batches',
    {
      ...{ kind: 'batches', url: 'https://a' },
      selection: { kind: 'all', content: 'companies', countries: ['SE'] },
    },
  ],
  ['batches', { kind: 'batches', url: 'https://a', selection: { kind: 'ids', ids: ['b-1'] } }],
  ['compact', { kind: 'compact', targetBytes: 1_048_576, snapshot: 7 }],
  ['forget', { kind: 'forget', published: ['delta all'] }],
  ['convert-batches', { kind: 'program', pipeline: 'convert-batches', inputs: ['a'], cwd: '/data' }],
]

const storedRun = async (plan: object): Promise<{ readonly lake: string; readonly run: string }> => {
  const lake = await temporaryFolder()
  const lease = await createRun({ lake, plan, now: new Date(), random: randomBytes })
  await releaseRun(lease)
  return lease
}

test.each(JOBS)(
  'planOf reads a stored plan of %s, and it is stored the same again: %j',
  async (pipeline, job) => {
    const stored = planWith(pipeline, job)
    const { lake, run } = await storedRun(stored)
    const plan = await planOf(lake, run)
    expect(plan).toEqual({ jobs: [job], again: false, limits })
    expect(JSON.parse(JSON.stringify(storedPlan(plan)))).toEqual(stored)
    const taken = await startRun({ lake, plan, now: new Date(), random: randomBytes })
    expect(taken).toMatchObject({ run, number: 3 })
  },
)

test.each([
  [{}],
  [{ kind: 'merge' }],
  [{ kind: 'convert' }],
  [{ kind: 'convert', inputs: ['a'], cwd: '/data', content: 'both' }],
  [{ kind: 'pull', ...asked }],
  [{ kind: 'pull', url: 'https://a', ...asked, content: undefined }],
  [{ kind: 'sync', url: 'https://a', ...asked, cap: 'all' }],
  [{ kind: 'batches', url: 'https://a', selection: { kind: 'some' } }],
  [{ kind: 'compact' }],
  [{ kind: 'program', inputs: [], cwd: '' }],
])('planOf refuses a stored plan whose job is not whole: %j', async (job) => {
  const { lake, run } = await storedRun(planWith('convert', job))
  await expect(planOf(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE', context: { run } })
})

test.each([
  [{}],
  [{ pipeline: 'pull', jobs: [], again: false, limits }],
  [{ pipeline: 'convert', again: false, limits }],
])('planOf refuses a plan without a job: %j', async (stored) => {
  const { lake, run } = await storedRun(stored)
  await expect(planOf(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE', context: { run } })
})

test('a plan of several jobs is read back, and no single job of it is taken for the whole', async () => {
  const pulls = (['companies', 'relations'] as const).map(
    (content) => ({ ...asked, kind: 'pull', url: 'https://a', content }) as const,
  )
  const [first, second] = pulls
  if (first === undefined || second === undefined) throw new Error('two jobs')
  const plan: RunPlan = { jobs: [first, second], again: false, limits }
  const stored = storedPlan(plan)
  expect(stored).toMatchObject({ pipeline: 'pull', jobs: [{}, {}] })
  const { lake, run } = await storedRun(stored)
  expect(await planOf(lake, run)).toEqual(plan)
  const one = await startRun({ lake, plan: { ...plan, jobs: [first] }, now: new Date(), random: randomBytes })
  expect(one.run).not.toBe(run)
  expect(await startRun({ lake, plan, now: new Date(), random: randomBytes })).toMatchObject({ run })
  expect(pipelineOf(plan)).toBe('pull')
  expect(pipelineOf({ jobs: [first, { kind: 'convert', inputs: [], cwd: '' }] })).toBe('pull+convert')
})
