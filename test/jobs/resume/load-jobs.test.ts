/** Runs of several jobs: all of them in one snapshot, or none. */

import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type JobOptions, loadJobs } from '../../../src/jobs/resume.ts'
import { inLake, runPath } from '../../../src/lake/files/layout.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import { planPull, windowsText } from '../../../src/pull/windows/plan-pull.ts'
import type { LoadSummary } from '../../../src/run/commit-loaded.ts'
import type { PullJob, RunPlan } from '../../../src/run/run-plan.ts'
import { withRun } from '../../../src/run/with-run.ts'
import { createService, type Service } from '../../../src/source/service/service.ts'
import { companyLines, openBench, relationsLine, verify } from '../../run/batch-bench.ts'
import { openPullBench, SWEDEN } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { resumeRuns } from './resume-runs.ts'

/** A run is begun with the windows of its pulls. */
const windowsOf = async ({ jobs }: RunPlan, { service, signal }: Pick<JobOptions, 'service' | 'signal'>) => {
  const strings: (readonly [string, string])[] = []
  for (const [place, job] of jobs.entries())
    if (job.kind === 'pull')
      strings.push(windowsText(await planPull(await service(job.url), job, null, { signal }), place))
  return new Map(strings)
}

const load = (
  plan: RunPlan,
  options: Omit<JobOptions, 'maxQuarantined' | 'concurrency'>,
): Promise<LoadSummary> =>
  withRun({ lake: options.lake, plan, files: () => windowsOf(plan, options) }, (run) =>
    loadJobs(run, plan, { ...options, maxQuarantined: { kind: 'count', lines: 0 }, concurrency: 2 }),
  )
const noService = (): Promise<Service> => Promise.reject(new Error('no service is asked for'))

test('a run with a companies job and a relations job gives one snapshot with both', async () => {
  const one = openBench(await temporaryFolder())
  await one.write('c.jsonl', companyLines(3))
  await one.write('r.jsonl', [relationsLine(1), relationsLine(2)])
  const file = { kind: 'convert', cwd: one.folder } as const
  const plan: RunPlan = {
    jobs: [
      { ...file, inputs: ['c.jsonl'], content: 'companies' },
      { ...file, inputs: ['r.jsonl'], content: 'relations' },
    ],
    again: false,
    limits: {},
  }
  const { snapshot, partitions } = await load(plan, { lake: one.lake, service: noService })
  expect(snapshot).toMatchObject({ snapshot: 1, pipeline: 'convert' })
  expect(partitions.map(({ content, counts }) => [content, counts.records])).toEqual([
    ['companies', 3],
    ['relations', 2],
  ])
  expect(
    await one.query('SELECT (SELECT count(*) FROM companies), (SELECT count(*) FROM relations)'),
  ).toEqual([[3, 2]])
  expect((await one.verify()).problems).toEqual([])
})

test('pulls of companies and relations that were cut off in the second go on, and both stand in one snapshot', async () => {
  const stop = new AbortController()
  let pages = 0
  const one = await openPullBench({
    companies: Array.from({ length: 40 }, (_, at) => ({ id: at + 1, country: 'SE' })),
    before: ({ content }) => {
      if (content === 'relations') pages += 1
      if (pages === 3) stop.abort()
      return undefined
    },
  })
  const asked = { kind: 'pull', url: one.fake.url, search: SWEDEN, pageSize: 10, cap: 1000 } as const
  const job = (content: PullJob['content']): PullJob => ({ ...asked, content })
  const plan: RunPlan = { jobs: [job('companies'), job('relations')], again: false, limits: {} }
  const service = async (url: string): Promise<Service> =>
    createService({ url, token: one.fake.token, now: one.fake.clock, maxRequestsPerSecond: 5000 })
  const cut = load(plan, { lake: one.lake, service, signal: stop.signal })
  await expect(cut).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await listRunIds(one.lake)
  const kept = await readdir(inLake(one.lake, runPath(run)))
  expect(kept).toEqual(expect.arrayContaining(['windows', 'windows.json', 'windows-1', 'windows-1.json']))
  expect((await verify(one.lake)).problems).toEqual([])

  const [resumed] = await resumeRuns({ lake: one.lake, service })
  expect(resumed).toMatchObject({
    kind: 'loaded',
    report: { run, snapshot: 1 },
  })
  const { pulls } = await one.snapshot()
  expect(pulls?.map(({ content, received }) => [content, received])).toEqual([
    ['companies', 40],
    ['relations', 40],
  ])
  expect(
    await one.query('SELECT (SELECT count(*) FROM companies), (SELECT count(*) FROM relations)'),
  ).toEqual([[40, 40]])
  expect(await one.runs()).toEqual([])
})
