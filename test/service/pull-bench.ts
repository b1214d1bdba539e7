/** A fake service, a lake, and pulls from one into the other. */

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Snapshot } from '../../src/core/partition.ts'
import { type PullRunOptions, type PullSummary, pullSearch } from '../../src/jobs/pull.ts'
import { listRuns } from '../../src/manifest/runs/runs.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { PullEvent, PullSettings } from '../../src/pull/windows/pull-settings.ts'
import { createService, type Service } from '../../src/source/service/service.ts'
import { queryLake } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type FakeService, type FakeServiceOptions, openFakeService } from './fake-service.ts'

export const SWEDEN = { CountryCode: ['SE'] }

export interface PullBench {
  readonly fake: FakeService
  readonly service: Service
  readonly lake: string
  readonly events: PullEvent[]
  readonly pull: (settings?: Partial<PullSettings>, options?: Partial<PullRunOptions>) => Promise<PullSummary>
  readonly snapshot: () => Promise<Snapshot>
  readonly query: (sql: string) => Promise<readonly (readonly unknown[])[]>
  /** Runs that are not finished. */
  readonly runs: () => Promise<readonly string[]>
}

export interface PulledService {
  readonly fake: FakeService
  readonly service: Service
  readonly close: () => Promise<void>
}

/** A fake service and its client, until they are closed. */
export const openPulledService = async (options: FakeServiceOptions): Promise<PulledService> => {
  const fake = await openFakeService({ now: '2026-06-15T12:00:00Z', ...options })
  const service = createService({
    url: fake.url,
    token: fake.token,
    now: fake.clock,
    maxRequestsPerSecond: 5000,
  })
  const close = async (): Promise<void> => {
    await service.close()
    await fake.close()
  }
  return { fake, service, close }
}

export const openPullBench = async (options: FakeServiceOptions): Promise<PullBench> => {
  const opened = await openPulledService(options)
  onTestFinished(opened.close)
  return pullBench(opened, join(await temporaryFolder(), 'lake'), options.cap)
}

/** Pulls from a service that is open into a lake. */
export const pullBench = (
  { fake, service }: Omit<PulledService, 'close'>,
  lake: string,
  cap = 100_000,
): PullBench => {
  const events: PullEvent[] = []
  return {
    ...{ fake, service, lake, events },
    pull: (settings, more) =>
      pullSearch(
        fake.url,
        { content: 'companies', search: SWEDEN, pageSize: 10, cap, ...settings },
        {
          ...{ lake, service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
          onPull: (event) => events.push(event),
          ...more,
        },
      ),
    snapshot: () => readSnapshot(lake),
    query: (sql) => queryLake(lake, sql),
    runs: async () => (await listRuns(lake, { now: new Date() })).map(({ run }) => run),
  }
}
