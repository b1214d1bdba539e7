/** All companies once more: pulled in small pages, or as batch files; through faults that only chains and downloads have. */

import { pull } from '../../src/jobs/pull.ts'
import { pullBatchFiles } from '../../src/jobs/pull-batch-files.ts'
import { batchFiles } from '../../src/source/inputs.ts'
import { createService } from '../../src/source/service/service.ts'
import { CALM, type Manners, TOKEN, type YearService } from './year-service.ts'
import { type Company, hasRelations, recordOf, relationsOf } from './year-world.ts'

export type WayOfAll = 'pages' | 'batches'

const MOST_PERIOD = 28
/** A stall takes real time. */
const SOON_MS = 1000
const PAGE_SIZE = 50
const SEARCH = { CountryCode: ['SE'] }

/** By the number of the request: the count is the first, the second page the third; a cursor that has expired begins a new chain. */
const FAULTS: Readonly<Record<WayOfAll, readonly object[]>> = {
  pages: [
    { on: 'companies', fault: 'duplicatePage', at: [3] },
    { on: 'companies', fault: 'expiredCursor', at: [5] },
    { on: 'companies', fault: 'damaged', at: [7] },
    { on: 'companies', fault: 'stall', at: [10] },
  ],
  // What was cut is asked for by its range, and comes as another file.
  batches: [
    { on: 'batchFiles', fault: '500', at: [1] },
    { on: 'batchFile', fault: 'truncated', at: [1] },
    { on: 'batchFile', fault: 'changedETag', at: [2] },
    { on: 'batchFile', fault: 'damaged', at: [3] },
  ],
}

/** Requests and retries that tell that each fault was met: a page that came twice and a chain begun anew are no retries. */
const minOf = (companies: number): Readonly<Record<WayOfAll, readonly [number, number]>> => ({
  pages: [1 + Math.ceil(companies / PAGE_SIZE) + 1 + 3 + 2, 2],
  batches: [0, 3],
})

/** Whether all comes after a night, and how: each way once in four weeks. */
export const wayAfter = (night: number, nights: number): WayOfAll | undefined => {
  const period = Math.min(MOST_PERIOD, nights)
  if (night % period === Math.floor(period / 2)) return 'pages'
  return night % period === period - 1 ? 'batches' : undefined
}

export const holdAll = (
  service: YearService,
  companies: readonly Company[],
  manners: Manners,
): Promise<void> =>
  service.hold(companies.map(recordOf), companies.filter(hasRelations).map(relationsOf), manners)

/** @returns what was wrong */
export const loadAll = async (
  service: YearService,
  lake: string,
  companies: readonly Company[],
  way: WayOfAll,
): Promise<readonly string[]> => {
  await holdAll(service, companies, { ...CALM, faults: FAULTS[way] })
  const { url } = service
  const from = createService({ url, token: TOKEN, maxRequestsPerSecond: 500, headersTimeoutMs: SOON_MS })
  try {
    if (way === 'pages') await pull({ from, lake, content: 'companies', search: SEARCH, pageSize: PAGE_SIZE })
    else {
      await service.makeBatches()
      await pullBatchFiles({ from: batchFiles(from), lake, again: true, concurrency: 1 })
    }
    const { requests, retries } = from.counters()
    const [minRequests, minRetries] = minOf(companies.length)[way]
    return requests >= minRequests && retries >= minRetries
      ? []
      : [`all as ${way} took ${requests} requests and ${retries} retries: its faults were not met`]
  } finally {
    await from.close()
  }
}
