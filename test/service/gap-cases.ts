/** Whatever is cut, planned or on the way: what came and what is left of the gap are together what was announced. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Content } from '../../src/contract/objects.ts'
import { openQuery } from '../../src/jobs/query.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { LakeServer } from '../../src/server/serve-lake.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { makeServable, openClient, openServer, pullFrom, SEARCH } from './serving.ts'

const COUNT = 240
const day = (id: number): string => new Date(Date.UTC(2025, 0, 1 + (id % 90))).toISOString().slice(0, 19)

/** One in eight has no date, one in five no status, one in forty neither. */
const companyOf = (id: number): string =>
  companyLine(id, {
    BasicDetails: {
      InternalId: id,
      CountryCode: 'SE',
      ...(id % 5 > 0 && { OperationalStatus: 10 * (1 + (id % 4)) }),
    },
    MetaData: {
      ...{ CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
      ...(id % 8 > 0 && { ContentUpdatedAt: day(id), RelationsUpdatedAt: day(id) }),
    },
  })

export interface GapCase {
  readonly content: Content
  /** Of a chain, which the plan does not know where `planned` is larger. */
  readonly cursorCap: number
  readonly planned: number
  readonly closeGap: boolean
}
/** Of a plan that knows nothing of the cap; others know it, or take it for twice as much. */
export const UNPLANNED = 100_000

/** Tests each case on servers of its own. */
export const testGaps = (cases: readonly GapCase[]): void => {
  let served = ''
  const servers = new Map<number, LakeServer>()
  beforeAll(async () => {
    const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
    served = bench.lake
    const ids = Array.from({ length: COUNT }, (_, at) => at + 1)
    await bench.write('companies.jsonl', ids.map(companyOf))
    await bench.write(
      'relations.jsonl',
      ids.map((id) => JSON.stringify({ InternalId: id, CountryCode: 'SE', Children: [] })),
    )
    await bench.run(['companies.jsonl', 'relations.jsonl'])
    await makeServable(served)
    for (const cursorCap of [25, 77]) servers.set(cursorCap, await openServer(served, { cursorCap }))
  })
  afterAll(async () => {
    for (const server of servers.values()) await server.close()
    await rm(join(served, '..'), { recursive: true, force: true })
  })

  test.each(cases)('a pull of %o accounts for all', async ({ content, cursorCap, planned, closeGap }) => {
    const url = servers.get(cursorCap)?.address ?? ''
    const service = openClient(url)
    onTestFinished(() => service.close())
    const lake = join(await temporaryFolder(), 'lake')
    const { entry, windows } = await pullFrom({ url, service }, lake, {
      ...{ content, search: SEARCH, cap: planned },
      ...(!closeGap && { closeGap }),
    })
    const { announced, received, gapLeft = 0 } = entry
    expect(announced).toBe(COUNT)
    expect(received + gapLeft).toBe(COUNT)
    const opened = await openQuery({ lake })
    onTestFinished(() => opened.close())
    const rowsOf = async (sql: string) => readRows(await opened.run(sql))
    const counts = `SELECT count(*) AS n, count(DISTINCT internal_id) AS ids FROM ${content}_history`
    expect(await rowsOf(counts)).toEqual([{ n: received, ids: received }])
    // Companies are found by their statuses, and at the ends of orders; relations by nothing.
    if (content === 'companies' && closeGap) expect(gapLeft).toBe(0)
    else expect(gapLeft).toBeGreaterThan(0)
    expect(windows.reduce((sum, one) => sum + one.received, 0)).toBe(received)
    expect((await newestSnapshot(lake))?.pulls).toEqual([entry])
    expect(await rowsOf('SELECT announced, received, gap_left FROM pulls')).toEqual([
      { announced, received, gap_left: gapLeft },
    ])
  })
}
