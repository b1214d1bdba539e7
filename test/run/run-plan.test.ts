/** Plans as they stand on disk, and as they are read back. */

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { releaseRun } from '../../src/manifest/runs/run-lease.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { encodePlan, pipelineOf, planOf, type RunPlan } from '../../src/run/run-plan.ts'
import { startRun } from '../../src/run/with-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const limits = { maxLineBytes: 16_777_216, maxRatio: 250, maxDepth: 256, blockBytes: 33_000_000 }
const nothing = { inputs: [], cwd: '', again: false }
const search = { CountryCode: ['SE'], NumberOfEmployees: ['>=', 10] }
const asked = { content: 'companies', search, pageSize: 500, cap: 100_000 }

/** The plan of one job, as it is stored. */
const planWith = ({ again, limits: own, ...job }: Readonly<Record<string, unknown>>): object => ({
  ...{ pipeline: job.pipeline, jobs: [job] },
  ...{ again, limits: own },
})

const STORED: readonly (readonly [stored: Readonly<Record<string, unknown>>, job: object])[] = [
  [
    { pipeline: 'convert', inputs: ['a', '*.br'], cwd: '/data', content: 'relations', again: true, limits },
    { kind: 'convert', inputs: ['a', '*.br'], cwd: '/data', content: 'relations' },
  ],
  [
    { ...nothing, pipeline: 'replay', inputs: ['ab', 'cd'], limits },
    { kind: 'replay', files: ['ab', 'cd'] },
  ],
  [
    {
      ...{ ...nothing, pipeline: 'pull', content: 'companies', limits },
      settings: { url: 'https://a', ...asked, since: 'last', currency: 'SEK' },
    },
    { kind: 'pull', url: 'https://a', ...asked, since: 'last', currency: 'SEK' },
  ],
  [
    {
      ...{ ...nothing, pipeline: 'sync', content: 'companies', limits },
      settings: { url: 'https://a', ...asked, by: 'ContentUpdatedAt', closeGap: false },
    },
    { kind: 'sync', url: 'https://a', ...asked, by: 'ContentUpdatedAt', closeGap: false },
  ],
  [
    {
      ...{ ...nothing, pipeline: 'batches', again: true, limits },
      settings: { url: 'https://a', selection: { kind: 'all', content: 'companies', countries: ['SE'] } },
    },
    {
      ...{ kind: 'batchFiles', url: 'https://a' },
      selection: { kind: 'all', content: 'companies', countries: ['SE'] },
    },
  ],
  [
    {
      ...nothing,
      pipeline: 'batches',
      limits,
      settings: { url: 'https://a', selection: { kind: 'ids', ids: ['b-1'] } },
    },
    { kind: 'batchFiles', url: 'https://a', selection: { kind: 'ids', ids: ['b-1'] } },
  ],
  [
    { ...nothing, pipeline: 'compact', limits: {}, settings: { targetBytes: 1_048_576, snapshot: 7 } },
    { kind: 'compact', targetBytes: 1_048_576, snapshot: 7 },
  ],
  [
    { ...nothing, pipeline: 'convert-batches', inputs: ['a'], cwd: '/data', limits: { blockBytes: 4000 } },
    { kind: 'program', pipeline: 'convert-batches', inputs: ['a'], cwd: '/data' },
  ],
]

const storedRun = async (plan: object): Promise<{ readonly lake: string; readonly run: string }> => {
  const lake = await temporaryFolder()
  const lease = await createRun({ lake, plan, now: new Date(), random: randomBytes })
  await releaseRun(lease)
  return lease
}

test.each(STORED)(
  'planOf reads a stored plan of one job, and it is stored the same again: %j',
  async ({ again, ...more }, job) => {
    const stored = planWith({ again, ...more })
    const { lake, run } = await storedRun(stored)
    const plan = await planOf(lake, run)
    expect(plan.jobs).toEqual([job])
    expect(plan.again).toBe(again)
    expect(JSON.parse(JSON.stringify(encodePlan(plan)))).toEqual(stored)
    const taken = await startRun({ lake, plan, now: new Date(), random: randomBytes })
    expect(taken).toMatchObject({ run, number: 3 })
  },
)

test.each([
  [{ pipeline: 'convert' }],
  [{ ...nothing, pipeline: 'convert', content: 'both', limits }],
  [{ ...nothing, pipeline: 'pull', content: 'companies', limits, settings: { ...asked } }],
  [{ ...nothing, pipeline: 'pull', limits, settings: { url: 'https://a', ...asked } }],
  [
    {
      ...nothing,
      pipeline: 'sync',
      content: 'companies',
      limits,
      settings: { url: 'https://a', ...asked, cap: 'all' },
    },
  ],
  [{ ...nothing, pipeline: 'batches', limits, settings: { url: 'https://a', selection: { kind: 'some' } } }],
  [{ ...nothing, pipeline: 'compact', limits }],
  [{ ...nothing, pipeline: 'pull', limits, content: 'companies' }],
])('planOf refuses a stored plan that is not whole: %j', async (job) => {
  const { lake, run } = await storedRun(planWith(job))
  await expect(planOf(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE', context: { run } })
})

test.each([[{}], [{ pipeline: 'pull', jobs: [], again: false, limits }]])(
  'planOf refuses a plan without a job: %j',
  async (stored) => {
    const { lake, run } = await storedRun(stored)
    await expect(planOf(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE', context: { run } })
  },
)

test('a plan of several jobs is read back, and no single job of it is taken for the whole', async () => {
  const pulls = (['companies', 'relations'] as const).map(
    (content) => ({ ...asked, kind: 'pull', url: 'https://a', content }) as const,
  )
  const [first, second] = pulls
  if (first === undefined || second === undefined) throw new Error('two jobs')
  const plan: RunPlan = { jobs: [first, second], again: false, limits }
  const stored = encodePlan(plan)
  expect(stored).toMatchObject({ pipeline: 'pull', jobs: [{}, {}] })
  const { lake, run } = await storedRun(stored)
  expect(await planOf(lake, run)).toEqual(plan)
  const one = await startRun({ lake, plan: { ...plan, jobs: [first] }, now: new Date(), random: randomBytes })
  expect(one.run).not.toBe(run)
  expect(await startRun({ lake, plan, now: new Date(), random: randomBytes })).toMatchObject({ run })
  expect(pipelineOf(plan)).toBe('pull')
  expect(pipelineOf({ jobs: [first, { kind: 'convert', inputs: [], cwd: '' }] })).toBe('pull+convert')
})
