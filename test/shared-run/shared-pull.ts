/** Pulls of the invented service in steps, and the companies that it has. */

import type { PullJob } from '../../src/run/run-plan.ts'
import { createService } from '../../src/source/service/service.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { type PullBench, SWEDEN } from '../service/pull-bench.ts'
import { type Steps, stepsOf } from './shared-bench.ts'

/** Days of the last 300 before the service's today, of which the last window is growing. */
export const dayOf = (id: number): string =>
  new Date(Date.UTC(2026, 5, 15) - (id % 300) * 86_400_000).toISOString().slice(0, 10)

export const companies = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    country: 'SE',
    dates: { ContentUpdatedAt: dayOf(at + 1) },
  }))

interface SharedPull {
  readonly plan: Steps['plan']
  readonly job: PullJob
  readonly work: (run: string, index: number, of: number) => ReturnType<Steps['work']>
  readonly commit: Steps['commit']
}

export const opening = (one: PullBench) => ({
  service: async () =>
    createService({
      url: one.fake.url,
      token: one.fake.token,
      now: one.fake.clock,
      maxRequestsPerSecond: 5000,
    }),
})

export const sharedPull = (one: PullBench, more: Partial<PullJob> = {}): SharedPull => {
  const steps = stepsOf('/', one.lake)
  const asked = { content: 'companies', search: SWEDEN, pageSize: 50, cap: 200, closeGap: undefined } as const
  const job: PullJob = { kind: 'pull', url: one.fake.url, ...asked, ...more }
  return {
    ...steps,
    job,
    plan: (_, options) => steps.plan([], { job, service: async () => one.service, limits: {}, ...options }),
    work: (run, index, of) => steps.work(run, { shard: { index, of } }, opening(one)),
  }
}
