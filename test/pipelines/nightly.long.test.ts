/** The program itself for three nights, and what each delivers and publishes. */

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { companyLine, queryLake } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Night, nightly, nightlyProcess, TOKEN, useChanging } from './nights.ts'

const changing = useChanging()

test('nightly pulls everything in the first night and what changed since then in the second', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await writeFile(join(folder, 'token'), `${TOKEN}\n`)
  const env = {
    FIRMLAKE_URL: changing(),
    FIRMLAKE_LAKE: lake,
    FIRMLAKE_RELATIONS_SEARCH: '{"InternalId":[1,4]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
  }
  expect(await nightlyProcess(env)).toMatchObject({
    code: 0,
    summary: {
      ...{ outcome: 'done', retries: 0, throttled: 0, seconds: expect.any(Number) },
      pulls: [
        {
          content: 'companies',
          snapshot: 1,
          since: null,
          announced: 5,
          received: 5,
          gap: 0,
          differences: [],
        },
        { content: 'relations', snapshot: 1, since: null, announced: 2, received: 2, gap: 0 },
      ],
    },
  })
  const fromFile = { ...env, FIRMLAKE_TOKEN: '', FIRMLAKE_TOKEN_FILE: join(folder, 'token') }
  const since = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
  expect(await nightly(fromFile)).toMatchObject({
    code: 0,
    summary: {
      pulls: [
        { content: 'companies', since, announced: 1, received: 1, undated: 1 },
        { content: 'relations', since, announced: 1, received: 1, undated: 0 },
      ],
    },
  })
  // What came again is as it was. In the third night it is not.
  const versions = 'SELECT count(*)::INTEGER FROM companies_history WHERE internal_id = 4'
  expect(await queryLake(lake, versions)).toEqual([[1]])
  await convert({ from: fromRecords('own', [JSON.parse(companyLine(4))]), lake })
  expect(await nightly(fromFile)).toMatchObject({
    code: 0,
    summary: { pulls: [{ snapshot: 3 }, { snapshot: 3 }] },
  })
  expect(
    await queryLake(
      lake,
      `SELECT internal_id::INTEGER, count(*)::INTEGER FROM companies_history GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 3],
    [5, 1],
  ])
})

/** The first night has written them. */
const withoutCatalogs = (): void => {
  for (const name of ['FIRMLAKE_DUCKLAKE', 'FIRMLAKE_DUCKDB']) vi.stubEnv(name, 'false')
}

test('nightly delivers to every sink and publishes, and the next night only what is new', async () => {
  withoutCatalogs()
  const folder = await temporaryFolder()
  const [csv, json] = [join(folder, 'csv'), join(folder, 'json')]
  const lake = join(folder, 'lake')
  const env = {
    FIRMLAKE_URL: changing(),
    FIRMLAKE_LAKE: lake,
    FIRMLAKE_RELATIONS_SEARCH: '{"InternalId":[1,4]}',
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
    FIRMLAKE_SINKS: `csv:${csv} jsonl:${json}`,
    FIRMLAKE_PUBLISH: 'delta',
  }
  const delivered = (summary: Night['summary']) =>
    Array.isArray(summary.delivered) && summary.delivered.map(({ runs }) => runs.length)
  const first = await nightly(env)
  expect(first).toMatchObject({
    code: 0,
    summary: { outcome: 'done', published: { formats: ['delta'], snapshot: 1 } },
  })
  expect(delivered(first.summary)).toEqual([1, 1])
  expect(await readdir(join(lake, 'companies', '_delta_log'))).not.toEqual([])
  await convert({ from: fromRecords('own', [JSON.parse(companyLine(4))]), lake })
  const third = await nightly(env)
  expect(third).toMatchObject({ code: 0, summary: { published: { snapshot: 3 } } })
  expect(delivered(third.summary)).toEqual([2, 2])
  for (const sink of [csv, json]) expect(await readdir(join(sink, 'companies'))).toHaveLength(3)
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})
